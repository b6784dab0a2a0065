#include "training/held_out_blocks.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/parallel_for.h"
#include "core/random.h"
#include "core/shared_value.h"
#include "model/block_arrays.h"
#include "training/group_examples.h"
#include "training/group_solver.h"
#include "training/held_out_scores.h"

namespace labeltree {

namespace {

// The rows of a block to train on, and those held out.
struct BlockParts {
  std::vector<int32_t> kept, held_out;
  BlockRows kept_rows;
  LocalBlock held_out_rows;
};

// Where a pair is: a held-out row of its block and a column of its group.
struct Place {
  int32_t row, column;
};

// The pairs of one group.
struct GroupPairs {
  std::vector<int32_t> node, row;
  std::vector<uint8_t> column, positive;
  std::vector<float> score;  // [pair][C]
};

class HeldOutTrial {
 public:
  HeldOutTrial(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
               const SolverOptions& options, const HeldOutTask& task, Progress& progress)
      : examples_(examples),
        options_(options),
        task_(task),
        progress_(progress),
        assignment_(assignment),
        blocks_(sibling_blocks(tree, assignment_, examples.n_rows(), all_blocks(tree), all_rows_)),
        first_group_(blocks_.size() + 1, 0),
        parts_(blocks_.size()),
        train_share_(blocks_.size(), 0.0),
        pairs_(task.groups.size()) {
    check_groups();
    for (const HeldOutGroup& group : task_.groups) {
      parts_[group.block].add_user();
      train_share_[group.block] = std::max(train_share_[group.block], train_share(group));
    }
    for (const ColumnGroup& group : column_groups(blocks_)) ++first_group_[group.block + 1];
    std::partial_sum(first_group_.begin(), first_group_.end(), first_group_.begin());
  }

  HeldOutPairs run() {
    try_groups();
    return joined();
  }

 private:
  struct Worker {
    LocalBlockMaker maker;
    std::unique_ptr<GroupSolver> solver;
    GroupExamples examples;
    HeldOutScores scores;
  };

  void check_groups() const;
  void try_groups();
  void try_group(size_t number, Worker& worker);
  double train_share(const HeldOutGroup& group) const;
  BlockParts split(const SiblingBlock& block, double share, LocalBlockMaker& maker) const;
  std::vector<Place> draw(const SiblingBlock& held_out, const int32_t* columns, int n_columns,
                          GroupPairs& pairs) const;
  StoredGroup stored(const GroupProblem& problem, const SingleFeatures& singles,
                     const LaneWeights& learned) const;
  HeldOutPairs joined();

