// The examples, as the user gave them: CSR, dense or both, 32- or 64-bit numbers, never copied as a whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace labeltree {

// Features that are next to each other: [begin, end).
struct FeatureRange {
  int64_t begin = 0, end = 0;

  bool operator==(const FeatureRange&) const = default;
  int64_t size() const { return end - begin; }
  bool contains(int64_t feature) const { return feature >= begin && feature < end; }
};

// One example, in arrays that someone else keeps: `size` non-zero sparse features, and all dense ones.
struct RowView {
  const int32_t* index;
  const float* value;
  size_t size;
  const float* dense;
};

// One example: its non-zero sparse features, in the order they were given, with values; and all values of the
// dense ones.
struct FeatureRow {
  std::vector<int32_t> index;
  std::vector<float> value;
  std::vector<float> dense;

  void clear() {
    index.clear();
    value.clear();
    dense.clear();
  }
  operator RowView() const { return {index.data(), value.data(), index.size(), dense.data()}; }
};

// Replaces the features of a row by dense ones.
class RowTransform {
 public:
  virtual ~RowTransform() = default;
  virtual int64_t n_features() const = 0;
  // Replaces the entries of `row` from `begin` on by values that it appends to row.dense.
  virtual void apply(FeatureRow& row, size_t begin) const = 0;
};

// A read-only view. Some range of the features, the first or the last ones, may be dense: they are handled
// without indices. Rows come out as FeatureRow, scaled to unit length if asked. The sparse and the dense part
// then get an equal share of the length. Training and prediction thereby treat the rows in the same way.
// The arrays belong to the caller, who has checked them. Which features are dense is the same for all forms
// that X may have, and so are the rows.
class FeatureMatrix {
 public:
  template <class Offset, class Index, class Value>
  static FeatureMatrix csr(int64_t n_rows, int64_t n_features, const Offset* indptr, const Index* indices,
                           const Value* data, bool normalize, FeatureRange dense = {}) {
    FeatureMatrix m(n_rows, n_features, dense, normalize);
    m.set_csr(indptr, indices, data);
    if (dense.size() > 0) m.read_ = &read_split_csr<Offset, Index, Value>;
    return m;
  }

  template <class Value>
  static FeatureMatrix array(int64_t n_rows, int64_t n_features, const Value* data, bool normalize,
                             FeatureRange dense) {
    FeatureMatrix m(n_rows, n_features, dense, normalize);
    m.dense_data_ = data;
    m.read_ = &read_array<Value>;
    m.capacity_ = [](const FeatureMatrix&, int64_t) { return int64_t{0}; };
    return m;
  }

  // Two matrices side by side: CSR with n_sparse columns, then n_dense dense ones.
  template <class Offset, class Index, class Value, class DenseValue>
  static FeatureMatrix pair(int64_t n_rows, int64_t n_sparse, const Offset* indptr, const Index* indices,
                            const Value* data, int64_t n_dense, const DenseValue* dense, bool normalize) {
    FeatureMatrix m(n_rows, n_sparse + n_dense, {n_sparse, n_sparse + n_dense}, normalize);
    m.set_csr(indptr, indices, data);
    m.dense_data_ = dense;
    m.read_dense_ = &read_dense<DenseValue>;
    return m;
  }

  // The rows of another matrix, transformed.
  static FeatureMatrix transformed(const FeatureMatrix& base, std::shared_ptr<const RowTransform> transform) {
    const int64_t n = transform->n_features();
    FeatureMatrix m(base.n_rows(), n, {0, n}, false);
    m.base_ = std::make_shared<const FeatureMatrix>(base);
    m.transform_ = std::move(transform);
    m.read_ = [](const FeatureMatrix& of, int64_t row, FeatureRow& out) {
      const size_t begin = out.index.size();
      of.base_->append_entries(row, out);
      of.transform_->apply(out, begin);
    };
    m.capacity_ = [](const FeatureMatrix&, int64_t) { return int64_t{0}; };
    return m;
  }

  // Some of the rows, in this order. The arrays are the same.
  FeatureMatrix take(const int64_t* rows, int64_t n) const {
    std::vector<int64_t> numbers(n);
    std::transform(rows, rows + n, numbers.begin(), [&](int64_t row) { return number_of(row); });
    FeatureMatrix m = *this;
    m.rows_ = std::make_shared<const std::vector<int64_t>>(std::move(numbers));
    m.n_rows_ = n;
    return m;
  }

  int64_t n_rows() const { return n_rows_; }
  int64_t n_features() const { return n_features_; }
  const FeatureRange& dense() const { return dense_; }
  bool normalize() const { return normalize_; }
  // The numbers of the rows in the arrays, or null if these are all rows.
  const std::vector<int64_t>* rows() const { return rows_.get(); }

  // How many sparse entries the row has at most, as far as that can be told without reading it; else 0.
  int64_t row_capacity(int64_t row) const { return capacity_(*this, number_of(row)); }

  // Appends the row to `out`.
  void append(int64_t row, FeatureRow& out) const {
    const size_t begin = out.value.size(), dense_begin = out.dense.size();
    read_(*this, number_of(row), out);
    if (read_dense_ != nullptr) read_dense_(*this, number_of(row), out);
    if (!normalize_) return;
    scale_to(length_, out.value, begin);
    scale_to(length_, out.dense, dense_begin);
  }

  // The same with the dense features as entries beside the sparse ones.
  void append_entries(int64_t row, FeatureRow& out) const {
    const size_t begin = out.dense.size();
    append(row, out);
    append_nonzero(static_cast<int64_t>(out.dense.size() - begin), out,
                   [&](int64_t k) { return std::pair(dense_.begin + k, out.dense[begin + k]); });
    out.dense.resize(begin);
  }

