#include "clustering/label_vectors.h"

#include "bindings/bindings.h"
#include "bindings/core/views.h"

namespace labeltree {

namespace {

using Make = LabelVectors (*)(const Examples&, float, int, Progress&);

template <Make make>
LabelVectors make_vectors(const BoundExamples& examples, float prune, int n_threads, Progress& progress) {
  nb::gil_scoped_release release;
  return make(examples.view, prune, n_threads, progress);
}

LabelVectors join(const LabelVectors& first, const LabelVectors& second) {
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
          [](const LabelVectors& vectors) {
            return nb::make_tuple(to_numpy(std::vector(vectors.begin)), to_numpy(std::vector(vectors.index)),
                                  to_numpy(std::vector(vectors.value)));
          },
          "Copies of the arrays of a CSR matrix with a row per label: indptr, indices and data.");
  m.def("label_vectors", &make_vectors<label_vectors>, nb::arg("examples"), nb::arg("prune"),
        nb::arg("n_threads"), nb::arg("progress"), "The sums of the labels' examples.");
  m.def("cooccurrence_vectors", &make_vectors<cooccurrence_vectors>, nb::arg("examples"), nb::arg("prune"),
        nb::arg("n_threads"), nb::arg("progress"), "The sums of the label sets of the labels' examples.");
  m.def("join_vectors", &join, nb::arg("first"), nb::arg("second"),
        "Vectors of two kinds side by side, of the same weight.");
}

}  // namespace labeltree
