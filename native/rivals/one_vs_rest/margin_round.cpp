#include "rivals/one_vs_rest/margin_round.h"

#include <cstddef>

namespace labeltree {

void MarginRound::step(MarginExample* examples, int64_t n, const float* products) {
  for (int64_t i = 0; i < n; ++i) {
    if (examples[i].is_resting) continue;
    for (ActiveLabel& active : examples[i].active) {
      active.step = 0;
      sharing_[active.label].push_back({i, &active});
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!examples[i].is_resting && !examples[i].active.empty())
      step_one(examples[i], products + i * n, products[i * n + i]);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (const ActiveLabel& active : examples[i].active) sharing_[active.label].clear();
  }
}

void MarginRound::step_one(MarginExample& example, const float* products, double squared_norm) {
  projection_.clear();
  for (const ActiveLabel& active : example.active) {
    double score = active.score;
    for (const Share& share : sharing_[active.label]) score += products[share.example] * share.active->step;
    projection_.add(active.is_positive, active.strength, active.is_positive ? score - 1 : -score,
                    squared_norm);
  }
  const std::vector<float>& strength = projection_.solve(example.cost);
  for (std::size_t k = 0; k < strength.size(); ++k) {
    ActiveLabel& active = example.active[k];
    const float change = strength[k] - active.strength;
    active.step = active.is_positive ? change : -change;
    active.strength = strength[k];
  }
}

}  // namespace labeltree
