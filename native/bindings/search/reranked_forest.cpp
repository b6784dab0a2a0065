#include "search/reranked_forest.h"

#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/model/label_columns.h"
#include "bindings/model/stored_arrays.h"
#include "bindings/search/answers.h"
#include "bindings/search/forest.h"

namespace labeltree {

namespace {

struct BoundRerankedForest {
  std::vector<nb::object> owners;
  std::unique_ptr<RerankedForest> forest;

  template <class Visit>
  void visit_references(const Visit& visit) {
    for (nb::object& owner : owners) visit(owner);
  }

  const RerankedForest& asked(const FeatureMatrix& features) const {
    check_features(features, *forest);
    return *forest;
  }
};

void make_reranked_forest(BoundRerankedForest* self, nb::object forest, nb::object columns,
                          const nb::dict& map, int64_t n_proposed, float least) {
  auto made = std::make_unique<RerankedForest>(nb::cast<const BoundForest&>(forest).forest,
                                               nb::cast<const BoundColumns&>(columns).columns,
                                               stored_maps(map), n_proposed, least);
  new (self) BoundRerankedForest{{std::move(forest), std::move(columns)}, std::move(made)};
}

}  // namespace

void bind_reranked_forest(nb::module_& m) {
  nb::class_<BoundRerankedForest> c(
      m, "RerankedForest", nb::type_slots(reference_slots<BoundRerankedForest>),
      "Trees that propose labels, and a classifier for each label that ranks the proposals.");
  c.def("__init__", &make_reranked_forest, nb::arg("forest"), nb::arg("columns"), nb::arg("map"),
        nb::arg("n_proposed"), nb::arg("least"),
        nb::sig("def __init__(self, forest: Forest, columns: LabelColumns, map: dict, n_proposed: int, "
                "least: float) -> None"));
  def_answers(c,
              [](const BoundRerankedForest& bound, const FeatureMatrix& features) -> const RerankedForest& {
                return bound.asked(features);
              });
  c.def(
      "probability",
      [](const BoundRerankedForest& bound, float score) { return bound.forest->probability(score); },
      nb::arg("score"), "Return the probability of a score of a label classifier.");
}

}  // namespace labeltree
