#include "block_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>

#include "lane_descent.h"
#include "local_block.h"
#include "parallel_for.h"
#include "random.h"
#include "single_features.h"

namespace labeltree {

namespace {

// The examples of one block, made by the first of its column groups that runs, freed by the last.
struct SharedRows {
  LocalBlock local;
  SingleFeatures singles;
  std::vector<float> squared_norm;
  std::vector<float> cost;
};

// One node whose children (or, for block 0, itself) are learned together.
struct Block {
  int32_t first_node;
  std::vector<int32_t> columns;  // those that need learning, frequent ones first
  const int32_t* rows;
  int64_t n_rows;
  std::mutex mutex;
  std::shared_ptr<SharedRows> shared;
  int groups_left = 0;
};

struct Group {
  int32_t block;
  int32_t begin, end;  // range of Block::columns
};

// What a group leaves behind: per kept feature, its entries.
struct GroupWeights {
  int64_t n_pruned = 0;
  std::vector<int32_t> feature;
  std::vector<uint32_t> entry_end;
  std::vector<uint32_t> column;
  std::vector<float> weight;
};

// Bit j of row i: whether example i of the block has a label below the group's j-th column.
std::vector<uint32_t> positive_lanes(const Block& block, const Group& group,
                                     const NodeAssignment& assignment) {
  std::vector<uint32_t> positive(block.n_rows, 0);
  for (int32_t c = group.begin; c < group.end; ++c) {
    const int32_t node = block.first_node + block.columns[c];
    const int32_t* at = block.rows;
    const int32_t* end = block.rows + block.n_rows;
    for (const int32_t* row = assignment.begin(node); row != assignment.begin(node) + assignment.n_rows(node);
         ++row) {
      at = std::lower_bound(at, end, *row);
      positive[at - block.rows] |= 1u << (c - group.begin);
    }
  }
  return positive;
}

// The weights of the group's columns that are not pruned, the bias left out. (A block has two rows or more,
// so the bias is never a single feature.)
GroupWeights kept_weights(const SharedRows& shared, const Block& block, const Group& group,
                          const std::vector<uint32_t>& positive, const LaneDescent& descent,
                          const SolverOptions& options) {
  const int lanes = descent.lanes();
  const int32_t n_local = shared.local.n_features() - (options.bias != 0);
  const SingleFeatures& singles = shared.singles;
  const size_t n_singles = singles.feature.size();
  std::vector<uint32_t> large(n_local), supported(block.n_rows);
  GroupWeights kept;
  kept.n_pruned = lane_kernels().find_large(descent.weights(), n_local, lanes, options.prune, large.data());
  lane_kernels().find_large(descent.alpha(), block.n_rows, lanes, 0, supported.data());

  const auto keep = [&](int lane, float weight) {
    kept.column.push_back(static_cast<uint32_t>(block.columns[group.begin + lane]));
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
      for (uint32_t left = supported[row]; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const float alpha = descent.alpha()[static_cast<int64_t>(row) * lanes + lane];
        const float weight = singles.value[single] * (positive[row] >> lane & 1 ? alpha : -alpha);
        if (std::fabs(weight) >= options.prune) {
          keep(lane, weight);
        } else {
          ++kept.n_pruned;
        }
      }
      end_feature(singles.feature[single]);
    }
  };
  for (int32_t local = 0; local < n_local; ++local) {
    if (large[local] == 0) continue;
    keep_singles_before(shared.local.feature[local]);
    for (uint32_t left = large[local]; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      keep(lane, descent.weights()[static_cast<int64_t>(local) * lanes + lane]);
    }
    end_feature(shared.local.feature[local]);
  }
  keep_singles_before(std::numeric_limits<int32_t>::max());
  return kept;
}

class Trainer {
 public:
  Trainer(const LabelTreeView& tree, const FeatureMatrix& features, const NodeAssignment& assignment,
          const float* sample_weight, const SolverOptions& options, Progress& progress,
          TrainingReport& report)
      : tree_(tree),
        features_(features),
        assignment_(assignment),
        sample_weight_(sample_weight),
        options_(options),
        progress_(progress),
        report_(report) {}

  BlockArrays train() {
    arrays_.bias.assign(tree_.n_nodes, 0.0f);
    plan();
    solve();
    assemble();
    return std::move(arrays_);
  }

 private:
  void plan();
  void add_block(Block& block, int32_t first_node, int32_t n_columns, const int32_t* rows, int64_t n_rows);
  void solve();
  void solve_group(size_t task, LocalBlockMaker& maker, LaneDescent& descent);
  std::shared_ptr<SharedRows> shared_rows(Block& block, LocalBlockMaker& maker) const;
  void assemble();

