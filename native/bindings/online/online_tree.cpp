#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "bindings/bindings.h"
#include "bindings/core/items.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"
#include "bindings/model/blocks.h"
#include "bindings/search/answers.h"
#include "online/online_search.h"
#include "online/online_state.h"
#include "search/answers.h"

namespace labeltree {

namespace {

// An online tree as def_answers wants a forest.
struct AskedTree {
  const OnlineTree& tree;

  int32_t n_labels() const { return tree.n_labels(); }
  void top_k(const FeatureMatrix& features, const Search& search, int32_t* labels, float* probabilities,
             int64_t* evaluations, Progress* progress) const {
    OnlineSearch::top_k(tree, features, search, labels, probabilities, evaluations, progress);
  }
  auto above(const FeatureMatrix& features, const Search& search, int64_t* evaluations) const {
    return OnlineSearch::above(tree, features, search, evaluations);
  }
  void pairs(const FeatureMatrix& features, const int64_t* rows, const int32_t* labels, int64_t n,
             const Search& search, float* probabilities) const {
    OnlineSearch::pairs(tree, features, rows, labels, n, search, probabilities);
  }
};

// The tree refers to its policy, which may refer to Python functions. It needs no clearing: every cycle goes
// through the policy, which is cleared.
int traverse_tree(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::find(nb::inst_ptr<OnlineTree>(self)->policy()).ptr());
  return 0;
}

PyType_Slot tree_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_tree)}, {0, nullptr}};

std::string overflow_message(int64_t number, const FeatureRow& row) {
  size_t largest = 0;
  for (size_t k = 0; k < row.value.size(); ++k) {
    if (std::abs(row.value[k]) > std::abs(row.value[largest])) largest = k;
  }
  std::ostringstream message;
  message << "X, row " << number << ": with this row the weights of a node grew beyond all bounds. ";
  if (!row.value.empty()) {
    message << "Its largest value is " << row.value[largest] << " (feature " << row.index[largest] << "). ";
  }
  message
      << "Scale the features, use normalize=True, or use a smaller learning_rate or smaller sample weights. "
         "The row is not learned; the rows before it are";
  return message.str();
}

void learn_rows(OnlineTree& tree, const BoundFeatures& features, Array<int64_t> label_indptr,
                Array<int32_t> label_indices, Array<int64_t> rows, std::optional<Array<float>> sample_weight,
                const BoundSearch* search, std::optional<OutMatrix<int32_t>> best,
                std::optional<OutMatrix<float>> probabilities) {
  const int64_t n_rows = features.matrix.n_rows();
  const LabelMatrixView labels = label_view(label_indptr, label_indices, n_rows);
  if (sample_weight) require_length(sample_weight->size(), n_rows, "sample_weight", "row of X");
  require(best.has_value() == (search != nullptr) && probabilities.has_value() == best.has_value(),
          "search, labels and probabilities go together");
  const auto n_chosen = static_cast<int64_t>(rows.size());
  const Search wanted = search != nullptr ? search->search : Search();
  const int64_t k = wanted.k;
  if (best) check_best(*best, *probabilities, n_chosen, k);
  // Only these rows are looked at: a call is for few of many. What labels may be, learning knows.
  for (int64_t i = 0; i < n_chosen; ++i) {
    const int64_t r = rows.data()[i];
    require(r >= 0 && r < n_rows, "a row is out of range");
    require(labels.indptr[r] >= 0 && labels.indptr[r] <= labels.indptr[r + 1] &&
                labels.indptr[r + 1] <= static_cast<int64_t>(label_indices.size()),
            "label_indptr must ascend within label_indices");
  }
  nb::gil_scoped_release release;
  // Labels are added meanwhile: an array of labels would be too short.
  require(wanted.allowed == nullptr && wanted.label_weight == nullptr,
          "a search while learning takes no allowed and no label_weight");
  OnlineSearch asker(tree, wanted);
  FeatureRow row;
  std::vector<ScoredLabel> found;
  for (int64_t i = 0; i < n_chosen; ++i) {
    const int64_t r = rows.data()[i];
    row.clear();
    features.matrix.append_entries(r, row);
    if (best) {
      asker.top_k(row, found);
      write_ranked(found, k, best->data() + i * k, probabilities->data() + i * k);
    }
    try {
      tree.learn(row, labels.indices + labels.indptr[r], labels.indptr[r + 1] - labels.indptr[r],
                 sample_weight ? sample_weight->data()[r] : 1.0f);
    } catch (const StepOverflow&) {
      throw std::invalid_argument(overflow_message(r, row));
    }
  }
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

  nb::class_<OnlineTree> c(
      m, "OnlineTree", nb::type_slots(tree_slots),
      "A tree that grows and learns with every example.\n\n"
      "Answers the calls of Forest; missing_as_zero changes nothing, as there is one tree.");
  def_answers(c, [](const OnlineTree& tree, const FeatureMatrix&) { return AskedTree{tree}; });
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
      .def("learn", &learn_rows, nb::arg("features"), nb::arg("label_indptr").noconvert(),
           nb::arg("label_indices").noconvert(), nb::arg("rows").noconvert(),
           nb::arg("sample_weight").noconvert() = nb::none(), nb::arg("search") = nb::none(),
           nb::arg("labels").noconvert() = nb::none(), nb::arg("probabilities").noconvert() = nb::none(),
           "Learn these rows in turn; if a search is given, fill labels and probabilities with the best of "
           "each row before it is learned.")
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
