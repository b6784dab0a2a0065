#include "rivals/one_vs_rest/max_margin.h"

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "bindings/model/blocks.h"

namespace labeltree {

namespace {

nb::dict train(int32_t n_labels, const BoundFeatures& features, Array<int64_t> label_indptr,
               Array<int32_t> label_indices, std::optional<Array<float>> sample_weight,
               const MaxMarginOptions& options, Progress& progress) {
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  check_labels(labels, label_indices.size(), n_labels);
  const float* weight = optional_weights(sample_weight, labels.n_rows);
  BlockArrays arrays;
  MaxMarginReport report;
  {
    nb::gil_scoped_release release;
    arrays = train_max_margin(n_labels, features.matrix, labels, weight, options, progress, report);
  }
  AlignedVector dense_weight = std::move(arrays.dense_weight);
  nb::dict result = to_numpy(std::move(arrays));
  if (features.matrix.dense().size() > 0) result["dense_weight"] = to_numpy(std::move(dense_weight));
  nb::dict told;
  told["n_columns"] = report.n_columns;
  told["n_unconverged"] = report.n_unconverged;
  told["n_constant"] = report.n_constant;
  told["n_row_visits"] = report.n_row_visits;
  told["n_pruned"] = report.n_pruned;
  told["n_passes"] = report.n_passes;
  told["n_active"] = report.n_active;
  told["objective"] = report.objective;
  told["duality_gap"] = report.duality_gap;
  result["report"] = told;
  return result;
}

}  // namespace

void bind_max_margin(nb::module_& m) {
  nb::class_<MaxMarginOptions>(m, "MaxMarginOptions")
      .def(nb::init<>())
      .def_rw("C", &MaxMarginOptions::C)
      .def_rw("l1", &MaxMarginOptions::l1)
      .def_rw("tol", &MaxMarginOptions::tol)
      .def_rw("max_iter", &MaxMarginOptions::max_iter)
      .def_rw("bias", &MaxMarginOptions::bias)
      .def_rw("prune", &MaxMarginOptions::prune)
      .def_rw("seed", &MaxMarginOptions::seed)
      .def_rw("n_threads", &MaxMarginOptions::n_threads);

  m.def("train_max_margin", &train, nb::arg("n_labels"), nb::arg("features"),
        nb::arg("label_indptr").noconvert(), nb::arg("label_indices").noconvert(),
        nb::arg("sample_weight").noconvert().none(), nb::arg("options"), nb::arg("progress"),
        "Train all labels of a flat tree for a margin; returns the arrays of the blocks and a report.");
}

}  // namespace labeltree
