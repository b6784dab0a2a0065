#include "rivals/softmax/softmax_trainer.h"

#include "bindings/bindings.h"
#include "bindings/training/reports.h"

namespace labeltree {

namespace {

nb::dict bound_train_softmax(const BoundTree& tree, const BoundExamples& examples,
                             const SolverOptions& options, Progress& progress) {
  check_labels_of(examples.view, tree.view);
  BlockArrays arrays;
  TrainingReport report;
  {
    nb::gil_scoped_release release;
    arrays = train_softmax(tree.view, examples.view, options, progress, report);
  }
  return trained(std::move(arrays), examples, common_report(report));
}

}  // namespace

void bind_softmax_trainer(nb::module_& m) {
  m.def("train_softmax", &bound_train_softmax, nb::arg("tree"), nb::arg("examples"), nb::arg("options"),
        nb::arg("progress"),
        "Train hierarchical softmax on a tree; returns the arrays of the blocks and a report.");
}

}  // namespace labeltree
