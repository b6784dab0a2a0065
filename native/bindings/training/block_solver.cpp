#include "training/block_solver.h"

#include <nanobind/stl/optional.h>

#include "bindings/bindings.h"
#include "bindings/training/assignments.h"
#include "bindings/training/reports.h"

namespace labeltree {

namespace {

nb::dict bound_train_blocks(const BoundTree& tree, const BoundExamples& examples,
                            const SolverOptions& options, Progress& progress,
                            const std::optional<nb::dict>& assignment, int64_t first_block,
                            int64_t last_block) {
  check_labels_of(examples.view, tree.view);
  const BlockRange range = block_range(tree.view, first_block, last_block);
  Assignment assigned(assignment);
  BlockArrays arrays;
  TrainingReport report;
  {
    nb::gil_scoped_release release;
    const NodeRows rows = assigned.find(tree.view, examples.view, range, options.n_threads, progress);
    arrays = train_blocks(tree.view, examples.view, rows, range, options, progress, report);
  }
  nb::dict told = common_report(report);
  if (options.joint_siblings) told["n_joint"] = report.n_joint;
  // A part has codes even if it has no joint block: another part may have some.
  const bool is_part = range.size() < all_blocks(tree.view).size();
  return trained(std::move(arrays), examples, told, options.joint_siblings && is_part);
}

}  // namespace

void bind_block_solver(nb::module_& m) {
  m.def("train_blocks", &bound_train_blocks, nb::arg("tree"), nb::arg("examples"), nb::arg("options"),
        nb::arg("progress"), nb::arg("assignment") = nb::none(), nb::arg("first_block") = 0,
        nb::arg("last_block") = -1,
        "Train the node classifiers of a tree, or those of a range of its blocks; returns the arrays of the "
        "blocks and a report. `assignment` is the result of assign_rows, which is found if not given. The "
        "arrays of a range count from 0; otherwise they are those of the whole.");
}

}  // namespace labeltree
