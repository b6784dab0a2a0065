#include "training/group_examples.h"

#include <algorithm>

#include "core/advance.h"
#include "lanes/kernels.h"

namespace labeltree {

namespace {

// Calls visit(i, c, k) for every row i of the block that has a label below the c-th of these columns; k is
// its place in assignment.rows. The block may have a part of the rows of its node.
template <class Visit>
void visit_positive(const SiblingBlock& block, const int32_t* columns, int n_columns,
                    const NodeRows& assignment, const Visit& visit) {
  for (int c = 0; c < n_columns; ++c) {
    const int32_t node = block.first_node + columns[c];
    const int32_t* at = block.rows;
    const int32_t* end = block.rows + block.n_rows;
    for (int64_t k = assignment.row_begin[node]; k < assignment.row_begin[node + 1]; ++k) {
      at = advance_to(at, end, assignment.rows[k]);
      if (at == end) break;
      if (*at == assignment.rows[k]) visit(at - block.rows, c, k);
    }
  }
}

}  // namespace

std::vector<uint32_t> positive_columns(const SiblingBlock& block, const int32_t* columns, int n_columns,
                                       const NodeRows& assignment) {
  std::vector<uint32_t> positive(block.n_rows, 0);
  visit_positive(block, columns, n_columns, assignment,
                 [&](int64_t i, int c, int64_t) { positive[i] |= 1u << c; });
  return positive;
}

void GroupExamples::assign(const SiblingBlock& block, const int32_t* columns, int n_columns,
                           const NodeRows& assignment) {
  columns_ = columns;
  n_columns_ = n_columns;
  positive_ = positive_columns(block, columns, n_columns, assignment);
}

void GroupExamples::assign_positive(int64_t n_rows, int n_columns) {
  columns_ = nullptr;
  n_columns_ = n_columns;
  positive_.assign(n_rows, ~0u);
}

void GroupExamples::weigh(const SiblingBlock& block, const Examples& examples, float C,
                          const NodeRows& assignment) {
  cost_.resize(block.n_rows);
  for (int64_t i = 0; i < block.n_rows; ++i) cost_[i] = bounded_cost(C * examples.weight(block.rows[i]));
  has_lane_cost_ = columns_ != nullptr && assignment.weight != nullptr;
  if (has_lane_cost_) {
    weigh_lanes(block, examples, std::vector<float>(lanes_for(n_columns_), C), assignment);
  }
}

void GroupExamples::weigh(const SiblingBlock& block, const Examples& examples, const std::vector<float>& C,
                          const NodeRows& assignment) {
  weigh(block, examples, C[0], assignment);
  if (std::equal(C.begin() + 1, C.end(), C.begin())) return;
  has_lane_cost_ = true;
  std::vector<float> of_lane(lanes_for(n_columns_), C[0]);
  std::copy(C.begin(), C.end(), of_lane.begin());
  weigh_lanes(block, examples, of_lane, assignment);
}

// Negative rows cost what they do without weights of labels.
void GroupExamples::weigh_lanes(const SiblingBlock& block, const Examples& examples,
                                const std::vector<float>& C, const NodeRows& assignment) {
  const size_t lanes = C.size();
  lane_cost_.reset(block.n_rows * lanes);
  for (int64_t i = 0; i < block.n_rows; ++i) {
    const float weight = examples.weight(block.rows[i]);
    for (size_t j = 0; j < lanes; ++j) lane_cost_.data()[i * lanes + j] = bounded_cost(C[j] * weight);
  }
  if (assignment.weight == nullptr) return;
  visit_positive(block, columns_, n_columns_, assignment, [&](int64_t i, int lane, int64_t k) {
    float& cost = lane_cost_.data()[i * lanes + lane];
    cost = bounded_cost(cost * assignment.weight[k]);
  });
}

GroupProblem GroupExamples::problem(const BlockRows& rows, const int32_t* row_number) const {
  return {rows.local,
          row_number,
          rows.squared_norm.data(),
          rows.singles.squared_norm.data(),
          cost_.data(),
          has_lane_cost_ ? lane_cost_.data() : nullptr,
          positive_,
          n_columns_};
}

}  // namespace labeltree
