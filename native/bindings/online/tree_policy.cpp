#include "online/tree_policy.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "bindings/core/references.h"
#include "online/online_tree.h"

namespace labeltree {

namespace {

// What a policy in Python sees of the tree and the example; of no use once the policy has chosen.
class PolicyView {
 public:
  PolicyView(const OnlineTree& tree, const Example* x) : tree_(&tree), x_(x) {}
  void expire() { tree_ = nullptr; }

  const OnlineTree& tree() const {
    require(tree_ != nullptr, "this view of the tree was for one choice, which is made");
    return *tree_;
  }
  int32_t node(int32_t v) const {
    require(v >= 0 && v < tree().n_nodes(), "there is no such node");
    return v;
  }
  // P(node | its parent, x).
  float probability(int32_t v) {
    node(v);
    require(x_ != nullptr, "there is no example: whether a node closes must not depend on one");
    const int32_t parent = tree().parent(v), block = tree().block_of(parent);
    probabilities_.resize(tree().n_columns(block));
    tree().probabilities(block, *x_, false, probabilities_.data());
    return probabilities_[parent < 0 ? 0 : tree().tree().place_of(parent, v)];
  }

 private:
  const OnlineTree* tree_;
  const Example* x_;
  std::vector<float> probabilities_;
};

class CallablePolicy final : public TreePolicy {
 public:
  CallablePolicy(nb::object choose, nb::object closes) : choose_(choose), closes_(closes) {}

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(choose_);
    visit(closes_);
  }

  bool is_python() const override { return true; }

  Extension choose(const OnlineTree& tree, const Example& x, int32_t label) override {
    const nb::gil_scoped_acquire acquire;
    ++n_steps;
    auto view = std::make_shared<PolicyView>(tree, &x);
    nb::object chosen = choose_(view, label);
    view->expire();
    std::pair<int32_t, bool> extension;
    if (!nb::try_cast(chosen, extension)) {
      throw std::invalid_argument("the policy must return a pair (node, insert), got " +
                                  std::string(nb::repr(chosen).c_str()));
    }
    return {extension.first, extension.second};
  }

  bool closes(const OnlineTree& tree, int32_t node, int n_children) const override {
    if (node >= tree.n_nodes() || !has_closes()) return false;
    const nb::gil_scoped_acquire acquire;
    auto view = std::make_shared<PolicyView>(tree, nullptr);
    const nb::object answer = closes_(view, node, n_children);
    view->expire();
    bool closed = false;
    if (!nb::try_cast(answer, closed)) {
      throw std::invalid_argument("the policy's closes() must return True or False, got " +
                                  std::string(nb::repr(answer).c_str()));
    }
    return closed;
  }

 private:
  bool has_closes() const { return closes_.ptr() != Py_None; }
  nb::object choose_, closes_;
};

}  // namespace

void bind_tree_policy(nb::module_& m) {
  nb::class_<PolicyView>(m, "PolicyView", "The tree and the example, as a policy sees them.")
      .def_prop_ro("n_nodes", [](const PolicyView& view) { return view.tree().n_nodes(); })
      .def_prop_ro("n_labels", [](const PolicyView& view) { return view.tree().n_labels(); })
      .def_prop_ro("root", [](const PolicyView&) { return 0; })
      .def(
          "parent", [](const PolicyView& view, int32_t v) { return view.tree().parent(view.node(v)); },
          nb::arg("node"), "The parent of a node, -1 for the root.")
      .def(
          "children", [](const PolicyView& view, int32_t v) { return view.tree().children(view.node(v)); },
          nb::arg("node"))
      .def(
          "is_leaf", [](const PolicyView& view, int32_t v) { return view.tree().is_leaf(view.node(v)); },
          nb::arg("node"))
      .def(
          "is_open", [](const PolicyView& view, int32_t v) { return view.tree().is_open(view.node(v)); },
          nb::arg("node"), "Whether the node may be chosen.")
      .def(
          "label", [](const PolicyView& view, int32_t v) { return view.tree().label(view.node(v)); },
          nb::arg("node"), "The number of a leaf's label, -1 for an inner node.")
      .def(
          "n_leaves", [](const PolicyView& view, int32_t v) { return view.tree().n_leaves(view.node(v)); },
          nb::arg("node"), "How many labels there are below the node.")
      .def("probability", &PolicyView::probability, nb::arg("node"),
           "The probability of the node given its parent's and the example.");

  nb::class_<TreePolicy>(m, "TreePolicy", "Where the leaves of new labels go.");
  nb::class_<FixedPolicy, TreePolicy>(m, "FixedPolicy").def(nb::init<>());
  nb::class_<CompletePolicy, TreePolicy>(m, "CompletePolicy").def(nb::init<int>(), nb::arg("arity"));
  nb::class_<RandomPolicy, TreePolicy>(m, "RandomPolicy")
      .def(nb::init<int, uint64_t>(), nb::arg("arity"), nb::arg("seed"));
  nb::class_<BestFitPolicy, TreePolicy>(m, "BestFitPolicy")
      .def(nb::init<int, double>(), nb::arg("arity"), nb::arg("alpha"));
  nb::class_<CallablePolicy, TreePolicy>(m, "CallablePolicy", nb::type_slots(reference_slots<CallablePolicy>))
      .def(nb::init<nb::object, nb::object>(), nb::arg("choose"), nb::arg("closes").none());
}

}  // namespace labeltree
