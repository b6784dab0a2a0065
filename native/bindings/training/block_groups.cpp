#include "training/block_groups.h"

#include <nanobind/stl/optional.h>

#include "bindings/bindings.h"
#include "bindings/training/assignments.h"

namespace labeltree {

namespace {

nb::dict groups_of(const BoundTree& tree, const BoundExamples& examples, int n_threads,
                   const std::optional<nb::dict>& assignment) {
  check_labels_of(examples.view, tree.view);
  Assignment assigned(assignment);
  BlockGroups groups;
  {
    nb::gil_scoped_release release;
    const NodeRows rows =
        assigned.find(tree.view, examples.view, all_blocks(tree.view), n_threads, Progress());
    groups = block_groups(tree.view, examples.view, rows, Progress());
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

}  // namespace

void bind_block_groups(nb::module_& m) {
  m.def("block_groups", &groups_of, nb::arg("tree"), nb::arg("examples"), nb::arg("n_threads"),
        nb::arg("assignment") = nb::none(),
        "The groups of sibling columns that train_blocks solves together: block, begin, end, level, n_rows "
        "and n_entries of each.");
}

}  // namespace labeltree
