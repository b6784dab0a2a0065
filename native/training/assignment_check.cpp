#include "training/assignment_check.h"

#include <stdexcept>
#include <string>

#include "core/advance.h"
#include "core/parallel_for.h"
#include "model/block_arrays.h"

namespace labeltree {

namespace {

[[noreturn]] void refuse_assignment(const std::string& expected, const std::string& got) {
  throw std::invalid_argument("assignment: expected " + expected + ", got " + got +
                              "; use the result of assign_rows for this tree and these examples");
}

void check_length(const char* name, int64_t expected, int64_t got) {
  if (got != expected)
    refuse_assignment(std::to_string(expected) + " entries of " + name, std::to_string(got));
}

void check_node(const NodeRows& rows, int32_t node, int64_t n_rows) {
  int64_t before = -1;
  for (const int32_t* row = rows.begin(node); row != rows.begin(node) + rows.n_rows(node); ++row) {
    if (*row <= before || *row >= n_rows) {
      refuse_assignment("ascending rows below " + std::to_string(n_rows) + " of node " + std::to_string(node),
                        std::to_string(*row) + (before < 0 ? "" : " after " + std::to_string(before)));
    }
    before = *row;
  }
}

void check_children(const SiblingBlock& block, const NodeRows& rows) {
  const int32_t* end = block.rows + block.n_rows;
  for (int32_t v = block.first_node; v < block.first_node + block.n_nodes; ++v) {
    const int32_t* at = block.rows;
    for (const int32_t* row = rows.begin(v); row != rows.begin(v) + rows.n_rows(v); ++row) {
      at = advance_to(at, end, *row);
      if (at == end || *at != *row) {
        refuse_assignment("rows of node " + std::to_string(v) + " that its parent has too",
                          std::to_string(*row));
      }
    }
    if (rows.weight == nullptr) continue;
    for (int64_t k = rows.row_begin[v]; k < rows.row_begin[v + 1]; ++k) {
      if (!(rows.weight[k] >= 0))
        refuse_assignment("weights that are not below 0", std::to_string(rows.weight[k]));
    }
  }
}

}  // namespace

void check_assignment(const GivenAssignment& given, const LabelTreeView& tree, const Examples& examples,
                      const BlockRange& range, int n_threads, const Progress& progress) {
  const NodeRows& rows = given.view;
  check_length("row_begin", int64_t{tree.n_nodes} + 1, given.n_row_begin);
  if (rows.row_begin[0] != 0)
    refuse_assignment("row_begin that starts with 0", std::to_string(rows.row_begin[0]));
  for (int32_t v = 0; v < tree.n_nodes; ++v) {
    if (rows.n_rows(v) >= 0) continue;
    refuse_assignment("row_begin that does not decrease", std::to_string(rows.row_begin[v + 1]) + " after " +
                                                              std::to_string(rows.row_begin[v]) +
                                                              " at node " + std::to_string(v));
  }
  check_length("rows", rows.row_begin[tree.n_nodes], given.n_rows);
  const bool has_weight = rows.weight != nullptr, needs_weight = examples.label_weight != nullptr;
  if (has_weight != needs_weight) {
    refuse_assignment(
        needs_weight ? "weight, since labels have weights" : "no weight, since labels have no weights",
        has_weight ? "one" : "none");
  }
  if (has_weight) check_length("weight", given.n_rows, given.n_weights);

  // Now that the lists lie within the arrays, those of the range. Children of one block are parents in
  // another.
  const int64_t n_rows = examples.n_rows();
  std::vector<int32_t> all_rows;
  const std::vector<SiblingBlock> blocks = sibling_blocks(tree, rows, n_rows, range, all_rows);
  const std::vector<int32_t> inner = inner_nodes(tree);
  parallel_for(n_threads, range.size(), [&](int64_t b, int) {
    progress.check();
    const SiblingBlock& block = blocks[b];
    if (range.first + b > 0) check_node(rows, inner[range.first + b - 1], n_rows);
    for (int32_t c = 0; c < block.n_nodes; ++c) check_node(rows, block.first_node + c, n_rows);
    check_children(block, rows);
  });
}

}  // namespace labeltree
