// From the scores of nodes to probabilities, as learned from held-out rows: one map for each level of a tree.
#pragma once

#include <cstdint>
#include <vector>

namespace labeltree {

// Takes the place of the link where a model is calibrated. All levels have a map of one kind: the sigmoid of
// slope * score + intercept; or straight lines between knots, whose scores ascend and whose probabilities do
// not descend, and the last knot's probability beyond. Few numbers: they are copied, not looked into.
struct LevelMaps {
  std::vector<float> slope, intercept;  // per level
  std::vector<int64_t> knot_begin;      // per level, and the end of the last
  std::vector<float> knot_score, knot_probability;

  bool empty() const { return slope.empty() && knot_begin.empty(); }

  // Throws CorruptModel unless there is a map for each level, and each is monotone.
  void check(int64_t n_levels) const;

  // The probabilities of n scores of nodes on this level; 0 for NaN.
  void apply(int32_t level, float* scores, int32_t n) const;
  // Every score below this one has a probability p with parent * p < least.
  float cut(int32_t level, float parent, float least) const;

 private:
  float sigmoid(int32_t level, float score) const;
  float interpolate(int32_t level, float score) const;
};

// The score of a node whose probability came otherwise than by a score: its log-odds, within bounds.
float log_odds(float probability);

}  // namespace labeltree
