#include "training/held_out_blocks.h"

#include "bindings/bindings.h"
#include "bindings/core/views.h"

namespace labeltree {

namespace {

nb::dict groups_of(const BoundTree& tree, const BoundExamples& examples, int n_threads) {
  check_labels_of(examples.view, tree.view);
  BlockGroups groups;
  {
    nb::gil_scoped_release release;
    groups = block_groups(tree.view, examples.view, n_threads, Progress());
  }
  nb::dict result;
  result["block"] = to_numpy(std::move(groups.block));
  result["begin"] = to_numpy(std::move(groups.begin));
  result["end"] = to_numpy(std::move(groups.end));
  result["level"] = to_numpy(std::move(groups.level));
  result["n_rows"] = to_numpy(std::move(groups.n_rows));
  result["n_entries"] = to_numpy(std::move(groups.n_entries));
  return result;
}

nb::dict hold_out(const BoundTree& tree, const BoundExamples& examples, const SolverOptions& options,
                  Array<uint8_t> held_out, Array<int32_t> block, Array<int32_t> begin, Array<int32_t> end,
                  Array<float> C_values, double negative_share, Progress& progress) {
  check_labels_of(examples.view, tree.view);
  require_length(held_out.size(), examples.view.n_rows(), "held_out", "row of X");
  require_length(begin.size(), static_cast<int64_t>(block.size()), "begin", "block");
  require_length(end.size(), static_cast<int64_t>(block.size()), "end", "block");
  require(C_values.size() > 0, "C_values must have at least one value");
  HeldOutTask task{held_out.data(), {}, {C_values.data(), C_values.data() + C_values.size()}, negative_share};
  for (size_t g = 0; g < block.size(); ++g) {
    task.groups.push_back({block.data()[g], begin.data()[g], end.data()[g]});
  }
  HeldOutPairs pairs;
  {
    nb::gil_scoped_release release;
    pairs = held_out_blocks(tree.view, examples.view, options, task, progress);
  }
  const size_t n_pairs = pairs.node.size();
  nb::dict result;
  result["group_begin"] = to_numpy(std::move(pairs.group_begin));
  result["node"] = to_numpy(std::move(pairs.node));
  result["row"] = to_numpy(std::move(pairs.row));
  result["positive"] = to_numpy(std::move(pairs.positive));
  result["score"] = to_numpy_of(std::move(pairs.score), {n_pairs, C_values.size()});
  return result;
}

}  // namespace

void bind_held_out_blocks(nb::module_& m) {
  m.def("block_groups", &groups_of, nb::arg("tree"), nb::arg("examples"), nb::arg("n_threads"),
        "The groups of sibling columns that train_blocks solves together: block, begin, end, level, n_rows "
        "and n_entries of each.");
  m.def("held_out_blocks", &hold_out, nb::arg("tree"), nb::arg("examples"), nb::arg("options"),
        nb::arg("held_out").noconvert(), nb::arg("block").noconvert(), nb::arg("begin").noconvert(),
        nb::arg("end").noconvert(), nb::arg("C_values").noconvert(), nb::arg("negative_share"),
        nb::arg("progress"),
        "Learn groups of columns from the rows where held_out is 0, with each C, and score the rows where it "
        "is 1; returns group_begin, node, row, positive and score of the pairs.");
}

}  // namespace labeltree
