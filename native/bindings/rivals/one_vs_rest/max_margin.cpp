#include "rivals/one_vs_rest/max_margin.h"

#include "bindings/bindings.h"
#include "bindings/training/reports.h"

namespace labeltree {

namespace {

nb::dict bound_train_max_margin(const BoundExamples& examples, const MaxMarginOptions& options,
                                Progress& progress) {
  BlockArrays arrays;
  MaxMarginReport report;
  {
    nb::gil_scoped_release release;
    arrays = train_max_margin(examples.view, options, progress, report);
  }
  nb::dict told = common_report(report);
  told["n_active"] = report.n_active;
  told["objective"] = report.objective;
  told["duality_gap"] = report.duality_gap;
  return trained(std::move(arrays), examples, told);
}

}  // namespace

void bind_max_margin(nb::module_& m) {
  const MaxMarginOptions by_default;
  nb::class_<MaxMarginOptions>(m, "MaxMarginOptions", "How all labels are learned at once for a margin.")
      .def(
          "__init__",
          [](MaxMarginOptions* self, float C, float l1, float tol, int max_iter, float bias, float prune,
             uint64_t seed, int n_threads) {
            new (self) MaxMarginOptions{C, l1, tol, max_iter, bias, prune, seed, n_threads};
          },
          nb::kw_only(), nb::arg("C") = by_default.C, nb::arg("l1") = by_default.l1,
          nb::arg("tol") = by_default.tol, nb::arg("max_iter") = by_default.max_iter,
          nb::arg("bias") = by_default.bias, nb::arg("prune") = by_default.prune,
          nb::arg("seed") = by_default.seed, nb::arg("n_threads") = by_default.n_threads);
  m.def("train_max_margin", &bound_train_max_margin, nb::arg("examples"), nb::arg("options"),
        nb::arg("progress"),
        "Train all labels of a flat tree for a margin; returns the arrays of the blocks and a report.");
}

}  // namespace labeltree