 private:
  using Read = void (*)(const FeatureMatrix&, int64_t, FeatureRow&);
  using Capacity = int64_t (*)(const FeatureMatrix&, int64_t);

  FeatureMatrix(int64_t n_rows, int64_t n_features, FeatureRange dense, bool normalize)
      : n_rows_(n_rows),
        n_features_(n_features),
        dense_(dense),
        normalize_(normalize),
        length_(dense.size() > 0 && dense.size() < n_features ? std::sqrt(0.5) : 1) {}

  // Where a row is in the arrays.
  int64_t number_of(int64_t row) const { return rows_ == nullptr ? row : (*rows_)[row]; }

  template <class Offset, class Index, class Value>
  void set_csr(const Offset* indptr, const Index* indices, const Value* data) {
    indptr_ = indptr;
    indices_ = indices;
    data_ = data;
    read_ = &read_csr<Offset, Index, Value>;
    capacity_ = [](const FeatureMatrix& m, int64_t row) {
      const Offset* begin = static_cast<const Offset*>(m.indptr_) + row;
      const int64_t n_dense = m.read_dense_ == nullptr ? m.dense_.size() : 0;
      return std::max(static_cast<int64_t>(begin[1] - begin[0]) - n_dense, int64_t{0});
    };
  }

  template <class Offset, class Index, class Value>
  static void read_csr(const FeatureMatrix& m, int64_t row, FeatureRow& out) {
    const Offset* indptr = static_cast<const Offset*>(m.indptr_);
    const Index* indices = static_cast<const Index*>(m.indices_);
    const Value* data = static_cast<const Value*>(m.data_);
    const int64_t begin = static_cast<int64_t>(indptr[row]), end = static_cast<int64_t>(indptr[row + 1]);
    append_nonzero(end - begin, out,
                   [&](int64_t k) { return std::pair(indices[begin + k], data[begin + k]); });
  }

  template <class Offset, class Index, class Value>
  static void read_split_csr(const FeatureMatrix& m, int64_t row, FeatureRow& out) {
    const Offset* indptr = static_cast<const Offset*>(m.indptr_);
    const Index* indices = static_cast<const Index*>(m.indices_);
    const Value* data = static_cast<const Value*>(m.data_);
    const size_t dense_begin = out.dense.size();
    out.dense.resize(dense_begin + m.dense_.size(), 0.0f);
    for (int64_t k = static_cast<int64_t>(indptr[row]); k < static_cast<int64_t>(indptr[row + 1]); ++k) {
      const float value = static_cast<float>(data[k]);
      if (m.dense_.contains(indices[k])) {
        out.dense[dense_begin + indices[k] - m.dense_.begin] = value;
      } else if (data[k] != 0) {
        out.index.push_back(static_cast<int32_t>(indices[k]));
        out.value.push_back(value);
      }
    }
  }

  template <class Value>
  static void read_array(const FeatureMatrix& m, int64_t row, FeatureRow& out) {
    const Value* data = static_cast<const Value*>(m.dense_data_) + row * m.n_features_;
    const auto append_columns = [&](int64_t begin, int64_t end) {
      append_nonzero(end - begin, out, [&](int64_t k) { return std::pair(begin + k, data[begin + k]); });
    };
    append_columns(0, m.dense_.begin);
    append_values(data + m.dense_.begin, m.dense_.size(), out);
    append_columns(m.dense_.end, m.n_features_);
  }

  template <class Value>
  static void read_dense(const FeatureMatrix& m, int64_t row, FeatureRow& out) {
    append_values(static_cast<const Value*>(m.dense_data_) + row * m.dense_.size(), m.dense_.size(), out);
  }

  template <class Value>
  static void append_values(const Value* values, int64_t n, FeatureRow& out) {
    const size_t size = out.dense.size();
    out.dense.resize(size + n);
    for (int64_t k = 0; k < n; ++k) out.dense[size + k] = static_cast<float>(values[k]);
  }

  // Appends those of n entries (pairs of index and value) that are not 0.
  template <class Entry>
  static void append_nonzero(int64_t n, FeatureRow& out, const Entry& entry) {
    size_t size = out.index.size();
    out.index.resize(size + n);
    out.value.resize(size + n);
    for (int64_t k = 0; k < n; ++k) {
      const auto [index, value] = entry(k);
      out.index[size] = static_cast<int32_t>(index);
      out.value[size] = static_cast<float>(value);
      size += value != 0;
    }
    out.index.resize(size);
    out.value.resize(size);
  }

  static void scale_to(double length, std::vector<float>& values, size_t begin) {
    double sum = 0;
    for (size_t k = begin; k < values.size(); ++k) sum += static_cast<double>(values[k]) * values[k];
    if (sum <= 0) return;
    const double scale = length / std::sqrt(sum);
    for (size_t k = begin; k < values.size(); ++k) values[k] = static_cast<float>(values[k] * scale);
  }

  int64_t n_rows_, n_features_;
  FeatureRange dense_;
  bool normalize_;
  double length_;                                     // of each part of a scaled row
  std::shared_ptr<const std::vector<int64_t>> rows_;  // their numbers; null for all
  const void* indptr_ = nullptr;
  const void* indices_ = nullptr;
  const void* data_ = nullptr;
  const void* dense_data_ = nullptr;
  Read read_ = nullptr;
  Read read_dense_ = nullptr;  // only where the dense features have an array of their own
  Capacity capacity_ = nullptr;
  // Of rows that are transformed.
  std::shared_ptr<const FeatureMatrix> base_;
  std::shared_ptr<const RowTransform> transform_;
};

}  // namespace labeltree
