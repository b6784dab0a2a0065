#include "search/enumeration.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <memory>
#include <optional>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/online/online_forest.h"
#include "bindings/search/answers.h"
#include "bindings/search/forest.h"

namespace labeltree {

namespace {

struct BoundEnumeration {
  std::unique_ptr<Enumeration> labels;
  nb::object forest;  // null if all labels are listed

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(forest);
  }
};

BoundEnumeration labels_of_row(nb::object object, const BoundFeatures& features, int64_t row,
                               const BoundSearch& search) {
  const FeatureMatrix& matrix = features.matrix;
  check_row(row, matrix);
  if (nb::isinstance<BoundForest>(object)) {
    const auto& bound = nb::cast<const BoundForest&>(object);
    const Search& wanted = search.for_labels(bound.asked(matrix).n_labels());
    return {std::make_unique<ForestEnumeration<BlockStore>>(bound.forest, matrix, row, wanted), object};
  }
  if (nb::isinstance<BoundExampleForest>(object)) {
    const ExampleForest& forest = nb::cast<const BoundExampleForest&>(object).asked(matrix);
    return {std::make_unique<ListedLabels>(forest.ranked(matrix, row, search.for_labels(forest.n_labels()))),
            {}};
  }
  const OnlineForest& forest = *nb::cast<const BoundOnlineForest&>(object).forest;
  return {forest.enumerate(matrix, row, search.for_labels(forest.n_labels())), object};
}

std::optional<std::pair<int32_t, float>> next(BoundEnumeration& self) {
  ScoredLabel found;
  if (!self.labels->next(found)) return std::nullopt;
  return std::pair(found.label, found.probability);
}

}  // namespace

void bind_enumeration(nb::module_& m) {
  nb::class_<BoundEnumeration>(
      m, "Enumeration", nb::type_slots(reference_slots<BoundEnumeration>),
      "The labels of one row, best first: those that search.allowed allows, without a threshold.")
      .def(
          "__init__",
          [](BoundEnumeration* self, nb::object forest, const BoundFeatures& features, int64_t row,
             const BoundSearch& search) {
            new (self) BoundEnumeration(labels_of_row(forest, features, row, search));
          },
          nb::arg("forest"), nb::arg("features"), nb::arg("row"), nb::arg("search"),
          nb::sig(
              "def __init__(self, forest: Forest | ExampleForest | OnlineForest, features: FeatureMatrix, "
              "row: int, search: Search) -> None"))
      .def("next", &next, "The next label and its probability, or None.");
}

}  // namespace labeltree
