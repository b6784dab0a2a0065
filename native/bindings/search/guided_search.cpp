#include "search/guided_search.h"

#include "bindings/bindings.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"
#include "bindings/search/search.h"

namespace labeltree {

namespace {

// A GuidedSearch and its tree.
struct BoundGuidedSearch {
  nb::object tree;
  GuidedSearch search;

  BoundGuidedSearch(nb::object tree, int64_t n_rows, GuidedStrategy strategy, const BoundSearch& search)
      : tree(tree),
        search(nb::cast<const BoundTree&>(tree).view, n_rows, strategy,
               search.for_labels(nb::cast<const BoundTree&>(tree).view.n_labels)) {}

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(tree);
  }
};

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

}  // namespace

void bind_guided_search(nb::module_& m) {
  nb::enum_<GuidedStrategy>(m, "GuidedStrategy")
      .value("best_first", GuidedStrategy::best_first)
      .value("all_above", GuidedStrategy::all_above)
      .value("beam", GuidedStrategy::beam);
  nb::class_<BoundGuidedSearch>(m, "GuidedSearch", nb::type_slots(reference_slots<BoundGuidedSearch>),
                                "A search for many rows at once over probabilities that it is given.")
      .def(nb::init<nb::object, int64_t, GuidedStrategy, const BoundSearch&>(), nb::arg("tree"),
           nb::arg("n_rows"), nb::arg("strategy"), nb::arg("search"),
           nb::sig("def __init__(self, tree: Tree, n_rows: int, strategy: GuidedStrategy, search: Search) -> "
                   "None"))
      .def("wanted", &wanted, "The rows and parents (-1: the root alone) of the blocks to score next.")
      .def("give", &give, nb::arg("probabilities").noconvert(),
           "Go on with the probabilities of all wanted nodes, block after block.")
      .def("found", &found, "What was found: indptr, labels and probabilities, best first.");
}

}  // namespace labeltree
