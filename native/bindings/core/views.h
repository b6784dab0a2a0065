// Views of what Python owns: features, label trees and examples, with the objects that keep them alive.
#pragma once

#include <memory>
#include <vector>

#include "bindings/core/arrays.h"
#include "bindings/core/references.h"
#include "core/examples.h"
#include "core/feature_matrix.h"
#include "core/label_matrix.h"
#include "core/label_tree.h"
#include "text/weighted_rows.h"

namespace labeltree {

struct BoundFeatures {
  FeatureMatrix matrix;
  std::vector<nb::object> owners;
  bool canonical;
  std::shared_ptr<WeightedRows> text_rows = nullptr;  // what it looks at, if it was made of texts

  template <class Visit>
  void visit_references(const Visit& visit) {
    for (nb::object& owner : owners) visit(owner);
  }
};

struct BoundTree {
  LabelTreeView view;
  nb::object child_begin, label;

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(child_begin);
    visit(label);
  }
};

struct BoundExamples {
  Examples view;
  nb::object features, label_indptr, label_indices, sample_weight, label_weight;

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(features);
    visit(label_indptr);
    visit(label_indices);
    visit(sample_weight);
    visit(label_weight);
  }
};

// The array that an object is, without a conversion.
template <class T>
Array<T> array_of(nb::handle object, const char* name, const char* type) {
  Array<T> array;
  if (!nb::try_cast(object, array, false)) {
    throw nb::type_error(
        (std::string(name) + " must be a C-contiguous array of " + type + " with one dimension").c_str());
  }
  return array;
}

inline LabelMatrixView label_view(const Array<int64_t>& indptr, const Array<int32_t>& indices,
                                  int64_t n_rows) {
  if (static_cast<int64_t>(indptr.size()) != n_rows + 1) {
    throw std::invalid_argument("X and y must have the same number of rows, but have " +
                                std::to_string(n_rows) + " and " +
                                std::to_string(static_cast<int64_t>(indptr.size()) - 1));
  }
  return {n_rows, indptr.data(), indices.data()};
}

// Whoever walks up from the leaves of labels looks them up unchecked.
inline void check_labels(const LabelMatrixView& labels, size_t n_indices, int32_t n_labels) {
  require(n_labels >= 0, "n_labels must not be negative");
  require(labels.indptr[0] == 0, "label_indptr must begin with 0");
  for (int64_t row = 0; row < labels.n_rows; ++row) {
    require(labels.indptr[row] <= labels.indptr[row + 1], "label_indptr must not decrease");
  }
  require(labels.indptr[labels.n_rows] <= static_cast<int64_t>(n_indices),
          "label_indptr must lie within label_indices");
  for (int64_t k = labels.indptr[0]; k < labels.indptr[labels.n_rows]; ++k) {
    require(labels.indices[k] >= 0 && labels.indices[k] < n_labels, "a label is out of range");
  }
}

// Whoever looks for the leaves of labels finds one for each.
inline void check_labels_of(const Examples& examples, const LabelTreeView& tree) {
  if (examples.n_labels != tree.n_labels) {
    throw std::invalid_argument("expected examples with " + std::to_string(tree.n_labels) + " labels, got " +
                                std::to_string(examples.n_labels));
  }
}

}  // namespace labeltree