  const LabelTreeView& tree_;
  const FeatureMatrix& features_;
  const NodeAssignment& assignment_;
  const float* sample_weight_;
  const SolverOptions& options_;
  Progress& progress_;
  TrainingReport& report_;

  BlockArrays arrays_;
  std::vector<int32_t> all_rows_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Group> groups_;  // by block
  std::vector<GroupWeights> results_;
  std::mutex report_mutex_;
};

void Trainer::plan() {
  const std::vector<int32_t> inner = inner_nodes(tree_);
  blocks_.resize(inner.size() + 1);
  for (auto& block : blocks_) block = std::make_unique<Block>();
  all_rows_.resize(features_.n_rows());
  std::iota(all_rows_.begin(), all_rows_.end(), 0);
  add_block(*blocks_[0], 0, 1, all_rows_.data(), features_.n_rows());
  for (size_t i = 0; i < inner.size(); ++i) {
    const int32_t v = inner[i];
    add_block(*blocks_[i + 1], tree_.child_begin[v], tree_.n_children(v), assignment_.begin(v),
              assignment_.n_rows(v));
  }
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const int32_t n = static_cast<int32_t>(blocks_[b]->columns.size());
    for (int32_t begin = 0; begin < n; begin += kMaxLanes) {
      groups_.push_back({static_cast<int32_t>(b), begin, std::min(n, begin + kMaxLanes)});
      ++blocks_[b]->groups_left;
    }
  }
  results_.resize(groups_.size());
}

void Trainer::add_block(Block& block, int32_t first_node, int32_t n_columns, const int32_t* rows,
                        int64_t n_rows) {
  block.first_node = first_node;
  block.rows = rows;
  block.n_rows = n_rows;
  for (int32_t c = 0; c < n_columns; ++c) {
    const int64_t n_positive = assignment_.n_rows(first_node + c);
    if (n_positive > 0 && n_positive < n_rows) {
      block.columns.push_back(c);
    } else {
      arrays_.bias[first_node + c] = n_positive > 0 ? kCertainScore : -kCertainScore;
      ++report_.n_constant;
    }
  }
  report_.n_columns += static_cast<int64_t>(block.columns.size());
  // Columns of similar frequency need a similar number of passes: keep them in one group.
  std::stable_sort(block.columns.begin(), block.columns.end(), [&](int32_t a, int32_t b) {
    return assignment_.n_rows(first_node + a) > assignment_.n_rows(first_node + b);
  });
}

void Trainer::solve() {
  std::vector<size_t> tasks(groups_.size());
  std::iota(tasks.begin(), tasks.end(), size_t{0});
  // Largest first, so that no long task is left for the end; groups of one block stay together.
  std::stable_sort(tasks.begin(), tasks.end(), [&](size_t a, size_t b) {
    return blocks_[groups_[a].block]->n_rows > blocks_[groups_[b].block]->n_rows;
  });
  int64_t total = 0;
  for (const Group& group : groups_) total += blocks_[group.block]->n_rows;
  progress_.start(total);
  const int n_workers = std::max(options_.n_threads, 1);
  std::vector<std::unique_ptr<LocalBlockMaker>> makers(n_workers);
  std::vector<LaneDescent> descents(n_workers);
  parallel_for(n_workers, static_cast<int64_t>(tasks.size()), [&](int64_t task, int worker) {
    progress_.check();
    if (!makers[worker]) makers[worker] = std::make_unique<LocalBlockMaker>(features_.n_features());
    solve_group(tasks[task], *makers[worker], descents[worker]);
    progress_.advance(blocks_[groups_[tasks[task]].block]->n_rows);
  });
}

void Trainer::solve_group(size_t task, LocalBlockMaker& maker, LaneDescent& descent) {
  const Group& group = groups_[task];
  Block& block = *blocks_[group.block];
  const std::shared_ptr<SharedRows> shared = shared_rows(block, maker);
  const DescentProblem problem{shared->local,
                               shared->squared_norm.data(),
                               shared->singles.squared_norm.data(),
                               shared->cost.data(),
                               options_.loss,
                               options_.tol,
                               options_.max_iter};
  const std::vector<uint32_t> positive = positive_lanes(block, group, assignment_);
  descent.run(problem, positive, group.end - group.begin, mix_seed(options_.seed, task), progress_);
  results_[task] = kept_weights(*shared, block, group, positive, descent, options_);
  {
    const std::lock_guard lock(report_mutex_);
    report_.n_unconverged += descent.n_unconverged();
    report_.n_row_visits += descent.n_row_visits();
    report_.n_pruned += results_[task].n_pruned;
    report_.n_passes = std::max(report_.n_passes, descent.n_passes());
  }
  if (options_.bias == 0) return;
  const float* bias =
      descent.weights() + static_cast<int64_t>(shared->local.n_features() - 1) * descent.lanes();
  for (int32_t c = group.begin; c < group.end; ++c) {
    arrays_.bias[block.first_node + block.columns[c]] = bias[c - group.begin] * options_.bias;
  }
}

