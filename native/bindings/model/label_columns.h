// The classifiers of labels and the arrays that they look into.
#pragma once

#include <memory>
#include <vector>

#include "bindings/core/references.h"
#include "model/label_columns.h"

namespace labeltree {

struct BoundColumns {
  std::vector<nb::object> owners;
  std::shared_ptr<const LabelColumns> columns;

  template <class Visit>
  void visit_references(const Visit& visit) {
    for (nb::object& owner : owners) visit(owner);
  }
};

}  // namespace labeltree
