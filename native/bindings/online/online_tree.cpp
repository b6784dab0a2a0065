#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "bindings/model/blocks.h"
#include "bindings/search/answers.h"
#include "online/online_search.h"
#include "online/online_state.h"

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
    if (v == 0) return tree().root_probability(*x_);
    const int32_t parent = tree().parent(v);
    const auto& children = tree().children(parent);
    probabilities_.resize(children.size());
    tree().probabilities(parent, *x_, false, probabilities_.data());
    return probabilities_[std::find(children.begin(), children.end(), v) - children.begin()];
  }

 private:
  const OnlineTree* tree_;
  const Example* x_;
  std::vector<float> probabilities_;
};

class CallablePolicy final : public TreePolicy {
 public:
  CallablePolicy(nb::object choose, nb::object closes) : choose_(choose), closes_(closes) {}

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

OnlineSearchOptions search_options(const OnlineTree& tree, bool normalize_siblings, const Mask& allowed,
                                   int n_threads) {
  OnlineSearchOptions options;
  options.normalize_siblings = normalize_siblings;
  options.n_threads = n_threads;
  options.label_allowed = mask_of_labels(allowed, tree.n_labels());
  return options;
}

void learn(OnlineTree& tree, const BoundFeatures& features, Array<int64_t> label_indptr,
           Array<int32_t> label_indices, std::optional<Array<float>> sample_weight, Array<int64_t> rows,
           std::optional<OutMatrix<int32_t>> best, std::optional<OutMatrix<float>> probabilities,
           bool normalize_siblings) {
  const int64_t n_rows = features.matrix.n_rows();
  const LabelMatrixView labels = label_view(label_indptr, label_indices, n_rows);
  const float* weight = optional_weights(sample_weight, n_rows);
  require(best.has_value() == probabilities.has_value(), "labels and probabilities go together");
  const auto n_chosen = static_cast<int64_t>(rows.size());
  if (best) check_best(*best, *probabilities, n_chosen);
  // Only these rows are looked at: a call is for few of many. What labels may be, learning knows.
  for (int64_t i = 0; i < n_chosen; ++i) {
    const int64_t r = rows.data()[i];
    require(r >= 0 && r < n_rows, "a row is out of range");
    require(labels.indptr[r] >= 0 && labels.indptr[r] <= labels.indptr[r + 1] &&
                labels.indptr[r + 1] <= static_cast<int64_t>(label_indices.size()),
            "label_indptr must ascend within label_indices");
  }
  const int64_t k = best ? static_cast<int64_t>(best->shape(1)) : 0;
  nb::gil_scoped_release release;
  OnlineSearch search(tree, normalize_siblings, 0, nullptr);
  FeatureRow row;
  std::vector<ScoredLabel> found;
  for (int64_t i = 0; i < n_chosen; ++i) {
    const int64_t r = rows.data()[i];
    row.clear();
    features.matrix.append_entries(r, row);
    if (best) {
      search.top_k(row, static_cast<int>(k), 0.0f, found);
      for (int64_t j = 0; j < k; ++j) {
        const bool there = j < static_cast<int64_t>(found.size());
        best->data()[i * k + j] = there ? found[j].label : -1;
        probabilities->data()[i * k + j] = there ? found[j].probability : 0.0f;
      }
    }
    tree.learn(row, labels.indices + labels.indptr[r], labels.indptr[r + 1] - labels.indptr[r],
               weight != nullptr ? weight[r] : 1.0f);
  }
}

void top_k(const OnlineTree& tree, const BoundFeatures& features, float threshold, bool normalize_siblings,
           int beam, Mask allowed, int n_threads, OutMatrix<int32_t> labels, OutMatrix<float> probabilities,
           std::optional<OutArray<int64_t>> evaluations, std::optional<Array<double>> label_weight) {
  OnlineSearchOptions options = search_options(tree, normalize_siblings, allowed, n_threads);
  options.beam = beam;
  options.label_weight = weights_of_labels(label_weight, tree.n_labels());
  check_best(labels, probabilities, features.matrix.n_rows());
  int64_t* counts = evaluation_counts(evaluations, features.matrix.n_rows());
  nb::gil_scoped_release release;
  OnlineSearch::top_k(tree, features.matrix, static_cast<int>(labels.shape(1)), threshold, options,
                      labels.data(), probabilities.data(), counts);
}

nb::tuple above(const OnlineTree& tree, const BoundFeatures& features, int64_t k, float threshold,
                std::optional<Array<float>> label_threshold, bool normalize_siblings, Mask allowed,
                int n_threads, std::optional<OutArray<int64_t>> evaluations) {
  const OnlineSearchOptions options = search_options(tree, normalize_siblings, allowed, n_threads);
  const float* of_label = thresholds_of_labels(label_threshold, tree.n_labels());
  int64_t* counts = evaluation_counts(evaluations, features.matrix.n_rows());
  return ranking(
      [&] { return OnlineSearch::above(tree, features.matrix, k, threshold, of_label, options, counts); });
}

void pairs(const OnlineTree& tree, const BoundFeatures& features, Array<int64_t> rows, Array<int32_t> labels,
           bool normalize_siblings, int n_threads, OutArray<float> probabilities) {
  check_pairs(rows, labels, probabilities, features.matrix.n_rows(), tree.n_labels());
  const OnlineSearchOptions options = search_options(tree, normalize_siblings, std::nullopt, n_threads);
  nb::gil_scoped_release release;
  OnlineSearch::pairs(tree, features.matrix, rows.data(), labels.data(), static_cast<int64_t>(rows.size()),
                      options, probabilities.data());
}

// The steps from the root to a label for one row: node, labels below it, score, probability given the
// parent's, bias, and the weights of the row's features.
nb::list explain(const OnlineTree& tree, const BoundFeatures& features, int64_t row, int32_t label,
                 bool normalize_siblings) {
  require(row >= 0 && row < features.matrix.n_rows(), "the row is out of range");
  require(label >= 0 && label < tree.n_labels(), "the label is out of range");
  FeatureRow given;
  features.matrix.append_entries(row, given);
  Example x;
  tree.read(given, x);
  std::vector<int32_t> path;
  for (int32_t v = tree.leaf(label); v >= 0; v = tree.parent(v)) path.insert(path.begin(), v);
  nb::list steps;
  for (const int32_t v : path) {
    const int32_t parent = tree.parent(v);
    const GrowingBlock& block = tree.block(parent);
    size_t lane = 0;
    if (parent >= 0) {
      const auto& children = tree.children(parent);
      lane = std::find(children.begin(), children.end(), v) - children.begin();
    }
    std::vector<float> scores(block.n_children()), probabilities(block.n_children()), w(block.width() + 4);
    tree.scores(parent, x, scores.data());
    tree.probabilities(parent, x, normalize_siblings, probabilities.data());
    std::vector<float> weights;
    for (const int32_t feature : given.index) {
      tree.weights_of(parent, static_cast<uint32_t>(feature), w.data());
      weights.push_back(w[lane]);
    }
    float bias = 0;
    if (tree.options().bias) {
      tree.weights_of(parent, Example::kBias, w.data());
      bias = w[lane];
    }
    steps.append(nb::make_tuple(v, tree.n_leaves(v), scores[lane], probabilities[lane], bias,
                                to_numpy(std::move(weights))));
  }
  return steps;
}

nb::dict state_arrays(const OnlineTree& tree) {
  OnlineState state = OnlineState::of(tree);
  nb::dict arrays;
  OnlineState::visit_arrays(
      state, [&](const char* name, auto& values) { arrays[name] = to_numpy(std::move(values)); });
  return arrays;
}

template <class T>
void take_array(const nb::dict& arrays, const char* name, std::vector<T>& values) {
  Array<T> array;
  if (!arrays.contains(name) || !nb::try_cast(arrays[name], array, false)) {
    throw std::invalid_argument(std::string(name) + " is missing, or has the wrong type or shape");
  }
  values.assign(array.data(), array.data() + array.size());
}

std::unique_ptr<OnlineTree> from_state(const OnlineOptions& options, std::shared_ptr<TreePolicy> policy,
                                       const nb::dict& arrays) {
  OnlineState state;
  OnlineState::visit_arrays(state, [&](const char* name, auto& values) { take_array(arrays, name, values); });
  return state.tree(options, std::move(policy));
}

std::unique_ptr<OnlineTree> from_store(const OnlineOptions& options, std::shared_ptr<TreePolicy> policy,
                                       const BoundStore& store) {
  return thaw(*store.store, options, std::move(policy));
}

nb::dict freeze_tree(const OnlineTree& tree, float prune, std::vector<int32_t> position, int32_t n_labels) {
  FrozenTree frozen = freeze(tree, prune, position, n_labels);
  nb::dict arrays = to_numpy(std::move(frozen.arrays));
  arrays["child_begin"] = to_numpy(std::move(frozen.child_begin));
  arrays["label"] = to_numpy(std::move(frozen.label));
  return arrays;
}

nb::tuple structure(const OnlineTree& tree) {
  std::vector<int32_t> parent, label;
  for (int32_t v = 0; v < tree.n_nodes(); ++v) {
    parent.push_back(tree.parent(v));
    label.push_back(tree.label(v));
  }
  return nb::make_tuple(to_numpy(std::move(parent)), to_numpy(std::move(label)));
}

}  // namespace

