// The examples, as the user gave them: CSR or dense, 32- or 64-bit numbers, never copied as a whole.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace labeltree {

// One example: its non-zero features, in the order they were given, with values.
struct FeatureRow {
  std::vector<int32_t> index;
  std::vector<float> value;

  void clear() {
    index.clear();
    value.clear();
  }
};

// A read-only view. Rows come out as FeatureRow, scaled to unit length if asked: what is done to the rows in
// training is thereby done to them in prediction. The arrays belong to the caller, who has checked them.
class FeatureMatrix {
 public:
  template <class Offset, class Index, class Value>
  static FeatureMatrix csr(int64_t n_rows, int64_t n_features, const Offset* indptr, const Index* indices,
                           const Value* data, bool normalize) {
    return {n_rows,
            n_features,
            normalize,
            indptr,
            indices,
            data,
            &read_csr<Offset, Index, Value>,
            [](const FeatureMatrix& m, int64_t row) {
              const Offset* begin = static_cast<const Offset*>(m.indptr_) + row;
              return static_cast<int64_t>(begin[1] - begin[0]);
            }};
  }

  template <class Value>
  static FeatureMatrix dense(int64_t n_rows, int64_t n_features, const Value* data, bool normalize) {
    return {
        n_rows,  n_features, normalize,          nullptr,
        nullptr, data,       &read_dense<Value>, [](const FeatureMatrix&, int64_t) { return int64_t{0}; }};
  }

  int64_t n_rows() const { return n_rows_; }
  int64_t n_features() const { return n_features_; }

  // How many entries the row has at most, as far as that can be told without reading it; else 0.
  int64_t row_capacity(int64_t row) const { return capacity_(*this, row); }

  // Appends the row to `out`.
  void append(int64_t row, FeatureRow& out) const {
    const size_t begin = out.value.size();
    read_(*this, row, out);
    if (!normalize_) return;
    double sum = 0;
    for (size_t k = begin; k < out.value.size(); ++k) sum += static_cast<double>(out.value[k]) * out.value[k];
    if (sum <= 0) return;
    const double scale = 1 / std::sqrt(sum);
    for (size_t k = begin; k < out.value.size(); ++k) out.value[k] = static_cast<float>(out.value[k] * scale);
  }

 private:
  using Read = void (*)(const FeatureMatrix&, int64_t, FeatureRow&);
  using Capacity = int64_t (*)(const FeatureMatrix&, int64_t);

  FeatureMatrix(int64_t n_rows, int64_t n_features, bool normalize, const void* indptr, const void* indices,
                const void* data, Read read, Capacity capacity)
      : n_rows_(n_rows),
        n_features_(n_features),
        normalize_(normalize),
        indptr_(indptr),
        indices_(indices),
        data_(data),
        read_(read),
        capacity_(capacity) {}

  template <class Offset, class Index, class Value>
  static void read_csr(const FeatureMatrix& m, int64_t row, FeatureRow& out) {
    const Offset* indptr = static_cast<const Offset*>(m.indptr_);
    const Index* indices = static_cast<const Index*>(m.indices_);
    const Value* data = static_cast<const Value*>(m.data_);
    const int64_t begin = static_cast<int64_t>(indptr[row]), end = static_cast<int64_t>(indptr[row + 1]);
    append_nonzero(end - begin, out,
                   [&](int64_t k) { return std::pair(indices[begin + k], data[begin + k]); });
  }

  template <class Value>
  static void read_dense(const FeatureMatrix& m, int64_t row, FeatureRow& out) {
    const Value* data = static_cast<const Value*>(m.data_) + row * m.n_features_;
    append_nonzero(m.n_features_, out, [&](int64_t k) { return std::pair(k, data[k]); });
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

  int64_t n_rows_, n_features_;
  bool normalize_;
  const void* indptr_;
  const void* indices_;
  const void* data_;
  Read read_;
  Capacity capacity_;
};

}  // namespace labeltree
