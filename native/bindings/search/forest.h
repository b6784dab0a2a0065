// Forests and the Python objects that they look into.
#pragma once

#include <memory>
#include <vector>

#include "bindings/core/references.h"
#include "bindings/model/blocks.h"
#include "rivals/fastxml/example_forest.h"
#include "search/forest.h"

namespace labeltree {

struct BoundForest {
  std::vector<nb::object> owners;
  std::shared_ptr<const Forest> forest;

  template <class Visit>
  void visit_references(const Visit& visit) {
    for (nb::object& owner : owners) visit(owner);
  }

  const Forest& asked(const FeatureMatrix& features) const {
    check_features(features, forest->tree(0));
    return *forest;
  }
};

struct BoundExampleForest {
  std::vector<nb::object> owners;
  std::unique_ptr<ExampleForest> forest;

  template <class Visit>
  void visit_references(const Visit& visit) {
    for (nb::object& owner : owners) visit(owner);
  }

  const ExampleForest& asked(const FeatureMatrix& features) const {
    require(features.n_features() == forest->n_features(), "X has the wrong number of features");
    return *forest;
  }
};

}  // namespace labeltree
