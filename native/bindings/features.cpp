#include <cmath>

#include "arrays.h"
#include "bindings.h"

namespace labeltree {

namespace {

[[noreturn]] void bad_row(int64_t row, const std::string& what) {
  throw std::invalid_argument("X, row " + std::to_string(row) + ": " + what);
}

// Checks what the kernel relies on. Returns whether the rows are sorted and free of duplicates.
template <class Index, class Value>
bool check_csr(const Index* indptr, int64_t n_rows, const Index* indices, int64_t n_indices,
               const Value* data, int64_t n_features) {
  bool canonical = true;
  if (indptr[0] != 0) throw std::invalid_argument("X: indptr must start with 0");
  for (int64_t row = 0; row < n_rows; ++row) {
    const int64_t begin = indptr[row], end = indptr[row + 1];
    if (end < begin || end > n_indices) bad_row(row, "indptr is not ascending within the length of indices");
    int64_t last = -1;
    for (int64_t k = begin; k < end; ++k) {
      const int64_t index = indices[k];
      if (index < 0 || index >= n_features) {
        bad_row(row, "feature " + std::to_string(index) + " is outside 0.." + std::to_string(n_features - 1));
      }
      if (!(std::fabs(data[k]) <= static_cast<Value>(3.4e38))) {
        bad_row(row, "feature " + std::to_string(index) + " is NaN, inf or too large for float32");
      }
      canonical = canonical && index > last;
      last = index;
    }
  }
  return canonical;
}

template <class Index, class Value>
BoundFeatures from_csr(Array<Index> indptr, Array<Index> indices, Array<Value> data, int64_t n_features,
                       bool normalize) {
  require(indptr.size() > 0 && indices.size() == data.size(),
          "X: indptr, indices and data do not fit together");
  require(n_features >= 0 && n_features < INT32_MAX, "X must have fewer than 2,147,483,647 features");
  const int64_t n_rows = static_cast<int64_t>(indptr.size()) - 1;
  bool canonical;
  {
    nb::gil_scoped_release release;
    canonical = check_csr(indptr.data(), n_rows, indices.data(), static_cast<int64_t>(indices.size()),
                          data.data(), n_features);
  }
  return {FeatureMatrix::csr(n_rows, n_features, indptr.data(), indices.data(), data.data(), normalize),
          {nb::cast(indptr), nb::cast(indices), nb::cast(data)},
          canonical};
}

template <class Value>
BoundFeatures from_dense(Matrix<Value> data, bool normalize) {
  const int64_t n_rows = static_cast<int64_t>(data.shape(0)),
                n_features = static_cast<int64_t>(data.shape(1));
  {
    nb::gil_scoped_release release;
    for (int64_t i = 0; i < n_rows * n_features; ++i) {
      if (std::fabs(data.data()[i]) <= static_cast<Value>(3.4e38)) continue;
      bad_row(i / n_features,
              "feature " + std::to_string(i % n_features) + " is NaN, inf or too large for float32");
    }
  }
  return {FeatureMatrix::dense(n_rows, n_features, data.data(), normalize), {nb::cast(data), {}, {}}, true};
}

template <class Index, class Value>
void def_csr(nb::class_<BoundFeatures>& c) {
  c.def_static("csr", &from_csr<Index, Value>, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
               nb::arg("data").noconvert(), nb::arg("n_features"), nb::arg("normalize"));
}

}  // namespace

void bind_features(nb::module_& m) {
  nb::class_<BoundFeatures> c(m, "FeatureMatrix", "Rows of X, looked at where they are; checked when made.");
  def_csr<int32_t, float>(c);
  def_csr<int32_t, double>(c);
  def_csr<int64_t, float>(c);
  def_csr<int64_t, double>(c);
  c.def_static("dense", &from_dense<float>, nb::arg("data").noconvert(), nb::arg("normalize"));
  c.def_static("dense", &from_dense<double>, nb::arg("data").noconvert(), nb::arg("normalize"));
  c.def_prop_ro("n_rows", [](const BoundFeatures& f) { return f.matrix.n_rows(); });
  c.def_prop_ro("n_features", [](const BoundFeatures& f) { return f.matrix.n_features(); });
  c.def(
      "row",
      [](const BoundFeatures& f, int64_t row) {
        require(row >= 0 && row < f.matrix.n_rows(), "the row is out of range");
        FeatureRow out;
        f.matrix.append(row, out);
        return nb::make_tuple(to_numpy(std::move(out.index)), to_numpy(std::move(out.value)));
      },
      nb::arg("row"), "The features of a row and their values, as the kernel sees them.");
  c.def_ro("canonical", &BoundFeatures::canonical, "Whether features ascend in every row, none twice.");
}

}  // namespace labeltree