void bind_online(nb::module_& m) {
  nb::enum_<WeightKind>(m, "WeightKind")
      .value("map", WeightKind::map)
      .value("dense", WeightKind::dense)
      .value("hashed", WeightKind::hashed)
      .value("shared", WeightKind::shared);

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
  nb::class_<CallablePolicy, TreePolicy>(m, "CallablePolicy")
      .def(nb::init<nb::object, nb::object>(), nb::arg("choose"), nb::arg("closes").none());

  nb::class_<OnlineOptions>(m, "OnlineOptions")
      .def(
          "__init__",
          [](OnlineOptions* self, Loss loss, Solver solver, Link link, float learning_rate,
             double regularization, bool bias, WeightKind weights, int64_t length, int most_lanes,
             int32_t most_labels) {
            new (self) OnlineOptions{{loss, learning_rate, regularization},
                                     solver,
                                     link,
                                     bias,
                                     weights,
                                     length,
                                     most_lanes,
                                     most_labels};
          },
          nb::arg("loss"), nb::arg("solver"), nb::arg("link"), nb::arg("learning_rate"),
          nb::arg("regularization"), nb::arg("bias"), nb::arg("weights"), nb::arg("length"),
          nb::arg("most_lanes"), nb::arg("most_labels"));

  nb::class_<OnlineTree>(m, "OnlineTree", "A tree that grows and learns with every example.")
      .def(nb::init<const OnlineOptions&, std::shared_ptr<TreePolicy>>(), nb::arg("options"),
           nb::arg("policy"))
      .def_static(
          "of_shape",
          [](const OnlineOptions& options, std::shared_ptr<TreePolicy> policy, Array<int32_t> child_begin,
             Array<int32_t> label, int32_t n_labels) {
            return std::make_unique<OnlineTree>(options, std::move(policy),
                                                tree_view(child_begin, label, n_labels));
          },
          nb::arg("options"), nb::arg("policy"), nb::arg("child_begin").noconvert(),
          nb::arg("label").noconvert(), nb::arg("n_labels"), "A tree of this shape, not yet trained.")
      .def_static("from_state", &from_state, nb::arg("options"), nb::arg("policy"), nb::arg("arrays"),
                  "The tree that `state` gave.")
      .def_static("from_store", &from_store, nb::arg("options"), nb::arg("policy"), nb::arg("store"),
                  "A tree that goes on from trained weights.")
      .def("state", &state_arrays, "All there is, as arrays.")
      .def("learn", &learn, nb::arg("features"), nb::arg("label_indptr").noconvert(),
           nb::arg("label_indices").noconvert(), nb::arg("sample_weight").noconvert().none(),
           nb::arg("rows").noconvert(), nb::arg("labels").noconvert().none(),
           nb::arg("probabilities").noconvert().none(), nb::arg("normalize_siblings"),
           "Learn these rows in turn; if labels and probabilities are given, fill them with the best of each "
           "row "
           "before it is learned.")
      .def("top_k", &top_k, nb::arg("features"), nb::arg("threshold"), nb::arg("normalize_siblings"),
           nb::arg("beam"), nb::arg("allowed").noconvert().none(), nb::arg("n_threads"),
           nb::arg("labels").noconvert(), nb::arg("probabilities").noconvert(),
           nb::arg("evaluations").noconvert().none(), nb::arg("label_weight").noconvert() = nb::none(),
           "As Forest.top_k.")
      .def("above", &above, nb::arg("features"), nb::arg("k"), nb::arg("threshold"),
           nb::arg("label_threshold").noconvert().none(), nb::arg("normalize_siblings"),
           nb::arg("allowed").noconvert().none(), nb::arg("n_threads"),
           nb::arg("evaluations").noconvert().none(), "As Forest.above.")
      .def("pairs", &pairs, nb::arg("features"), nb::arg("rows").noconvert(), nb::arg("labels").noconvert(),
           nb::arg("normalize_siblings"), nb::arg("n_threads"), nb::arg("probabilities").noconvert(),
           "As Forest.pairs.")
      .def("explain", &explain, nb::arg("features"), nb::arg("row"), nb::arg("label"),
           nb::arg("normalize_siblings"), "The steps to a label.")
      .def(
          "forget",
          [](OnlineTree& tree, Array<uint8_t> kept) {
            require(static_cast<int32_t>(kept.size()) == tree.n_labels(), "a flag per label");
            tree.forget({kept.data(), kept.data() + kept.size()});
          },
          nb::arg("kept").noconvert(), nb::call_guard<nb::gil_scoped_release>(), "Keep only some labels.")
      .def("freeze", &freeze_tree, nb::arg("prune"), nb::arg("position"), nb::arg("n_labels"),
           "The arrays of a tree that only answers.")
      .def("structure", &structure, "Per node, its parent and its label, -1 for none.")
      .def(
          "children",
          [](const OnlineTree& tree, int32_t v) {
            require(v >= 0 && v < tree.n_nodes(), "there is no such node");
            return tree.children(v);
          },
          nb::arg("node"))
      .def_prop_ro("n_nodes", &OnlineTree::n_nodes)
      .def_prop_ro("n_labels", &OnlineTree::n_labels)
      .def_prop_ro(
          "label_counts",
          [](const OnlineTree& tree) { return to_numpy(std::vector<int64_t>(tree.label_counts())); },
          nb::rv_policy::move)
      .def_prop_ro(
          "last_seen",
          [](const OnlineTree& tree) { return to_numpy(std::vector<int64_t>(tree.last_seen())); },
          nb::rv_policy::move)
      .def_prop_ro("n_examples", [](const OnlineTree& tree) { return tree.counts().n_examples; })
      .def_prop_ro("counts",
                   [](const OnlineTree& tree) {
                     nb::dict counts;
                     counts["n_examples"] = tree.counts().n_examples;
                     counts["n_updates"] = tree.counts().n_updates;
                     counts["n_auxiliary_updates"] = tree.counts().n_auxiliary_updates;
                     counts["n_policy_steps"] = tree.policy().n_steps;
                     counts["n_classifiers"] = tree.n_nodes();
                     counts["n_auxiliary"] = tree.n_auxiliary();
                     return counts;
                   })
      .def_prop_ro("memory", [](const OnlineTree& tree) {
        const OnlineTree::Memory memory = tree.memory();
        nb::dict bytes;
        bytes["weights"] = memory.weights;
        bytes["maps"] = memory.maps;
        bytes["tree"] = memory.tree;
        return bytes;
      });
}

}  // namespace labeltree
