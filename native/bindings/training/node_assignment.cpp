#include "training/node_assignment.h"

#include "bindings/bindings.h"
#include "bindings/core/views.h"

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

}  // namespace

void bind_node_assignment(nb::module_& m) {
  m.def("assign_to_nodes", &assign, nb::arg("tree"), nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_threads"),
        "The rows with a label below each node, as row_begin and rows.");
}

}  // namespace labeltree
