#include "search/guided_search.h"

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "model/block_store.h"

namespace labeltree {

namespace {

// A GuidedSearch and the arrays of its tree.
struct BoundGuidedSearch {
  Array<int32_t> child_begin, label;
  GuidedSearch search;
};

template <class T>
std::vector<T> copied(const std::optional<Array<T>>& values, int32_t n, const char* message) {
  if (!values) return {};
  require(static_cast<int32_t>(values->size()) == n, message);
  return {values->data(), values->data() + values->size()};
}

void make_search(BoundGuidedSearch* self, Array<int32_t> child_begin, Array<int32_t> label, int32_t n_labels,
                 int64_t n_rows, GuidedStrategy strategy, int64_t k, int64_t beam, float threshold,
                 std::optional<Array<float>> node_threshold, std::optional<Array<uint8_t>> node_allowed,
                 std::optional<Array<double>> label_weight, std::optional<Array<double>> node_weight) {
  const LabelTreeView tree = tree_view(child_begin, label, n_labels);
  require(n_rows >= 0 && k >= 1 && beam >= 1, "a search needs rows, k and a beam");
  require(label_weight.has_value() == node_weight.has_value(), "label_weight and node_weight go together");
  GuidedSearchOptions options{
      strategy,
      k,
      beam,
      threshold,
      copied(node_threshold, tree.n_nodes, "node_threshold: one entry per node"),
      copied(node_allowed, tree.n_nodes, "node_allowed: one flag per node"),
      copied(label_weight, n_labels, "label_weight: one entry per label"),
      copied(node_weight, tree.n_nodes, "node_weight: one entry per node"),
  };
  new (self) BoundGuidedSearch{child_begin, label, GuidedSearch(tree, n_rows, std::move(options))};
}

nb::tuple wanted(const BoundGuidedSearch& self) {
  std::vector<int64_t> rows;
  std::vector<int32_t> parents;
  rows.reserve(self.search.wanted().size());
  parents.reserve(self.search.wanted().size());
  for (const auto& [row, parent] : self.search.wanted()) {
    rows.push_back(row);
    parents.push_back(parent.node);
  }
  return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(parents)));
}

void give(BoundGuidedSearch& self, Array<float> probabilities) {
  require(static_cast<int64_t>(probabilities.size()) == self.search.n_wanted_nodes(),
          "expected one probability for each wanted node");
  nb::gil_scoped_release release;
  self.search.give(probabilities.data());
}

nb::tuple found(const BoundGuidedSearch& self) {
  std::vector<int64_t> indptr(1, 0);
  std::vector<int32_t> labels;
  std::vector<float> probabilities;
  for (int64_t row = 0; row < self.search.n_rows(); ++row) {
    for (const ScoredLabel& scored : self.search.found(row)) {
      labels.push_back(scored.label);
      probabilities.push_back(scored.probability);
    }
    indptr.push_back(static_cast<int64_t>(labels.size()));
  }
  return nb::make_tuple(to_numpy(std::move(indptr)), to_numpy(std::move(labels)),
                        to_numpy(std::move(probabilities)));
}

void link_all(Link link, Array<float> scores, OutArray<float> probabilities) {
  require(scores.size() == probabilities.size(), "scores and probabilities must be of one length");
  for (size_t i = 0; i < scores.size(); ++i) probabilities.data()[i] = apply_link(link, scores.data()[i]);
}

void normalize_blocks(Array<int64_t> begin, OutArray<float> probabilities) {
  require(begin.size() > 0, "begin needs an entry");
  for (size_t i = 0; i + 1 < begin.size(); ++i) {
    const int64_t first = begin.data()[i], last = begin.data()[i + 1];
    require(0 <= first && first <= last && last <= static_cast<int64_t>(probabilities.size()),
            "the blocks must lie within the probabilities");
    normalize_siblings(probabilities.data() + first, static_cast<int32_t>(last - first));
  }
}

}  // namespace

void bind_exchange(nb::module_& m) {
  nb::enum_<GuidedStrategy>(m, "GuidedStrategy")
      .value("best_first", GuidedStrategy::best_first)
      .value("all_above", GuidedStrategy::all_above)
      .value("beam", GuidedStrategy::beam);
  nb::class_<BoundGuidedSearch>(m, "GuidedSearch",
                                "A search for many rows at once over probabilities that it is given.")
      .def("__init__", &make_search, nb::arg("child_begin").noconvert(), nb::arg("label").noconvert(),
           nb::arg("n_labels"), nb::arg("n_rows"), nb::arg("strategy"), nb::arg("k"), nb::arg("beam"),
           nb::arg("threshold"), nb::arg("node_threshold").noconvert().none(),
           nb::arg("node_allowed").noconvert().none(), nb::arg("label_weight").noconvert() = nb::none(),
           nb::arg("node_weight").noconvert() = nb::none())
      .def("wanted", &wanted, "The rows and parents (-1: the root alone) of the blocks to score next.")
      .def("give", &give, nb::arg("probabilities").noconvert(),
           "Go on with the probabilities of all wanted nodes, block after block.")
      .def("found", &found, "What was found: indptr, labels and probabilities, best first.");
  m.def("normalize_blocks", &normalize_blocks, nb::arg("begin").noconvert(),
        nb::arg("probabilities").noconvert(),
        "Scale the probabilities of siblings, block after block, to sum to 1 where they sum to less.");
  m.def("apply_link_to_all", &link_all, nb::arg("link"), nb::arg("scores").noconvert(),
        nb::arg("probabilities").noconvert(), "Fill the probabilities that scores stand for.");
}

}  // namespace labeltree
