#include "training/block_solver.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "bindings/model/blocks.h"
#include "rivals/softmax/softmax_trainer.h"

namespace labeltree {

namespace {

nb::tuple assign(Array<int32_t> child_begin, Array<int32_t> label, int32_t n_labels,
                 Array<int64_t> label_indptr, Array<int32_t> label_indices, int n_threads) {
  const LabelTreeView tree = tree_view(child_begin, label, n_labels);
  const LabelMatrixView labels =
      label_view(label_indptr, label_indices, static_cast<int64_t>(label_indptr.size()) - 1);
  NodeAssignment assignment;
  {
    nb::gil_scoped_release release;
    assignment = assign_to_nodes(tree, labels, nullptr, n_threads, Progress());
  }
  return nb::make_tuple(to_numpy(std::move(assignment.row_begin)), to_numpy(std::move(assignment.rows)));
}

// What train_blocks and train_softmax return: the arrays, and under "report" what there is to tell.
nb::dict trained(BlockArrays arrays, bool has_dense, const TrainingReport& report, bool tells_joint) {
  AlignedVector dense_weight = std::move(arrays.dense_weight);
  nb::dict result = to_numpy(std::move(arrays));
  if (has_dense) result["dense_weight"] = to_numpy(std::move(dense_weight));
  nb::dict told;
  told["n_columns"] = report.n_columns;
  told["n_unconverged"] = report.n_unconverged;
  told["n_constant"] = report.n_constant;
  told["n_row_visits"] = report.n_row_visits;
  told["n_pruned"] = report.n_pruned;
  told["n_passes"] = report.n_passes;
  if (tells_joint) told["n_joint"] = report.n_joint;
  result["report"] = told;
  return result;
}

nb::dict train(Array<int32_t> child_begin, Array<int32_t> label, int32_t n_labels,
               const BoundFeatures& features, Array<int64_t> label_indptr, Array<int32_t> label_indices,
               std::optional<Array<float>> sample_weight, std::optional<Array<float>> label_weight,
               const SolverOptions& options, Progress& progress) {
  const LabelTreeView tree = tree_view(child_begin, label, n_labels);
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  const float* weight = optional_weights(sample_weight, labels.n_rows);
  require(!label_weight || static_cast<int32_t>(label_weight->size()) == n_labels,
          "label_weight must have one entry per label");
  require(options.block_C.empty() || options.block_C.size() == inner_nodes(tree).size() + 1,
          "block_C must have one entry per block");
  BlockArrays arrays;
  TrainingReport report;
  {
    nb::gil_scoped_release release;
    const NodeAssignment assignment = assign_to_nodes(
        tree, labels, label_weight ? label_weight->data() : nullptr, options.n_threads, progress);
    arrays = train_blocks(tree, features.matrix, assignment, weight, options, progress, report);
  }
  return trained(std::move(arrays), features.matrix.dense().size() > 0, report, options.joint_siblings);
}

nb::dict train_with_softmax(Array<int32_t> child_begin, Array<int32_t> label, int32_t n_labels,
                            const BoundFeatures& features, Array<int64_t> label_indptr,
                            Array<int32_t> label_indices, std::optional<Array<float>> sample_weight,
                            const SolverOptions& options, Progress& progress) {
  const LabelTreeView tree = tree_view(child_begin, label, n_labels);
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  const float* weight = optional_weights(sample_weight, labels.n_rows);
  check_labels(labels, label_indices.size(), n_labels);
  BlockArrays arrays;
  TrainingReport report;
  {
    nb::gil_scoped_release release;
    const NodeAssignment assignment = assign_to_nodes(tree, labels, nullptr, options.n_threads, progress);
    arrays = train_softmax(tree, features.matrix, labels, assignment, weight, options, progress, report);
  }
  return trained(std::move(arrays), features.matrix.dense().size() > 0, report, false);
}

}  // namespace

void bind_training(nb::module_& m) {
  nb::exception<Cancelled>(m, "Cancelled");
  nb::class_<Progress>(m, "Progress", "How far a computation is; cancel() stops it.")
      .def(nb::init<>())
      .def_prop_ro("done", [](const Progress& p) { return p.done.load(); })
      .def_prop_ro("total", [](const Progress& p) { return p.total.load(); })
      .def("cancel", [](Progress& p) { p.cancelled = true; });

  nb::enum_<Loss>(m, "Loss")
      .value("squared_hinge", Loss::squared_hinge)
      .value("logistic", Loss::logistic)
      .value("squared", Loss::squared)
      .value("exponential", Loss::exponential);
  nb::enum_<Penalty>(m, "Penalty").value("l2", Penalty::l2).value("l1", Penalty::l1);
  nb::enum_<Solver>(m, "Solver")
      .value("descent", Solver::descent)
      .value("adagrad", Solver::adagrad)
      .value("sgd", Solver::sgd)
      .value("fobos", Solver::fobos)
      .value("sparse", Solver::sparse);
  nb::class_<SolverOptions>(m, "SolverOptions")
      .def(nb::init<>())
      .def_rw("solver", &SolverOptions::solver)
      .def_rw("loss", &SolverOptions::loss)
      .def_rw("penalty", &SolverOptions::penalty)
      .def_rw("joint_siblings", &SolverOptions::joint_siblings)
      .def_rw("C", &SolverOptions::C)
      .def_rw("block_C", &SolverOptions::block_C)
      .def_rw("tol", &SolverOptions::tol)
      .def_rw("max_iter", &SolverOptions::max_iter)
      .def_rw("l1", &SolverOptions::l1)
      .def_rw("learning_rate", &SolverOptions::learning_rate)
      .def_rw("epochs", &SolverOptions::epochs)
      .def_rw("regularization", &SolverOptions::regularization)
      .def_rw("bias", &SolverOptions::bias)
      .def_rw("prune", &SolverOptions::prune)
      .def_rw("seed", &SolverOptions::seed)
      .def_rw("n_threads", &SolverOptions::n_threads);

  m.def("assign_to_nodes", &assign, nb::arg("child_begin").noconvert(), nb::arg("label").noconvert(),
        nb::arg("n_labels"), nb::arg("label_indptr").noconvert(), nb::arg("label_indices").noconvert(),
        nb::arg("n_threads"), "The rows with a label below each node, as row_begin and rows.");
  m.def("train_blocks", &train, nb::arg("child_begin").noconvert(), nb::arg("label").noconvert(),
        nb::arg("n_labels"), nb::arg("features"), nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("sample_weight").noconvert().none(),
        nb::arg("label_weight").noconvert().none(), nb::arg("options"), nb::arg("progress"),
        "Train all node classifiers of a tree; returns the arrays of the blocks and a report.");
  m.def("train_softmax", &train_with_softmax, nb::arg("child_begin").noconvert(),
        nb::arg("label").noconvert(), nb::arg("n_labels"), nb::arg("features"),
        nb::arg("label_indptr").noconvert(), nb::arg("label_indices").noconvert(),
        nb::arg("sample_weight").noconvert().none(), nb::arg("options"), nb::arg("progress"),
        "Train hierarchical softmax on a tree; returns the arrays of the blocks and a report.");
}

}  // namespace labeltree
