#include "training/group_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "lanes/kernels.h"

namespace labeltree {

namespace {

// Where those features are among the local numbers, which ascend.
std::pair<int32_t, int32_t> local_range(const LocalBlock& rows, const FeatureRange& range) {
  const auto at = [&](int64_t feature) {
    return static_cast<int32_t>(std::lower_bound(rows.feature.begin(), rows.feature.end(), feature) -
                                rows.feature.begin());
  };
  return {at(range.begin), at(range.end)};
}

}  // namespace

// A block has two rows or more, so the bias is never a single feature.
GroupWeights kept_weights(const GroupProblem& problem, const SingleFeatures& singles,
                          const LaneWeights& learned, const int32_t* columns, bool has_bias,
                          const FeatureRange& dense, float prune) {
  const auto [weights, alpha, lanes] = learned;
  const int64_t n_rows = problem.rows.n_rows();
  const auto [dense_begin, dense_end] = local_range(problem.rows, dense);
  // Dense features are the first or the last.
  const int32_t first_local = dense_begin == 0 ? dense_end : 0;
  const int32_t last_local = dense_begin == 0 ? problem.rows.n_features() - has_bias : dense_begin;
  const size_t n_singles = singles.feature.size();
  std::vector<uint32_t> large(last_local), supported(n_rows), candidates(n_rows);
  GroupWeights kept;
  kept.n_pruned = lane_kernels().find_large(weights + int64_t{first_local} * lanes, last_local - first_local,
                                            lanes, prune, large.data() + first_local);
  if (n_singles > 0) {
    float largest = 0;
    for (const float value : singles.value) largest = std::max(largest, std::fabs(value));
    // A little less, so that rounding loses none.
    const float bound = largest > 0 ? 0.999999f * (prune / largest) : 0;
    lane_kernels().find_large(alpha, n_rows, lanes, 0, supported.data());
    lane_kernels().find_large(alpha, n_rows, lanes, bound, candidates.data());
  }

  const auto keep = [&](int lane, float weight) {
    kept.column.push_back(static_cast<uint32_t>(columns[lane]));
    kept.weight.push_back(weight);
  };
  const auto end_feature = [&](int32_t feature) {
    const uint32_t end = static_cast<uint32_t>(kept.column.size());
    if (end == (kept.entry_end.empty() ? 0 : kept.entry_end.back())) return;
    kept.feature.push_back(feature);
    kept.entry_end.push_back(end);
  };
  size_t single = 0;
  const auto keep_singles_before = [&](int32_t feature) {
    for (; single < n_singles && singles.feature[single] < feature; ++single) {
      const int32_t row = singles.row[single];
      kept.n_pruned += __builtin_popcount(supported[row]);
      for (uint32_t left = candidates[row]; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const float a = alpha[static_cast<int64_t>(row) * lanes + lane];
        const float weight = singles.value[single] * (problem.positive[row] >> lane & 1 ? a : -a);
        if (std::fabs(weight) < prune) continue;
        keep(lane, weight);
        --kept.n_pruned;
      }
      end_feature(singles.feature[single]);
    }
  };
  for (int32_t local = first_local; local < last_local; ++local) {
    if (large[local] == 0) continue;
    keep_singles_before(problem.rows.feature[local]);
    for (uint32_t left = large[local]; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      keep(lane, weights[static_cast<int64_t>(local) * lanes + lane]);
    }
    end_feature(problem.rows.feature[local]);
  }
  keep_singles_before(std::numeric_limits<int32_t>::max());
  // It waits until all groups are solved: without the room that it grew into.
  kept.feature.shrink_to_fit();
  kept.entry_end.shrink_to_fit();
  kept.column.shrink_to_fit();
  kept.weight.shrink_to_fit();
  return kept;
}

void keep_dense_weights(const LocalBlock& rows, const LaneWeights& learned, const int32_t* columns,
                        int n_columns, const FeatureRange& dense, float* panels) {
  const auto keep = [&](int64_t d, int64_t local) {
    const float* weights = learned.weights + local * learned.lanes;
    for (int lane = 0; lane < n_columns; ++lane) {
      const int64_t row = columns[lane] / kPanelColumns * dense.size() + d;
      panels[row * kPanelColumns + columns[lane] % kPanelColumns] = weights[lane];
    }
  };
  for (int64_t d = 0; d < rows.n_dense; ++d) keep(d, rows.n_features() + d);
  if (rows.n_dense > 0) return;
  const auto [begin, end] = local_range(rows, dense);
  for (int32_t local = begin; local < end; ++local) keep(rows.feature[local] - dense.begin, local);
}

void assemble_blocks(std::vector<GroupWeights>& groups, const std::vector<int32_t>& block_of_group,
                     size_t n_blocks, const Progress& progress, BlockArrays& arrays) {
  std::vector<size_t> first_group(n_blocks + 1, groups.size());
  for (size_t g = groups.size(); g-- > 0;) first_group[block_of_group[g]] = g;
  for (size_t b = n_blocks; b-- > 0;) first_group[b] = std::min(first_group[b], first_group[b + 1]);

  // Room for all at once: to grow would take twice the memory, and the results are given up one by one.
  size_t n_features = 0, n_weights = 0;
  for (const GroupWeights& group : groups) {
    n_features += group.feature.size();
    n_weights += group.weight.size();
  }
  arrays.feature.reserve(n_features);
  arrays.entry_begin.reserve(n_features + n_blocks);
  arrays.column.reserve(n_weights);
  arrays.weight.reserve(n_weights);
  arrays.block_begin.assign(n_blocks + 1, 0);
  arrays.block_entry_begin.assign(n_blocks + 1, 0);
  for (size_t b = 0; b < n_blocks; ++b) {
    progress.check();
    // The features of the block: the union of its groups', all sorted.
    std::vector<int32_t> features;
    int64_t n_entries = 0;
    for (size_t g = first_group[b]; g < first_group[b + 1]; ++g) {
      features.insert(features.end(), groups[g].feature.begin(), groups[g].feature.end());
      n_entries += static_cast<int64_t>(groups[g].column.size());
    }
    if (n_entries > std::numeric_limits<uint32_t>::max()) {
      throw std::length_error("a sibling block has more than 4,294,967,295 weights; use a larger prune");
    }
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());

    std::vector<size_t> at(first_group[b + 1] - first_group[b], 0);
    arrays.entry_begin.push_back(0);
    for (const int32_t feature : features) {
      const size_t begin = arrays.column.size();
      for (size_t i = 0; i < at.size(); ++i) {
        const GroupWeights& group = groups[first_group[b] + i];
        if (at[i] == group.feature.size() || group.feature[at[i]] != feature) continue;
        const uint32_t from = at[i] == 0 ? 0 : group.entry_end[at[i] - 1], to = group.entry_end[at[i]];
        arrays.column.insert(arrays.column.end(), group.column.begin() + from, group.column.begin() + to);
        arrays.weight.insert(arrays.weight.end(), group.weight.begin() + from, group.weight.begin() + to);
        ++at[i];
      }
      arrays.entry_begin.push_back(arrays.entry_begin.back() +
                                   static_cast<uint32_t>(arrays.column.size() - begin));
    }
    arrays.feature.insert(arrays.feature.end(), features.begin(), features.end());
    arrays.block_begin[b + 1] = static_cast<int64_t>(arrays.feature.size());
    arrays.block_entry_begin[b + 1] = static_cast<int64_t>(arrays.column.size());
    for (size_t g = first_group[b]; g < first_group[b + 1]; ++g) groups[g] = {};
  }
}

}  // namespace labeltree
