// Arrays across the boundary: in as const views without a copy, out as owners of what the kernel made.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/feature_matrix.h"
#include "core/label_tree.h"
#include "training/node_assignment.h"

namespace labeltree {

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutArray = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Hands a vector over to NumPy without a copy.
template <class T, class Allocator>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T, Allocator>&& values) {
  using Vector = std::vector<T, Allocator>;
  auto* owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Vector*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline LabelTreeView tree_view(const Array<int32_t>& child_begin, const Array<int32_t>& label,
                               int32_t n_labels) {
  require(label.size() > 0 && child_begin.size() == label.size() + 1,
          "child_begin must have one more entry than label");
  require(label.size() <= INT32_MAX, "a tree must have fewer than 2,147,483,648 nodes");
  return {static_cast<int32_t>(label.size()), n_labels, child_begin.data(), label.data()};
}

inline LabelMatrixView label_view(const Array<int64_t>& indptr, const Array<int32_t>& indices,
                                  int64_t n_rows) {
  require(static_cast<int64_t>(indptr.size()) == n_rows + 1, "X and y must have the same number of rows");
  return {n_rows, indptr.data(), indices.data()};
}

// For labels that come straight from a caller: whoever walks up from their leaves looks them up unchecked.
inline void check_labels(const LabelMatrixView& labels, size_t n_indices, int32_t n_labels) {
  require(labels.indptr[0] >= 0, "label_indptr must not be negative");
  for (int64_t row = 0; row < labels.n_rows; ++row) {
    require(labels.indptr[row] <= labels.indptr[row + 1], "label_indptr must not decrease");
  }
  require(labels.indptr[labels.n_rows] <= static_cast<int64_t>(n_indices),
          "label_indptr must lie within label_indices");
  for (int64_t k = labels.indptr[0]; k < labels.indptr[labels.n_rows]; ++k) {
    require(labels.indices[k] >= 0 && labels.indices[k] < n_labels, "a label is out of range");
  }
}

// A weight per row, or null for None. The array must outlive the pointer.
inline const float* optional_weights(const std::optional<Array<float>>& sample_weight, int64_t n_rows) {
  if (!sample_weight) return nullptr;
  require(static_cast<int64_t>(sample_weight->size()) == n_rows,
          "sample_weight must have one entry per row of X");
  return sample_weight->data();
}

// A FeatureMatrix and the arrays it looks into.
struct BoundFeatures {
  FeatureMatrix matrix;
  nb::object owners[4];
  bool canonical;
};

}  // namespace labeltree
