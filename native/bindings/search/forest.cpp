#include "bindings/search/forest.h"

#include "bindings/bindings.h"
#include "bindings/core/items.h"
#include "bindings/search/answers.h"

namespace labeltree {

namespace {

void make_forest(BoundForest* self, const Items<nb::object>& stores, const Items<double>& weights) {
  std::vector<nb::object> owners = to_vector<nb::object>(stores);
  std::vector<std::shared_ptr<const BlockStore>> trees;
  for (const nb::object& store : owners) trees.push_back(nb::cast<const BoundStore&>(store).store);
  auto forest = std::make_shared<Forest>(std::move(trees), to_vector<double>(weights));
  new (self) BoundForest{std::move(owners), std::move(forest)};
}

}  // namespace

void bind_forest(nb::module_& m) {
  nb::class_<BoundForest> c(m, "Forest", nb::type_slots(reference_slots<BoundForest>),
                            "The trees of a model, asked together.");
  c.def("__init__", &make_forest, nb::arg("stores"), nb::arg("weights"),
        nb::sig("def __init__(self, stores: Sequence[BlockStore], weights: Sequence[float]) -> None"));
  def_answers(c, [](const BoundForest& bound, const FeatureMatrix& features) -> const Forest& {
    return bound.asked(features);
  });
}

}  // namespace labeltree
