#include "training/block_solver.h"

#include "bindings/bindings.h"
#include "bindings/training/reports.h"

namespace labeltree {

namespace {

nb::dict train(const BoundTree& tree, const BoundExamples& examples, const SolverOptions& options,
               Progress& progress) {
  check_labels_of(examples.view, tree.view);
  BlockArrays arrays;
  TrainingReport report;
  {
    nb::gil_scoped_release release;
    arrays = train_blocks(tree.view, examples.view, options, progress, report);
  }
  nb::dict told = common_report(report);
  if (options.joint_siblings) told["n_joint"] = report.n_joint;
  return trained(std::move(arrays), examples, told);
}

}  // namespace

void bind_block_solver(nb::module_& m) {
  m.def("train_blocks", &train, nb::arg("tree"), nb::arg("examples"), nb::arg("options"), nb::arg("progress"),
        "Train all node classifiers of a tree; returns the arrays of the blocks and a report.");
}

}  // namespace labeltree
