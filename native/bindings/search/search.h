// A Search and the arrays that it looks into.
#pragma once

#include "bindings/core/arrays.h"
#include "search/search.h"

namespace labeltree {

struct BoundSearch {
  Search search;
  nb::object label_threshold, label_weight, allowed;  // None for null

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(label_threshold);
    visit(label_weight);
    visit(allowed);
  }

  // The search, for a forest of this many labels.
  const Search& for_labels(int32_t n_labels) const {
    check(search.label_threshold, label_threshold_size, n_labels, "label_threshold");
    check(search.label_weight, label_weight_size, n_labels, "label_weight");
    check(search.allowed, allowed_size, n_labels, "allowed");
    return search;
  }

  size_t label_threshold_size = 0, label_weight_size = 0, allowed_size = 0;

 private:
  static void check(const void* values, size_t size, int32_t n_labels, const char* name) {
    if (values != nullptr) require_length(size, n_labels, name, "label");
  }
};

}  // namespace labeltree
