#include "training/block_costs.h"

#include "bindings/bindings.h"
#include "bindings/training/assignments.h"

namespace labeltree {

namespace {

nb::dict costs_of(const BoundTree& tree, const BoundExamples& examples, const nb::dict& assignment,
                  const SolverOptions& options, Progress& progress) {
  check_labels_of(examples.view, tree.view);
  Assignment assigned(assignment);
  BlockCosts costs;
  {
    nb::gil_scoped_release release;
    const NodeRows rows =
        assigned.find(tree.view, examples.view, all_blocks(tree.view), options.n_threads, progress);
    costs = block_costs(tree.view, examples.view, rows, options, progress);
  }
  nb::dict result;
  result["n_rows"] = to_numpy(std::move(costs.n_rows));
  result["n_entries"] = to_numpy(std::move(costs.n_entries));
  result["n_columns"] = to_numpy(std::move(costs.n_columns));
  return result;
}

}  // namespace

void bind_block_costs(nb::module_& m) {
  m.def("block_costs", &costs_of, nb::arg("tree"), nb::arg("examples"), nb::arg("assignment"),
        nb::arg("options"), nb::arg("progress"),
        "What training costs per block: n_rows, n_entries and n_columns, the columns that need learning.");
}

}  // namespace labeltree
