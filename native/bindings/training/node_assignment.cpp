#include "training/node_assignment.h"

#include "bindings/bindings.h"
#include "bindings/training/assignments.h"

namespace labeltree {

namespace {

nb::tuple assign(const BoundTree& tree, Array<int64_t> label_indptr, Array<int32_t> label_indices,
                 int n_threads) {
  const LabelMatrixView labels =
      label_view(label_indptr, label_indices, static_cast<int64_t>(label_indptr.size()) - 1);
  NodeAssignment assignment;
  {
    nb::gil_scoped_release release;
    check_labels(labels, label_indices.size(), tree.view.n_labels);
    assignment = assign_to_nodes(tree.view, labels, nullptr, n_threads, Progress());
  }
  return nb::make_tuple(to_numpy(std::move(assignment.row_begin)), to_numpy(std::move(assignment.rows)));
}

nb::dict assign_rows(const BoundTree& tree, const BoundExamples& examples, int n_threads,
                     Progress& progress) {
  check_labels_of(examples.view, tree.view);
  const Examples& view = examples.view;
  NodeAssignment assignment;
  {
    nb::gil_scoped_release release;
    assignment = assign_to_nodes(tree.view, view.labels, view.label_weight, n_threads, progress);
  }
  return to_numpy(std::move(assignment), view.label_weight != nullptr);
}

}  // namespace

void bind_node_assignment(nb::module_& m) {
  m.def("assign_to_nodes", &assign, nb::arg("tree"), nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_threads"),
        "The rows with a label below each node, as row_begin and rows.");
  m.def("assign_rows", &assign_rows, nb::arg("tree"), nb::arg("examples"), nb::arg("n_threads"),
        nb::arg("progress"),
        "The rows with a label below each node, to be given to train_blocks: row_begin, rows and, if labels "
        "have weights, weight, the largest of the row's labels below the node.");
}

}  // namespace labeltree