  const Examples& examples_;
  const SolverOptions& options_;
  const HeldOutTask& task_;
  Progress& progress_;
  const NodeRows assignment_;
  std::vector<int32_t> all_rows_;
  const std::vector<SiblingBlock> blocks_;
  std::vector<uint64_t> first_group_;  // of each block, among all groups of the tree
  std::vector<SharedValue<BlockParts>> parts_;
  std::vector<double> train_share_;  // of the rows of each block: the most that a group wants
  std::vector<GroupPairs> pairs_;    // of each group of the task
};

void HeldOutTrial::check_groups() const {
  for (size_t g = 0; g < task_.groups.size(); ++g) {
    const HeldOutGroup& group = task_.groups[g];
    const std::string name = "group " + std::to_string(g);
    if (group.block < 0 || group.block >= static_cast<int32_t>(blocks_.size())) {
      throw std::invalid_argument(name + ": expected one of the " + std::to_string(blocks_.size()) +
                                  " blocks of the tree, got number " + std::to_string(group.block));
    }
    const auto n = static_cast<int32_t>(blocks_[group.block].columns.size());
    if (group.n_columns < 1 || group.n_columns > kMaxLanes) {
      throw std::invalid_argument(name + ": expected 1 to " + std::to_string(kMaxLanes) + " columns, got " +
                                  std::to_string(group.n_columns));
    }
    int32_t before = -1;
    for (int64_t c = 0; c < group.n_columns; ++c) {
      const int32_t place = group.places[c];
      if (place <= before || place >= n) {
        throw std::invalid_argument(name + ": expected ascending numbers of the " + std::to_string(n) +
                                    " columns to learn of block " + std::to_string(group.block) + ", got " +
                                    std::to_string(place));
      }
      before = place;
    }
  }
}

void HeldOutTrial::try_groups() {
  std::vector<ColumnGroup> ranges;
  for (const HeldOutGroup& group : task_.groups) {
    ranges.push_back({group.block, group.places[0], group.places[group.n_columns - 1] + 1});
  }
  const std::vector<size_t> order = largest_first(ranges, blocks_);
  const auto n_rows = [&](size_t g) { return blocks_[task_.groups[g].block].n_rows; };
  int64_t total = 0;
  for (const size_t g : order) total += n_rows(g);
  progress_.start(total);
  const int n_workers = std::max(options_.n_threads, 1);
  std::vector<std::unique_ptr<Worker>> workers(n_workers);
  parallel_for(n_workers, static_cast<int64_t>(order.size()), [&](int64_t i, int number) {
    progress_.check();
    std::unique_ptr<Worker>& worker = workers[number];
    if (!worker) {
      worker.reset(
          new Worker{LocalBlockMaker(examples_.features.n_features()), make_group_solver(options_), {}, {}});
    }
    try_group(order[i], *worker);
    progress_.advance(n_rows(order[i]));
  });
}

void HeldOutTrial::try_group(size_t number, Worker& worker) {
  const HeldOutGroup& group = task_.groups[number];
  const SiblingBlock& block = blocks_[group.block];
  const auto n_columns = static_cast<int>(group.n_columns);
  int32_t columns[kMaxLanes];
  for (int c = 0; c < n_columns; ++c) columns[c] = block.columns[group.places[c]];
  const std::shared_ptr<const BlockParts> parts =
      parts_[group.block].take([&] { return split(block, train_share_[group.block], worker.maker); });
  const auto with_rows = [&](const std::vector<int32_t>& rows) {
    return SiblingBlock{block.first_node, block.n_nodes, {}, rows.data(), static_cast<int64_t>(rows.size())};
  };
  const SiblingBlock kept = with_rows(parts->kept), held_out = with_rows(parts->held_out);

  GroupPairs& pairs = pairs_[number];
  const std::vector<Place> places = draw(held_out, columns, n_columns, pairs);
  if (places.empty()) return;
  const size_t n_C = task_.n_C;
  const float* C_values = task_.C_values + number * n_C;
  pairs.score.resize(places.size() * n_C);

  int64_t n_positive[kMaxLanes] = {};
  for (uint32_t bits : positive_columns(kept, columns, n_columns, assignment_)) {
    for (; bits != 0; bits &= bits - 1) ++n_positive[__builtin_ctz(bits)];
  }
  // The lanes are the columns that the kept rows tell something about, in the order that training on these
  // rows would give them.
  std::vector<int> column_of;
  for (int c = 0; c < n_columns; ++c) {
    if (needs_learning(n_positive[c], kept.n_rows, learns_constants(options_))) column_of.push_back(c);
  }
  std::sort(column_of.begin(), column_of.end(), [&](int a, int b) {
    return n_positive[a] != n_positive[b] ? n_positive[a] > n_positive[b] : columns[a] < columns[b];
  });
  std::vector<int32_t> learnable;
  int lane_of[kMaxLanes];
  std::fill_n(lane_of, n_columns, -1);
  for (const int c : column_of) {
    lane_of[c] = static_cast<int>(learnable.size());
    learnable.push_back(columns[c]);
  }
  // As train_blocks() has it, if the group is one of its own.
  const uint64_t seed =
      mix_seed(options_.seed, first_group_[group.block] + static_cast<uint64_t>(group.places[0] / kMaxLanes));
  // A problem is a column with a C. As many C as there are lanes for are solved together: what a row costs a
  // solver depends little on the number of lanes.
  const size_t n_learnable = learnable.size();
  const size_t n_together = n_learnable == 0 ? n_C : std::max<size_t>(kMaxLanes / n_learnable, 1);
  std::vector<int32_t> lane_column;
  std::vector<float> lane_C;
  for (size_t first = 0; first < n_C; first += n_together) {
    const size_t last = std::min(first + n_together, n_C);
    lane_column.clear();
    lane_C.clear();
    for (size_t k = first; k < last; ++k) {
      lane_column.insert(lane_column.end(), learnable.begin(), learnable.end());
      lane_C.insert(lane_C.end(), n_learnable, C_values[k]);
    }
    const auto n_lanes = static_cast<int>(lane_column.size());
    if (n_lanes > 0) {
      worker.examples.assign(kept, lane_column.data(), n_lanes, assignment_);
      worker.examples.weigh(kept, examples_, lane_C, assignment_);
      const GroupProblem problem = worker.examples.problem(parts->kept_rows, kept.rows);
      worker.solver->run(problem, seed, progress_);
      const StoredGroup learned = stored(problem, parts->kept_rows.singles, worker.solver->learned());
      worker.scores.assign(parts->held_out_rows, learned, n_lanes, progress_);
    }
    for (size_t k = first; k < last; ++k) {
      const auto lane_0 = static_cast<int>((k - first) * n_learnable);
      for (size_t p = 0; p < places.size(); ++p) {
        const auto [row, column] = places[p];
        pairs.score[p * n_C + k] = lane_of[column] < 0 ? constant_score(n_positive[column])
                                                       : worker.scores(row, lane_0 + lane_of[column]);
      }
    }
  }
}

// Of columns with few positive rows, too few would be left, and a larger C would look better than it is.
double HeldOutTrial::train_share(const HeldOutGroup& group) const {
  const SiblingBlock& block = blocks_[group.block];
  const int32_t rarest = block.columns[group.places[group.n_columns - 1]];
  const double of_rows = static_cast<double>(task_.most_rows) / static_cast<double>(block.n_rows);
  const double of_rarest =
      kFewestPositive / static_cast<double>(assignment_.n_rows(block.first_node + rarest));
  return std::max({of_rows, of_rarest, kLeastTrainShare});
}

BlockParts HeldOutTrial::split(const SiblingBlock& block, double share, LocalBlockMaker& maker) const {
  BlockParts parts;
  const uint64_t seed = mix_seed(options_.seed, static_cast<uint64_t>(block.first_node));
  const auto is_drawn = [&](int32_t row) {
    return share >= 1 || unit_number(mix_seed(seed, static_cast<uint64_t>(row))) < share;
  };
  for (const int32_t* row = block.rows; row != block.rows + block.n_rows; ++row) {
    const auto use = static_cast<RowUse>(task_.held_out[*row]);
    if (use == RowUse::train && is_drawn(*row)) parts.kept.push_back(*row);
    if (use == RowUse::hold_out) parts.held_out.push_back(*row);
  }
  if (parts.held_out.empty()) return parts;
  parts.kept_rows =
      make_block_rows(maker, examples_.features, parts.kept.data(), static_cast<int64_t>(parts.kept.size()),
                      options_.bias, takes_singles(options_), progress_);
  parts.held_out_rows = maker.make(examples_.features, parts.held_out.data(),
                                   static_cast<int64_t>(parts.held_out.size()), 0.0f, progress_);
  take_singles(parts.held_out_rows, false);  // takes none, and makes the features ascend
  return parts;
}

std::vector<Place> HeldOutTrial::draw(const SiblingBlock& held_out, const int32_t* columns, int n_columns,
                                      GroupPairs& pairs) const {
  std::vector<Place> places;
  const std::vector<uint32_t> positive = positive_columns(held_out, columns, n_columns, assignment_);
  for (int64_t i = 0; i < held_out.n_rows; ++i) {
    const int32_t row = held_out.rows[i];
    const uint64_t row_seed = mix_seed(options_.seed, static_cast<uint64_t>(row));
    for (int c = 0; c < n_columns; ++c) {
      const int32_t node = held_out.first_node + columns[c];
      const bool is_positive = positive[i] >> c & 1;
      if (!is_positive &&
          unit_number(mix_seed(row_seed, static_cast<uint64_t>(node))) >= task_.negative_share) {
        continue;
      }
      places.push_back({static_cast<int32_t>(i), c});
      pairs.node.push_back(node);
      pairs.row.push_back(row);
      pairs.column.push_back(static_cast<uint8_t>(c));
      pairs.positive.push_back(is_positive);
    }
  }
  return places;
}

StoredGroup HeldOutTrial::stored(const GroupProblem& problem, const SingleFeatures& singles,
                                 const LaneWeights& learned) const {
  const FeatureRange& dense = examples_.features.dense();
  const int n = problem.n_columns;
  int32_t lanes[kMaxLanes];
  std::iota(lanes, lanes + n, 0);
  StoredGroup group;
  group.sparse = kept_weights(problem, singles, learned, lanes, options_.bias != 0, dense, options_.prune);
  group.panels.assign(n_panels(n) * dense.size() * kPanelColumns, 0.0f);
  keep_dense_weights(problem.rows, learned, lanes, n, dense, group.panels.data());
  group.bias.assign(n, 0.0f);
  if (options_.bias == 0) return group;
  const float* bias = learned.weights + int64_t{problem.rows.n_features() - 1} * learned.lanes;
  for (int c = 0; c < n; ++c) group.bias[c] = bias[c] * options_.bias;
  return group;
}

HeldOutPairs HeldOutTrial::joined() {
  HeldOutPairs all;
  all.group_begin.push_back(0);
  for (const GroupPairs& pairs : pairs_) {
    all.group_begin.push_back(all.group_begin.back() + static_cast<int64_t>(pairs.node.size()));
  }
  const auto n = static_cast<size_t>(all.group_begin.back());
  all.node.reserve(n);
  all.row.reserve(n);
  all.column.reserve(n);
  all.positive.reserve(n);
  all.score.reserve(n * task_.n_C);
  for (GroupPairs& pairs : pairs_) {  // given up one by one
    all.node.insert(all.node.end(), pairs.node.begin(), pairs.node.end());
    all.row.insert(all.row.end(), pairs.row.begin(), pairs.row.end());
    all.column.insert(all.column.end(), pairs.column.begin(), pairs.column.end());
    all.positive.insert(all.positive.end(), pairs.positive.begin(), pairs.positive.end());
    all.score.insert(all.score.end(), pairs.score.begin(), pairs.score.end());
    pairs = {};
  }
  return all;
}

void check_task(const SolverOptions& options, const HeldOutTask& task, int64_t n_rows) {
  check_solver(options);
  if (options.joint_siblings) {
    throw std::invalid_argument("held-out blocks need siblings that are learned independently, not jointly");
  }
  for (int64_t row = 0; row < n_rows; ++row) {
    if (task.held_out[row] <= static_cast<uint8_t>(RowUse::ignore)) continue;
    throw std::invalid_argument(
        "held_out must be 0 (to train on), 1 (held out) or 2 (to ignore) for each row, got " +
        std::to_string(task.held_out[row]) + " for row " + std::to_string(row));
  }
  for (size_t i = 0; i < task.groups.size() * task.n_C; ++i) {
    const float C = task.C_values[i];
    if (C > 0 && std::isfinite(C)) continue;
    throw std::invalid_argument("C_values must be positive numbers, got " + std::to_string(C));
  }
  if (task.most_rows < 1) {
    throw std::invalid_argument("most_rows must be at least 1, got " + std::to_string(task.most_rows));
  }
  if (!(task.negative_share >= 0 && task.negative_share <= 1)) {
    throw std::invalid_argument("negative_share must be from 0 to 1, got " +
                                std::to_string(task.negative_share));
  }
}

}  // namespace

HeldOutPairs held_out_blocks(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
                             const SolverOptions& options, const HeldOutTask& task, Progress& progress) {
  check_task(options, task, examples.n_rows());
  return HeldOutTrial(tree, examples, assignment, options, task, progress).run();
}

}  // namespace labeltree
