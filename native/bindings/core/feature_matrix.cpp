#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/core/csr_check.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"
#include "core/dense_range.h"
#include "core/parallel_for.h"
#include "embedding/hidden_transform.h"

namespace labeltree {

namespace {

// Checks what the kernel relies on.
template <class Value>
void check_array(const Value* data, int64_t n_rows, int64_t n_features) {
  for (int64_t i = 0; i < n_rows * n_features; ++i) {
    if (std::fabs(data[i]) <= static_cast<Value>(3.4e38)) continue;
    bad_row(i / n_features,
            "feature " + std::to_string(i % n_features) + " is NaN, inf or too large for float32");
  }
}

template <class Offset, class Index, class Value>
bool check_arrays(const Array<Offset>& indptr, const Array<Index>& indices, const Array<Value>& data,
                  int64_t n_features) {
  require(indptr.size() > 0 && indices.size() == data.size(),
          "X: indptr, indices and data do not fit together");
  require(n_features >= 0 && n_features < INT32_MAX, "X must have fewer than 2,147,483,647 features");
  nb::gil_scoped_release release;
  return check_csr(indptr.data(), static_cast<int64_t>(indptr.size()) - 1, indices.data(),
                   static_cast<int64_t>(indices.size()), data.data(), n_features);
}

template <class Offset, class Index, class Value>
BoundFeatures from_csr(Array<Offset> indptr, Array<Index> indices, Array<Value> data, int64_t n_features,
                       bool normalize, Range dense) {
  const bool canonical = check_arrays(indptr, indices, data, n_features);
  const int64_t n_rows = static_cast<int64_t>(indptr.size()) - 1;
  FeatureRange range;
  if (dense) {
    range = checked_range(*dense, n_features);
  } else if (canonical) {
    nb::gil_scoped_release release;
    range = dense_range(indptr.data(), n_rows, indices.data(), data.data(), n_features);
  }
  return {
      FeatureMatrix::csr(n_rows, n_features, indptr.data(), indices.data(), data.data(), normalize, range),
      {nb::cast(indptr), nb::cast(indices), nb::cast(data)},
      canonical};
}

// The arrays of rows that were made of texts.
std::vector<nb::object> arrays_of(const std::shared_ptr<WeightedRows>& rows) {
  using Owner = std::shared_ptr<WeightedRows>;
  const nb::capsule owner(std::make_unique<Owner>(rows).release(),
                          [](void* p) noexcept { delete static_cast<Owner*>(p); });
  const auto array = [&](auto* data, size_t size) {
    using Item = std::remove_pointer_t<decltype(data)>;
    return nb::cast(nb::ndarray<nb::numpy, Item, nb::ndim<1>>(data, {size}, owner));
  };
  const auto n = static_cast<size_t>(rows->indptr.back());
  return {array(rows->indptr.data(), rows->indptr.size()), array(rows->indices.get(), n),
          array(rows->data.get(), n)};
}

template <class Value>
BoundFeatures from_array(Matrix<Value> data, bool normalize, Range dense) {
  const int64_t n_rows = static_cast<int64_t>(data.shape(0)),
                n_features = static_cast<int64_t>(data.shape(1));
  FeatureRange range;
  {
    nb::gil_scoped_release release;
    check_array(data.data(), n_rows, n_features);
    range = dense ? checked_range(*dense, n_features) : dense_range(data.data(), n_rows, n_features);
  }
  return {FeatureMatrix::array(n_rows, n_features, data.data(), normalize, range), {nb::cast(data)}, true};
}

template <class Index, class Value, class DenseValue>
BoundFeatures from_pair(Array<Index> indptr, Array<Index> indices, Array<Value> data, int64_t n_sparse,
                        Matrix<DenseValue> dense, bool normalize) {
  const bool canonical = check_arrays(indptr, indices, data, n_sparse);
  const int64_t n_rows = static_cast<int64_t>(indptr.size()) - 1,
                n_dense = static_cast<int64_t>(dense.shape(1));
  require(static_cast<int64_t>(dense.shape(0)) == n_rows, "the two parts of X must have equally many rows");
  require(n_sparse + n_dense < INT32_MAX, "X must have fewer than 2,147,483,647 features");
  {
    nb::gil_scoped_release release;
    check_array(dense.data(), n_rows, n_dense);
  }
  return {FeatureMatrix::pair(n_rows, n_sparse, indptr.data(), indices.data(), data.data(), n_dense,
                              dense.data(), normalize),
          {nb::cast(indptr), nb::cast(indices), nb::cast(data), nb::cast(dense)},
          canonical};
}

template <class Offset, class Index, class Value>
void def_csr(nb::class_<BoundFeatures>& c) {
  c.def_static("csr", &from_csr<Offset, Index, Value>, nb::arg("indptr").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("data").noconvert(), nb::arg("n_features"),
               nb::arg("normalize"), nb::arg("dense_features").none() = nb::make_tuple(0, 0));
}

template <class Index, class Value, class DenseValue>
void def_pair(nb::class_<BoundFeatures>& c) {
  c.def_static("pair", &from_pair<Index, Value, DenseValue>, nb::arg("indptr").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("data").noconvert(), nb::arg("n_sparse"),
               nb::arg("dense").noconvert(), nb::arg("normalize"));
}

template <class Index>
void def_pairs(nb::class_<BoundFeatures>& c) {
  def_pair<Index, float, float>(c);
  def_pair<Index, float, double>(c);
  def_pair<Index, double, float>(c);
  def_pair<Index, double, double>(c);
}

template <class Value>
void def_array(nb::class_<BoundFeatures>& c) {
  c.def_static("dense", &from_array<Value>, nb::arg("data").noconvert(), nb::arg("normalize"),
               nb::arg("dense_features").none() = nb::make_tuple(0, 0));
}

// Rows of words as the sums of the vectors of these words.
template <class Item>
BoundFeatures hidden_rows(const BoundFeatures& features, Matrix<Item> vectors,
                          std::optional<Array<float>> scale, bool mean) {
  const int64_t n_words = static_cast<int64_t>(vectors.shape(0)),
                dimension = static_cast<int64_t>(vectors.shape(1));
  require(n_words == features.matrix.n_features(), "vectors must have one entry per feature");
  require(dimension >= 1 && dimension < INT32_MAX, "vectors must have a dimension");
  require(scale.has_value() == std::is_same_v<Item, int8_t>, "vectors of int8, and only these, have scales");
  if (scale) require_length(scale->size(), n_words, "scale", "feature");
  VectorMatrix words;
  words.type = vector_type<Item>();
  words.data = vectors.data();
  words.scale = scale ? scale->data() : nullptr;
  words.n_vectors = n_words;
  words.dimension = words.stride = dimension;
  BoundFeatures hidden{
      FeatureMatrix::transformed(features.matrix, std::make_shared<const HiddenTransform>(words, mean)),
      features.owners, true, features.text_rows};
  hidden.owners.push_back(nb::cast(vectors));
  if (scale) hidden.owners.push_back(nb::cast(*scale));
  return hidden;
}

template <class Item>
void def_hidden(nb::class_<BoundFeatures>& c) {
  c.def("hidden", &hidden_rows<Item>, nb::arg("vectors").noconvert(), nb::arg("scale").noconvert().none(),
        nb::arg("mean"), "The rows as sums of the vectors of their features, times the values.");
}

}  // namespace

void bind_feature_matrix(nb::module_& m) {
  nb::class_<BoundFeatures> c(m, "FeatureMatrix", nb::type_slots(reference_slots<BoundFeatures>),
                              "Rows of X, looked at where they are; checked when made.");
  def_csr<int32_t, int32_t, float>(c);
  def_csr<int32_t, int32_t, double>(c);
  def_csr<int64_t, int64_t, float>(c);
  def_csr<int64_t, int64_t, double>(c);
  // Arrays that are mapped from a file: many entries, but few features.
  def_csr<int64_t, int32_t, float>(c);
  def_csr<int64_t, int32_t, double>(c);
  def_array<float>(c);
  def_array<double>(c);
  def_pairs<int32_t>(c);
  def_pairs<int64_t>(c);
  c.def_prop_ro("n_rows", [](const BoundFeatures& f) { return f.matrix.n_rows(); });
  c.def_prop_ro("n_features", [](const BoundFeatures& f) { return f.matrix.n_features(); });
  c.def_prop_ro(
      "dense_features",
      [](const BoundFeatures& f) { return std::pair(f.matrix.dense().begin, f.matrix.dense().end); },
      "The range of features that are handled as dense ones.");
  c.def_prop_ro("normalize", [](const BoundFeatures& f) { return f.matrix.normalize(); });
  c.def_prop_ro(
      "arrays",
      [](const BoundFeatures& f) { return f.text_rows == nullptr ? f.owners : arrays_of(f.text_rows); },
      nb::sig("def arrays(self) -> list[numpy.typing.NDArray]"),
      "The arrays it was made of: data; indptr, indices and data; or these and the dense data.");
  c.def_prop_ro(
      "rows",
      [](const BoundFeatures& f) -> nb::object {
        if (f.matrix.rows() == nullptr) return nb::none();
        return nb::cast(to_numpy(std::vector<int64_t>(*f.matrix.rows())));
      },
      nb::sig("def rows(self) -> numpy.typing.NDArray[numpy.int64] | None"),
      "The numbers of the rows in the arrays, or None for all rows.");
  c.def(
      "row",
      [](const BoundFeatures& f, int64_t row) {
        require(row >= 0 && row < f.matrix.n_rows(), "the row is out of range");
        FeatureRow out;
        f.matrix.append_entries(row, out);
        return nb::make_tuple(to_numpy(std::move(out.index)), to_numpy(std::move(out.value)));
      },
      nb::arg("row"), "The features of a row and their values, as the kernel sees them.");
  c.def(
      "take",
      [](const BoundFeatures& f, Array<int64_t> rows) -> BoundFeatures {
        for (size_t i = 0; i < rows.size(); ++i) {
          require(rows.data()[i] >= 0 && rows.data()[i] < f.matrix.n_rows(), "a row is out of range");
        }
        return {f.matrix.take(rows.data(), static_cast<int64_t>(rows.size())), f.owners, f.canonical,
                f.text_rows};
      },
      nb::arg("rows").noconvert(), "Some of the rows, in this order.");
  c.def(
      "dense_rows",
      [](const BoundFeatures& f, int n_threads) {
        const int64_t n_rows = f.matrix.n_rows(), n_dense = f.matrix.dense().size();
        std::vector<float> values(n_rows * n_dense);
        {
          nb::gil_scoped_release release;
          parallel_ranges(n_threads, n_rows, 256, [&](int64_t begin, int64_t end, int) {
            FeatureRow row;
            for (int64_t r = begin; r < end; ++r) {
              row.clear();
              f.matrix.append(r, row);
              std::copy(row.dense.begin(), row.dense.end(), values.begin() + r * n_dense);
            }
          });
        }
        return to_numpy_of(std::move(values), {static_cast<size_t>(n_rows), static_cast<size_t>(n_dense)});
      },
      nb::arg("n_threads"), "The dense features of all rows.");
  def_hidden<float>(c);
  def_hidden<uint16_t>(c);
  def_hidden<int8_t>(c);
  c.def_ro("canonical", &BoundFeatures::canonical, "Whether features ascend in every row, none twice.");
}

}  // namespace labeltree
