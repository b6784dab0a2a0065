#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>

#include "bindings/bindings.h"
#include "bindings/core/items.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"
#include "bindings/model/blocks.h"
#include "online/online_state.h"

namespace labeltree {

namespace {

// The tree refers to its policy, which may refer to Python functions. It needs no clearing: every cycle goes
// through the policy, which is cleared.
int traverse_tree(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::find(nb::inst_ptr<OnlineTree>(self)->policy()).ptr());
  return 0;
}

PyType_Slot tree_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_tree)}, {0, nullptr}};

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
  for (int32_t v = tree.leaf_of(label); v >= 0; v = tree.parent(v)) path.insert(path.begin(), v);
  nb::list steps;
  for (const int32_t v : path) {
    const int32_t parent = tree.parent(v);
    const int32_t number = tree.block_of(parent);
    const GrowingBlock& block = tree.block(number);
    const size_t lane = parent < 0 ? 0 : tree.tree().place_of(parent, v);
    std::vector<float> scores(block.n_children()), probabilities(block.n_children()), w(block.width() + 4);
    tree.scores(number, x, scores.data());
    tree.probabilities(number, x, normalize_siblings, probabilities.data());
    std::vector<float> weights;
    for (const int32_t feature : given.index) {
      tree.weights_of(number, static_cast<uint32_t>(feature), w.data());
      weights.push_back(w[lane]);
    }
    float bias = 0;
    if (tree.options().bias) {
      tree.weights_of(number, Example::kBias, w.data());
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

// A policy that keeps its Python object alive. nanobind's own conversion to a std::shared_ptr ends the
// process when memory runs out.
std::shared_ptr<TreePolicy> shared(TreePolicy& policy) {
  return {&policy, [owner = nb::find(policy)](TreePolicy*) mutable {
            const nb::gil_scoped_acquire acquire;
            owner.reset();
          }};
}

std::unique_ptr<OnlineTree> from_state(const OnlineOptions& options, TreePolicy& policy,
                                       const nb::dict& arrays) {
  OnlineState state;
  OnlineState::visit_arrays(state, [&](const char* name, auto& values) { take_array(arrays, name, values); });
  return state.tree(options, shared(policy));
}

std::unique_ptr<OnlineTree> from_store(const OnlineOptions& options, TreePolicy& policy,
                                       const BoundStore& store) {
  return thaw(*store.store, options, shared(policy));
}

nb::dict freeze_tree(const OnlineTree& tree, float prune, const Items<int32_t>& position, int32_t n_labels) {
  FrozenTree frozen = freeze(tree, prune, to_vector<int32_t>(position), n_labels);
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

void bind_online_tree(nb::module_& m) {
  nb::enum_<WeightKind>(m, "WeightKind")
      .value("map", WeightKind::map)
      .value("dense", WeightKind::dense)
      .value("hashed", WeightKind::hashed)
      .value("shared", WeightKind::shared);

  nb::class_<OnlineOptions>(m, "OnlineOptions")
      .def(
          "__init__",
          [](OnlineOptions* self, Loss loss, Solver solver, Link link, float learning_rate,
             double regularization, float initial_accumulator, bool bias, WeightKind weights, int64_t length,
             int most_lanes, int32_t most_labels) {
            new (self) OnlineOptions{{loss, learning_rate, regularization, initial_accumulator},
                                     solver,
                                     link,
                                     bias,
                                     weights,
                                     length,
                                     most_lanes,
                                     most_labels};
          },
          nb::arg("loss"), nb::arg("solver"), nb::arg("link"), nb::arg("learning_rate"),
          nb::arg("regularization"), nb::arg("initial_accumulator"), nb::arg("bias"), nb::arg("weights"),
          nb::arg("length"), nb::arg("most_lanes"), nb::arg("most_labels"));

  nb::class_<OnlineTree> c(m, "OnlineTree", nb::type_slots(tree_slots),
                           "A tree that grows and learns with every example, in an OnlineForest.");
  c.def(
       "__init__",
       [](OnlineTree* self, const OnlineOptions& options, TreePolicy& policy) {
         new (self) OnlineTree(options, shared(policy));
       },
       nb::arg("options"), nb::arg("policy"))
      .def_static(
          "of_shape",
          [](const OnlineOptions& options, TreePolicy& policy, const BoundTree& tree) {
            return std::make_unique<OnlineTree>(options, shared(policy), tree.view);
          },
          nb::arg("options"), nb::arg("policy"), nb::arg("tree"), "A tree of this shape, not yet trained.")
      .def_static("from_state", &from_state, nb::arg("options"), nb::arg("policy"), nb::arg("arrays"),
                  "The tree that `state` gave.")
      .def_static("from_store", &from_store, nb::arg("options"), nb::arg("policy"), nb::arg("store"),
                  "A tree that goes on from trained weights.")
      .def("state", &state_arrays, "All there is, as arrays.")
      .def("explain", &explain, nb::arg("features"), nb::arg("row"), nb::arg("label"),
           nb::arg("normalize_siblings"), "The steps to a label.")
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
