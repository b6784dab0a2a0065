#include "training/held_out_blocks.h"

#include <nanobind/stl/optional.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "bindings/training/assignments.h"

namespace labeltree {

namespace {

nb::dict hold_out(const BoundTree& tree, const BoundExamples& examples, const SolverOptions& options,
                  Array<uint8_t> held_out, Array<int32_t> block, Array<int64_t> column_begin,
                  Array<int32_t> column, Matrix<float> C_values, int64_t most_rows, double negative_share,
                  Progress& progress, const std::optional<nb::dict>& assignment) {
  check_labels_of(examples.view, tree.view);
  require_length(held_out.size(), examples.view.n_rows(), "held_out", "row of X");
  require_length(column_begin.size(), static_cast<int64_t>(block.size()) + 1, "column_begin",
                 "block and the end");
  require(std::is_sorted(column_begin.data(), column_begin.data() + column_begin.size()) &&
              column_begin.data()[0] == 0 &&
              column_begin.data()[block.size()] == static_cast<int64_t>(column.size()),
          "column_begin must ascend from 0 to the number of columns");
  require_length(C_values.shape(0), static_cast<int64_t>(block.size()), "C_values", "block");
  const size_t n_C = C_values.shape(1);
  require(n_C > 0, "C_values must have at least one value for each block");
  HeldOutTask task{held_out.data(), {}, C_values.data(), n_C, most_rows, negative_share};
  for (size_t g = 0; g < block.size(); ++g) {
    const int64_t* begin = column_begin.data() + g;
    task.groups.push_back({block.data()[g], column.data() + begin[0], begin[1] - begin[0]});
  }
  Assignment assigned(assignment);
  HeldOutPairs pairs;
  {
    nb::gil_scoped_release release;
    const NodeRows rows =
        assigned.find(tree.view, examples.view, all_blocks(tree.view), options.n_threads, progress);
    pairs = held_out_blocks(tree.view, examples.view, rows, options, task, progress);
  }
  const size_t n_pairs = pairs.node.size();
  nb::dict result;
  result["group_begin"] = to_numpy(std::move(pairs.group_begin));
  result["node"] = to_numpy(std::move(pairs.node));
  result["row"] = to_numpy(std::move(pairs.row));
  result["column"] = to_numpy(std::move(pairs.column));
  result["positive"] = to_numpy(std::move(pairs.positive));
  result["score"] = to_numpy_of(std::move(pairs.score), {n_pairs, n_C});
  return result;
}

}  // namespace

void bind_held_out_blocks(nb::module_& m) {
  m.def("held_out_blocks", &hold_out, nb::arg("tree"), nb::arg("examples"), nb::arg("options"),
        nb::arg("held_out").noconvert(), nb::arg("block").noconvert(), nb::arg("column_begin").noconvert(),
        nb::arg("column").noconvert(), nb::arg("C_values").noconvert(), nb::arg("most_rows"),
        nb::arg("negative_share"), nb::arg("progress"), nb::arg("assignment") = nb::none(),
        "Learn groups of columns of blocks from the rows where held_out is 0, with each C of the group, and "
        "score the rows where it is 1; returns group_begin, node, row, column, positive and score of the "
        "pairs.");
}

}  // namespace labeltree
