#include "core/examples.h"

#include "bindings/bindings.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"

namespace labeltree {

namespace {

// One value per row or label, or null for None.
const float* optional_weights(nb::handle weights, int64_t n, const char* name, const char* what) {
  if (weights.is_none()) return nullptr;
  const auto array = array_of<float>(weights, name, "float32");
  require_length(array.size(), n, name, what);
  return array.data();
}

void make_examples(BoundExamples* self, nb::object features, nb::object label_indptr,
                   nb::object label_indices, int32_t n_labels, nb::object sample_weight,
                   nb::object label_weight) {
  const FeatureMatrix& matrix = nb::cast<const BoundFeatures&>(features).matrix;
  const auto indptr = array_of<int64_t>(label_indptr, "label_indptr", "int64");
  const auto indices = array_of<int32_t>(label_indices, "label_indices", "int32");
  const LabelMatrixView labels = label_view(indptr, indices, matrix.n_rows());
  {
    const nb::gil_scoped_release release;
    check_labels(labels, indices.size(), n_labels);
  }
  const float* of_row = optional_weights(sample_weight, labels.n_rows, "sample_weight", "row of X");
  const float* of_label = optional_weights(label_weight, n_labels, "label_weight", "label");
  new (self) BoundExamples{{matrix, labels, n_labels, of_row, of_label},
                           features,
                           label_indptr,
                           label_indices,
                           sample_weight,
                           label_weight};
}

}  // namespace

void bind_examples(nb::module_& m) {
  nb::class_<BoundExamples>(m, "Examples", nb::type_slots(reference_slots<BoundExamples>),
                            "Rows of X with their labels and weights, looked at where they are; checked when "
                            "made.")
      .def(
          "__init__", &make_examples, nb::arg("features"), nb::arg("label_indptr"), nb::arg("label_indices"),
          nb::arg("n_labels"), nb::arg("sample_weight") = nb::none(), nb::arg("label_weight") = nb::none(),
          nb::sig("def __init__(self, features: FeatureMatrix, label_indptr: NDArray[numpy.int64], "
                  "label_indices: NDArray[numpy.int32], n_labels: int, sample_weight: "
                  "NDArray[numpy.float32] | None = None, label_weight: NDArray[numpy.float32] | None = None) "
                  "-> None"))
      .def_prop_ro("n_rows", [](const BoundExamples& examples) { return examples.view.n_rows(); })
      .def_prop_ro("n_labels", [](const BoundExamples& examples) { return examples.view.n_labels; });
}

}  // namespace labeltree
