#include "clustering/label_vectors.h"

#include "bindings/bindings.h"
#include "bindings/core/views.h"

namespace labeltree {

namespace {

using Make = LabelVectors (*)(const Examples&, float, const LabelRange&, int, Progress&);

template <Make make>
LabelVectors make_vectors(const BoundExamples& examples, float prune, int n_threads, Progress& progress,
                          int64_t first, int64_t last) {
  const int64_t n_labels = examples.view.n_labels, end = last == -1 ? n_labels : last;
  if (!(first >= 0 && first <= end && end <= n_labels)) {
    throw std::invalid_argument("expected first and last in ascending order from 0 to " +
                                std::to_string(n_labels) + ", or -1 for the last label, got " +
                                std::to_string(first) + " and " + std::to_string(last));
  }
  nb::gil_scoped_release release;
  return make(examples.view, prune, {static_cast<int32_t>(first), static_cast<int32_t>(end)}, n_threads,
              progress);
}

template <Make make>
void def_make(nb::module_& m, const char* name, const char* text) {
  m.def(name, &make_vectors<make>, nb::arg("examples"), nb::arg("prune"), nb::arg("n_threads"),
        nb::arg("progress"), nb::arg("first") = 0, nb::arg("last") = -1, text);
}

// A view of one of the arrays, which keeps the vectors alive.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> view_of(std::vector<T>& values, nb::handle owner) {
  const size_t shape[] = {values.size()};
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(values.data(), 1, shape, owner);
}

LabelVectors join_label_vectors(const LabelVectors& first, const LabelVectors& second) {
  require(first.n_labels() == second.n_labels(), "both must be vectors of the same labels");
  require(first.n_features + second.n_features < INT32_MAX,
          "features and labels together must be fewer than 2,147,483,647");
  nb::gil_scoped_release release;
  return join_vectors(first, second);
}

}  // namespace

void bind_label_vectors(nb::module_& m) {
  nb::class_<LabelVectors>(m, "LabelVectors", "A vector of unit length for every label that has examples.")
      .def_ro("n_features", &LabelVectors::n_features)
      .def(
          "arrays",
          [](nb::object self) {
            LabelVectors& vectors = nb::cast<LabelVectors&>(self);
            return nb::make_tuple(view_of(vectors.begin, self), view_of(vectors.index, self),
                                  view_of(vectors.value, self));
          },
          nb::sig("def arrays(self) -> tuple"),
          "The arrays of a CSR matrix with a row per label, without a copy: indptr, indices and data.");
  def_make<label_vectors>(m, "label_vectors",
                          "The sums of the examples of each label, or of each label from first to last - 1.");
  def_make<cooccurrence_vectors>(
      m, "cooccurrence_vectors",
      "The sums of the label sets of the examples of each label, or of each label from first to last - 1.");
  m.def("join_vectors", &join_label_vectors, nb::arg("first"), nb::arg("second"),
        "Vectors of two kinds side by side, of the same weight.");
}

}  // namespace labeltree
