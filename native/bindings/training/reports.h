// What training returns: the arrays of the blocks, and under "report" what there is to tell.
#pragma once

#include <utility>

#include "bindings/model/blocks.h"
#include "training/block_solver.h"

namespace labeltree {

template <class Report>
nb::dict common_report(const Report& report) {
  nb::dict told;
  told["n_columns"] = report.n_columns;
  told["n_unconverged"] = report.n_unconverged;
  told["n_constant"] = report.n_constant;
  told["n_row_visits"] = report.n_row_visits;
  told["n_pruned"] = report.n_pruned;
  told["n_passes"] = report.n_passes;
  return told;
}

inline nb::dict trained(BlockArrays&& arrays, const BoundExamples& examples, const nb::dict& report,
                        bool has_codes = false) {
  nb::dict result = to_numpy(std::move(arrays), examples.view.features.dense().size() > 0, has_codes);
  result["report"] = report;
  return result;
}

}  // namespace labeltree
