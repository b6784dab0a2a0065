// Online trees and the Python objects that own them.
#pragma once

#include <memory>
#include <vector>

#include "bindings/core/references.h"
#include "online/online_forest.h"

namespace labeltree {

struct BoundOnlineForest {
  std::vector<nb::object> owners;
  std::unique_ptr<OnlineForest> forest;

  template <class Visit>
  void visit_references(const Visit& visit) {
    for (nb::object& owner : owners) visit(owner);
  }
};

}  // namespace labeltree
