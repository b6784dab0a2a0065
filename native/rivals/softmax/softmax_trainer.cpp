#include "rivals/softmax/softmax_trainer.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "core/parallel_for.h"
#include "core/random.h"
#include "rivals/softmax/softmax_descent.h"
#include "training/block_rows.h"
#include "training/dual_descent.h"
#include "training/group_weights.h"
#include "training/local_block.h"
#include "training/node_assignment.h"

namespace labeltree {

namespace {

// Per entry of assignment.rows: how many labels of that row are below that node.
std::vector<int32_t> labels_below(const LabelTreeView& tree, const NodeAssignment& assignment) {
  std::vector<int32_t> count(assignment.rows.size(), 0);
  for (int32_t v = tree.n_nodes - 1; v >= 0; --v) {  // children have larger numbers than their parent
    if (tree.is_leaf(v)) {
      std::fill(count.begin() + assignment.row_begin[v], count.begin() + assignment.row_begin[v + 1], 1);
      continue;
    }
    for (int32_t child = tree.child_begin[v]; child < tree.child_begin[v + 1]; ++child) {
      int64_t at = assignment.row_begin[v];
      for (int64_t k = assignment.row_begin[child]; k < assignment.row_begin[child + 1]; ++k) {
        while (assignment.rows[at] < assignment.rows[k]) ++at;
        count[at] += count[k];
      }
    }
  }
  return count;
}

struct SoftmaxWorker {
  LocalBlockMaker maker;
  DualDescent mirrored_solver;
  SoftmaxDescent softmax_solver;
};

class SoftmaxTrainer {
 public:
  SoftmaxTrainer(const LabelTreeView& tree, const Examples& examples, const NodeAssignment& assignment,
                 const SolverOptions& options, Progress& progress, TrainingReport& report)
      : tree_(tree),
        features_(examples.features),
        labels_(examples.labels),
        assignment_(assignment),
        sample_weight_(examples.sample_weight),
        options_(options),
        progress_(progress),
        report_(report) {}

  BlockArrays train() {
    labels_below_ = labels_below(tree_, assignment_);
    plan();
    solve();
    std::vector<GroupWeights> groups;
    std::vector<int32_t> block_of_group;
    for (Block& block : blocks_) {
      for (GroupWeights& group : block.kept) {
        groups.push_back(std::move(group));
        block_of_group.push_back(block.number);
      }
    }
    assemble_blocks(groups, block_of_group, n_blocks_, progress_, arrays_);
    return std::move(arrays_);
  }

 private:
  // A node with labels of examples below at least two of its children.
  struct Block {
    int32_t node;
    int32_t number;
    int64_t first_panel;
    std::vector<int32_t> columns;  // those of the children
    std::vector<GroupWeights> kept;
  };

  void plan();
  void solve();
  void solve_mirrored(Block& block, uint64_t seed, SoftmaxWorker& worker);
  void solve_softmax(Block& block, uint64_t seed, SoftmaxWorker& worker);
  template <class Visit>
  void visit_parts(const Block& block, const Visit& visit) const;
  float cost_of(int32_t row, int64_t n_labels) const;
  void keep(Block& block, const GroupProblem& problem, const SingleFeatures& singles,
            const LaneWeights& learned, const int32_t* columns, int n_columns);
  template <class Solver>
  void tell(const Block& block, const Solver& solver, int64_t n_unconverged);

  const LabelTreeView& tree_;
  const FeatureMatrix& features_;
  const LabelMatrixView& labels_;
  const NodeAssignment& assignment_;
  const float* sample_weight_;
  const SolverOptions& options_;
  Progress& progress_;
  TrainingReport& report_;