std::shared_ptr<SharedRows> Trainer::shared_rows(Block& block, LocalBlockMaker& maker) const {
  const std::lock_guard lock(block.mutex);
  if (!block.shared) {
    auto shared = std::make_shared<SharedRows>();
    shared->local = maker.make(features_, block.rows, block.n_rows, options_.bias, progress_);
    LocalBlock& local = shared->local;
    shared->squared_norm.resize(block.n_rows);
    shared->cost.resize(block.n_rows);
    for (int64_t i = 0; i < block.n_rows; ++i) {
      double sum = 0;
      for (int64_t k = local.row_begin[i]; k < local.row_begin[i + 1]; ++k) {
        sum += static_cast<double>(local.value[k]) * local.value[k];
      }
      shared->squared_norm[i] = static_cast<float>(sum);
      const float weight = sample_weight_ ? sample_weight_[block.rows[i]] : 1.0f;
      // A weight of 0 must not divide by 0, nor a huge one overflow.
      shared->cost[i] = std::clamp(options_.C * weight, 1e-10f, 1e10f);
    }
    shared->singles = take_singles(local);
    block.shared = std::move(shared);
  }
  std::shared_ptr<SharedRows> shared = block.shared;
  if (--block.groups_left == 0) block.shared.reset();
  return shared;
}

void Trainer::assemble() {
  const size_t n_blocks = blocks_.size();
  std::vector<size_t> first_group(n_blocks + 1, groups_.size());
  for (size_t g = groups_.size(); g-- > 0;) first_group[groups_[g].block] = g;
  for (size_t b = n_blocks; b-- > 0;) first_group[b] = std::min(first_group[b], first_group[b + 1]);

  // Room for all at once: to grow would take twice the memory, and the results are given up one by one.
  size_t n_features = 0, n_weights = 0;
  for (const GroupWeights& group : results_) {
    n_features += group.feature.size();
    n_weights += group.weight.size();
  }
  arrays_.feature.reserve(n_features);
  arrays_.entry_begin.reserve(n_features + n_blocks);
  arrays_.column.reserve(n_weights);
  arrays_.weight.reserve(n_weights);
  arrays_.block_begin.assign(n_blocks + 1, 0);
  arrays_.block_entry_begin.assign(n_blocks + 1, 0);
  for (size_t b = 0; b < n_blocks; ++b) {
    progress_.check();
    // The features of the block: the union of its groups', all sorted.
    std::vector<int32_t> features;
    int64_t n_entries = 0;
    for (size_t g = first_group[b]; g < first_group[b + 1]; ++g) {
      features.insert(features.end(), results_[g].feature.begin(), results_[g].feature.end());
      n_entries += static_cast<int64_t>(results_[g].column.size());
    }
    if (n_entries > std::numeric_limits<uint32_t>::max()) {
      throw std::length_error("a sibling block has more than 4,294,967,295 weights; use a larger prune");
    }
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());

    std::vector<size_t> at(first_group[b + 1] - first_group[b], 0);
    arrays_.entry_begin.push_back(0);
    for (const int32_t feature : features) {
      const size_t begin = arrays_.column.size();
      for (size_t i = 0; i < at.size(); ++i) {
        const GroupWeights& group = results_[first_group[b] + i];
        if (at[i] == group.feature.size() || group.feature[at[i]] != feature) continue;
        const uint32_t from = at[i] == 0 ? 0 : group.entry_end[at[i] - 1], to = group.entry_end[at[i]];
        arrays_.column.insert(arrays_.column.end(), group.column.begin() + from, group.column.begin() + to);
        arrays_.weight.insert(arrays_.weight.end(), group.weight.begin() + from, group.weight.begin() + to);
        ++at[i];
      }
      arrays_.entry_begin.push_back(arrays_.entry_begin.back() +
                                    static_cast<uint32_t>(arrays_.column.size() - begin));
    }
    arrays_.feature.insert(arrays_.feature.end(), features.begin(), features.end());
    arrays_.block_begin[b + 1] = static_cast<int64_t>(arrays_.feature.size());
    arrays_.block_entry_begin[b + 1] = static_cast<int64_t>(arrays_.column.size());
    for (size_t g = first_group[b]; g < first_group[b + 1]; ++g) results_[g] = {};
  }
}

}  // namespace

BlockArrays train_blocks(const LabelTreeView& tree, const FeatureMatrix& features,
                         const NodeAssignment& assignment, const float* sample_weight,
                         const SolverOptions& options, Progress& progress, TrainingReport& report) {
  return Trainer(tree, features, assignment, sample_weight, options, progress, report).train();
}

}  // namespace labeltree