  BlockArrays arrays_;
  size_t n_blocks_ = 0;
  std::vector<int32_t> labels_below_;
  std::vector<Block> blocks_;
  std::mutex report_mutex_;
};

void SoftmaxTrainer::plan() {
  arrays_.bias.assign(tree_.n_nodes, 0.0f);
  arrays_.bias[0] = kCertainScore;
  const std::vector<int32_t> inner = inner_nodes(tree_);
  n_blocks_ = inner.size() + 1;
  int64_t total_panels = n_panels(1);
  for (size_t i = 0; i < inner.size(); ++i) {
    const int32_t v = inner[i], first = tree_.child_begin[v];
    Block block{v, static_cast<int32_t>(i) + 1, total_panels, {}, {}};
    total_panels += n_panels(tree_.n_children(v));
    for (int32_t c = 0; c < tree_.n_children(v); ++c) {
      if (assignment_.n_rows(first + c) > 0) block.columns.push_back(c);
    }
    // Children that no example has labels below are never right, unless none has any below the node itself.
    if (!block.columns.empty()) {
      for (int32_t c = 0; c < tree_.n_children(v); ++c) arrays_.bias[first + c] = -kCertainScore;
      for (const int32_t c : block.columns) arrays_.bias[first + c] = 0.0f;
    }
    if (tree_.n_children(v) == 2 && block.columns.size() == 1) {
      arrays_.bias[first] = block.columns[0] == 0 ? kCertainScore : -kCertainScore;
      arrays_.bias[first + 1] = -arrays_.bias[first];
    }
    if (block.columns.size() < 2) {
      report_.n_constant += tree_.n_children(v);
      continue;
    }
    report_.n_constant += tree_.n_children(v) - static_cast<int64_t>(block.columns.size());
    report_.n_columns += tree_.n_children(v) == 2 ? 1 : static_cast<int64_t>(block.columns.size());
    blocks_.push_back(std::move(block));
  }
  arrays_.dense_weight.assign(total_panels * features_.dense().size() * kPanelColumns, 0.0f);
}

void SoftmaxTrainer::solve() {
  std::vector<size_t> tasks(blocks_.size());
  std::iota(tasks.begin(), tasks.end(), size_t{0});
  const auto n_rows = [&](size_t task) { return assignment_.n_rows(blocks_[task].node); };
  // Largest first, so that no long task is left for the end.
  std::stable_sort(tasks.begin(), tasks.end(), [&](size_t a, size_t b) { return n_rows(a) > n_rows(b); });
  int64_t total = 0;
  for (const size_t task : tasks) total += n_rows(task);
  progress_.start(total);
  std::vector<std::unique_ptr<SoftmaxWorker>> workers(std::max(options_.n_threads, 1));
  parallel_for(
      static_cast<int>(workers.size()), static_cast<int64_t>(tasks.size()), [&](int64_t task, int number) {
        progress_.check();
        std::unique_ptr<SoftmaxWorker>& worker = workers[number];
        if (!worker) {
          worker.reset(new SoftmaxWorker{LocalBlockMaker(features_.n_features()),
                                         DualDescent(Loss::logistic, options_.tol, options_.max_iter),
                                         SoftmaxDescent(options_.tol, options_.max_iter)});
        }
        Block& block = blocks_[tasks[task]];
        const uint64_t seed = mix_seed(options_.seed, tasks[task]);
        if (tree_.n_children(block.node) == 2) {
          solve_mirrored(block, seed, *worker);
        } else {
          solve_softmax(block, seed, *worker);
        }
        progress_.advance(assignment_.n_rows(block.node));
      });
}

// Calls visit(row, n_labels, parts) for every example: how many of its labels are below the block's node, and
// how many below each of the columns that has any, as pairs of the column's place and the number.
template <class Visit>
void SoftmaxTrainer::visit_parts(const Block& block, const Visit& visit) const {
  const int32_t first = tree_.child_begin[block.node];
  std::vector<int64_t> at;
  for (const int32_t c : block.columns) at.push_back(assignment_.row_begin[first + c]);
  // The columns by the next row they have: a heap, since a wide block has many and a row few of them.
  std::vector<std::pair<int32_t, int32_t>> next;
  const auto push = [&](int32_t place) {
    if (at[place] == assignment_.row_begin[first + block.columns[place] + 1]) return;
    next.emplace_back(assignment_.rows[at[place]], place);
    std::push_heap(next.begin(), next.end(), std::greater<>());
  };
  for (size_t place = 0; place < at.size(); ++place) push(static_cast<int32_t>(place));
  std::vector<std::pair<int32_t, int32_t>> parts;
  while (!next.empty()) {
    const int32_t row = next.front().first;
    int32_t n_labels = 0;
    parts.clear();
    while (!next.empty() && next.front().first == row) {
      const int32_t place = next.front().second;
      std::pop_heap(next.begin(), next.end(), std::greater<>());
      next.pop_back();
      parts.emplace_back(place, labels_below_[at[place]]);
      n_labels += parts.back().second;
      ++at[place];
      push(place);
    }
    visit(row, n_labels, parts);
  }
}

// The cost of this number of the labels of a row.
float SoftmaxTrainer::cost_of(int32_t row, int64_t n_labels) const {
  const float all = static_cast<float>(labels_.indptr[row + 1] - labels_.indptr[row]);
  const float weight = sample_weight_ ? sample_weight_[row] : 1.0f;
  return bounded_cost(options_.C * weight * static_cast<float>(n_labels) / all);
}

// An example that has labels below both children is one of either class.
void SoftmaxTrainer::solve_mirrored(Block& block, uint64_t seed, SoftmaxWorker& worker) {
  std::vector<int32_t> rows;
  std::vector<float> cost;
  std::vector<uint32_t> positive;
  visit_parts(block, [&](int32_t row, int32_t, const auto& parts) {
    for (const auto& [place, n_labels] : parts) {
      rows.push_back(row);
      cost.push_back(cost_of(row, n_labels));
      positive.push_back(place == 0);
    }
  });
  const BlockRows made = make_block_rows(worker.maker, features_, rows.data(),
                                         static_cast<int64_t>(rows.size()), options_.bias, true, progress_);
  const GroupProblem problem{made.local,
                             rows.data(),
                             made.squared_norm.data(),
                             made.singles.squared_norm.data(),
                             cost.data(),
                             nullptr,
                             positive,
                             1};
  worker.mirrored_solver.run(problem, seed, progress_);
  keep(block, problem, made.singles, worker.mirrored_solver.learned(), block.columns.data(), 1);
  const int32_t first = tree_.child_begin[block.node];
  arrays_.bias[first + 1] = -arrays_.bias[first];
  tell(block, worker.mirrored_solver, worker.mirrored_solver.n_unconverged());
}

void SoftmaxTrainer::solve_softmax(Block& block, uint64_t seed, SoftmaxWorker& worker) {
  std::vector<int32_t> rows;
  std::vector<float> cost;
  ClassShares shares;
  visit_parts(block, [&](int32_t row, int32_t all, const auto& parts) {
    rows.push_back(row);
    cost.push_back(cost_of(row, all));
    for (const auto& [place, n_labels] : parts) {
      shares.add(place, static_cast<float>(n_labels) / static_cast<float>(all));
    }
    shares.end_row();
  });
  const BlockRows made = make_block_rows(worker.maker, features_, rows.data(),
                                         static_cast<int64_t>(rows.size()), options_.bias, true, progress_);
  const std::vector<uint32_t> all_lanes(rows.size(), ~0u);
  const int n_columns = static_cast<int>(block.columns.size());
  const GroupProblem problem{made.local,
                             rows.data(),
                             made.squared_norm.data(),
                             made.singles.squared_norm.data(),
                             cost.data(),
                             nullptr,
                             all_lanes,
                             n_columns};
  SoftmaxDescent& solver = worker.softmax_solver;
  solver.run(problem, shares, seed, progress_);
  for (int chunk = 0; chunk < solver.n_chunks(); ++chunk) {
    const LaneWeights learned = solver.learned(chunk);
    const int begin = chunk * learned.lanes;
    keep(block, problem, made.singles, learned, block.columns.data() + begin,
         std::min(learned.lanes, n_columns - begin));
  }
  tell(block, solver, solver.converged() ? 0 : n_columns);
}

void SoftmaxTrainer::keep(Block& block, const GroupProblem& problem, const SingleFeatures& singles,
                          const LaneWeights& learned, const int32_t* columns, int n_columns) {
  block.kept.push_back(kept_weights(problem, singles, learned, columns, options_.bias != 0, features_.dense(),
                                    options_.prune));
  const int64_t panel_size = features_.dense().size() * kPanelColumns;
  keep_dense_weights(problem.rows, learned, columns, n_columns, features_.dense(),
                     arrays_.dense_weight.data() + block.first_panel * panel_size);
  if (options_.bias == 0) return;
  const float* bias = learned.weights + int64_t{problem.rows.n_features() - 1} * learned.lanes;
  float* target = arrays_.bias.data() + tree_.child_begin[block.node];
  for (int lane = 0; lane < n_columns; ++lane) target[columns[lane]] = bias[lane] * options_.bias;
}

template <class Solver>
void SoftmaxTrainer::tell(const Block& block, const Solver& solver, int64_t n_unconverged) {
  const std::lock_guard lock(report_mutex_);
  report_.n_unconverged += n_unconverged;
  report_.n_row_visits += solver.n_row_visits();
  for (const GroupWeights& group : block.kept) report_.n_pruned += group.n_pruned;
  report_.n_passes = std::max(report_.n_passes, solver.n_passes());
}

}  // namespace

BlockArrays train_softmax(const LabelTreeView& tree, const Examples& examples, const SolverOptions& options,
                          Progress& progress, TrainingReport& report) {
  const NodeAssignment assignment =
      assign_to_nodes(tree, examples.labels, nullptr, options.n_threads, progress);
  return SoftmaxTrainer(tree, examples, assignment, options, progress, report).train();
}

}  // namespace labeltree
