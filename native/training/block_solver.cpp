#include "training/block_solver.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/aligned_floats.h"
#include "core/parallel_for.h"
#include "core/random.h"
#include "rivals/softmax/softmax_descent.h"
#include "training/block_rows.h"
#include "training/dual_descent.h"
#include "training/group_solver.h"
#include "training/group_weights.h"
#include "training/incremental_solver.h"
#include "training/local_block.h"
#include "training/node_assignment.h"
#include "training/primal_descent.h"
#include "training/sparse_hinge.h"

namespace labeltree {

namespace {

// The examples of one block, made by the first of its column groups that runs, freed by the last.
struct SharedRows {
  BlockRows rows;
  std::vector<float> cost;
};

// One node whose children (or, for block 0, itself) are learned together.
struct Block {
  float C;
  int32_t first_node;
  int64_t first_panel;           // of its dense weights
  std::vector<int32_t> columns;  // columns that need learning, frequent ones first
  std::vector<uint8_t> codes;    // of a joint block: what its columns are
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

// Calls visit(example, c, k) for every example of the block that has a label below the c-th of these
// children; k is its place in assignment.rows.
template <class Visit>
void visit_positive(const Block& block, const int32_t* children, int32_t n_children,
                    const NodeAssignment& assignment, const Visit& visit) {
  for (int32_t c = 0; c < n_children; ++c) {
    const int32_t node = block.first_node + children[c];
    const int32_t* at = block.rows;
    const int32_t* end = block.rows + block.n_rows;
    for (int64_t k = assignment.row_begin[node]; k < assignment.row_begin[node + 1]; ++k) {
      at = std::lower_bound(at, end, assignment.rows[k]);
      visit(at - block.rows, c, k);
    }
  }
}

// Bit c of row i: whether example i of the block has a label below the c-th of these children.
std::vector<uint32_t> positive_children(const Block& block, const int32_t* children, int32_t n_children,
                                        const NodeAssignment& assignment) {
  std::vector<uint32_t> positive(block.n_rows, 0);
  visit_positive(block, children, n_children, assignment,
                 [&](int64_t i, int32_t c, int64_t) { positive[i] |= 1u << c; });
  return positive;
}

// Bit c of row i: whether example i of a joint block has a label below child c.
std::vector<uint32_t> row_codes(const Block& block, int32_t n_children, const NodeAssignment& assignment) {
  int32_t children[kMaxJointChildren];
  std::iota(children, children + n_children, 0);
  return positive_children(block, children, n_children, assignment);
}

// The code of every row of a joint block, as its class.
ClassShares code_shares(const Block& block, int32_t n_children, const NodeAssignment& assignment) {
  ClassShares shares;
  for (const uint32_t code : row_codes(block, n_children, assignment)) {
    const auto at = std::lower_bound(block.codes.begin(), block.codes.end(), code);
    shares.add(static_cast<int32_t>(at - block.codes.begin()), 1.0f);
    shares.end_row();
  }
  return shares;
}

class Trainer {
 public:
  Trainer(const LabelTreeView& tree, const Examples& examples, const NodeAssignment& assignment,
          const SolverOptions& options, Progress& progress, TrainingReport& report)
      : tree_(tree),
        features_(examples.features),
        examples_(examples),
        assignment_(assignment),
        options_(options),
        progress_(progress),
        report_(report) {}

  BlockArrays train() {
    arrays_.bias.assign(tree_.n_nodes, 0.0f);
    plan();
    solve();
    std::vector<int32_t> block_of_group;
    for (const Group& group : groups_) block_of_group.push_back(group.block);
    assemble_blocks(results_, block_of_group, blocks_.size(), progress_, arrays_);
    return std::move(arrays_);
  }

 private:
  void plan();
  void add_block(Block& block, int32_t first_node, int32_t n_columns, const int32_t* rows, int64_t n_rows);
  void add_codes(Block& block, int32_t n_children);
  int32_t n_children(int32_t block) const { return block == 0 ? 1 : tree_.n_children(inner_[block - 1]); }
  void solve();
  struct Worker {
    LocalBlockMaker maker;
    std::unique_ptr<GroupSolver> solver;
    SoftmaxDescent joint_solver;
    AlignedFloats lane_cost;
  };
  void solve_group(size_t task, Worker& worker);
  void keep_group(size_t task, const GroupProblem& problem, const SingleFeatures& singles,
                  const LaneWeights& learned);
  void fill_lane_cost(const Block& block, const Group& group, const std::vector<float>& cost,
                      AlignedFloats& lane_cost) const;
  std::shared_ptr<SharedRows> shared_rows(Block& block, LocalBlockMaker& maker) const;

  const LabelTreeView& tree_;
  const FeatureMatrix& features_;
  const Examples& examples_;
  const NodeAssignment& assignment_;
  const SolverOptions& options_;
  Progress& progress_;
  TrainingReport& report_;

  BlockArrays arrays_;
  int64_t n_panels_ = 0;
  std::vector<int32_t> inner_, all_rows_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Group> groups_;  // by block
  std::vector<GroupWeights> results_;
  std::mutex report_mutex_;
};

void Trainer::plan() {
  inner_ = inner_nodes(tree_);
  blocks_.resize(inner_.size() + 1);
  for (size_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b] = std::make_unique<Block>();
    blocks_[b]->C = options_.block_C.empty() ? options_.C : options_.block_C[b];
  }
  all_rows_.resize(features_.n_rows());
  std::iota(all_rows_.begin(), all_rows_.end(), 0);
  add_block(*blocks_[0], 0, 1, all_rows_.data(), features_.n_rows());
  if (options_.joint_siblings) arrays_.code_begin = {0, 0};
  for (size_t i = 0; i < inner_.size(); ++i) {
    const int32_t v = inner_[i];
    add_block(*blocks_[i + 1], tree_.child_begin[v], tree_.n_children(v), assignment_.begin(v),
              assignment_.n_rows(v));
    if (!options_.joint_siblings) continue;
    arrays_.code_begin.push_back(static_cast<int64_t>(arrays_.code.size()));
  }
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const int32_t n = static_cast<int32_t>(blocks_[b]->columns.size());
    for (int32_t begin = 0; begin < n; begin += kMaxLanes) {
      groups_.push_back({static_cast<int32_t>(b), begin, std::min(n, begin + kMaxLanes)});
      ++blocks_[b]->groups_left;
    }
  }
  results_.resize(groups_.size());
  arrays_.dense_weight.assign(n_panels_ * features_.dense().size() * kPanelColumns, 0.0f);
}

void Trainer::add_block(Block& block, int32_t first_node, int32_t n_columns, const int32_t* rows,
                        int64_t n_rows) {
  block.first_node = first_node;
  block.rows = rows;
  block.n_rows = n_rows;
  block.first_panel = n_panels_;
  const bool is_joint =
      options_.joint_siblings && &block != blocks_[0].get() && n_rows > 0 && n_columns <= kMaxJointChildren;
  if (is_joint) add_codes(block, n_columns);
  n_panels_ += n_panels(is_joint ? static_cast<int64_t>(block.codes.size()) : n_columns);
  if (is_joint) return;
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

// Only codes that occur: others could only be given a probability that no example supports.
void Trainer::add_codes(Block& block, int32_t n_children) {
  uint32_t seen = 0;
  for (const uint32_t code : row_codes(block, n_children, assignment_)) seen |= 1u << code;
  for (; seen != 0; seen &= seen - 1) block.codes.push_back(static_cast<uint8_t>(__builtin_ctz(seen)));
  arrays_.code.insert(arrays_.code.end(), block.codes.begin(), block.codes.end());
  arrays_.code_bias.resize(arrays_.code.size(), 0.0f);
  ++report_.n_joint;
  if (block.codes.size() == 1) {
    report_.n_constant += n_children;
    return;
  }
  block.columns.resize(block.codes.size());
  std::iota(block.columns.begin(), block.columns.end(), 0);
  report_.n_columns += static_cast<int64_t>(block.columns.size());
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
  std::vector<std::unique_ptr<Worker>> workers(n_workers);
  parallel_for(n_workers, static_cast<int64_t>(tasks.size()), [&](int64_t task, int number) {
    progress_.check();
    std::unique_ptr<Worker>& worker = workers[number];
    if (!worker) {
      worker.reset(new Worker{LocalBlockMaker(features_.n_features()),
                              make_group_solver(options_),
                              SoftmaxDescent(options_.tol, options_.max_iter),
                              {}});
    }
    solve_group(tasks[task], *worker);
    progress_.advance(blocks_[groups_[tasks[task]].block]->n_rows);
  });
}

void Trainer::solve_group(size_t task, Worker& worker) {
  const Group& group = groups_[task];
  Block& block = *blocks_[group.block];
  const bool is_joint = !block.codes.empty();
  const std::shared_ptr<SharedRows> shared = shared_rows(block, worker.maker);
  const BlockRows& rows = shared->rows;
  const int n_columns = group.end - group.begin;
  const std::vector<uint32_t> positive =
      is_joint ? std::vector<uint32_t>(block.n_rows, ~0u)
               : positive_children(block, block.columns.data() + group.begin, n_columns, assignment_);
  if (!assignment_.weight.empty()) fill_lane_cost(block, group, shared->cost, worker.lane_cost);
  const GroupProblem problem{rows.local,
                             block.rows,
                             rows.squared_norm.data(),
                             rows.singles.squared_norm.data(),
                             shared->cost.data(),
                             assignment_.weight.empty() ? nullptr : worker.lane_cost.data(),
                             positive,
                             n_columns};
  const uint64_t seed = mix_seed(options_.seed, task);
  const auto solved_by = [&](const auto& solver, int n_unconverged) {
    const std::lock_guard lock(report_mutex_);
    report_.n_unconverged += n_unconverged;
    report_.n_row_visits += solver.n_row_visits();
    report_.n_pruned += results_[task].n_pruned;
    report_.n_passes = std::max(report_.n_passes, solver.n_passes());
  };
  if (is_joint) {
    SoftmaxDescent& solver = worker.joint_solver;
    solver.run(problem, code_shares(block, n_children(group.block), assignment_), seed, progress_);
    keep_group(task, problem, rows.singles, solver.learned(0));
    solved_by(solver, solver.converged() ? 0 : n_columns);
  } else {
    GroupSolver& solver = *worker.solver;
    solver.run(problem, seed, progress_);
    keep_group(task, problem, rows.singles, solver.learned());
    solved_by(solver, solver.n_unconverged());
  }
}

void Trainer::keep_group(size_t task, const GroupProblem& problem, const SingleFeatures& singles,
                         const LaneWeights& learned) {
  const Group& group = groups_[task];
  const Block& block = *blocks_[group.block];
  const int32_t* columns = block.columns.data() + group.begin;
  results_[task] =
      kept_weights(problem, singles, learned, columns, options_.bias != 0, features_.dense(), options_.prune);
  // They go where they stay: no other group has the same columns.
  const int64_t panel_size = features_.dense().size() * kPanelColumns;
  keep_dense_weights(problem.rows, learned, columns, problem.n_columns, features_.dense(),
                     arrays_.dense_weight.data() + block.first_panel * panel_size);
  if (options_.bias == 0) return;
  const float* bias = learned.weights + int64_t{problem.rows.n_features() - 1} * learned.lanes;
  float* target = block.codes.empty() ? arrays_.bias.data() + block.first_node
                                      : arrays_.code_bias.data() + arrays_.code_begin[group.block];
  for (int32_t c = group.begin; c < group.end; ++c) {
    target[block.columns[c]] = bias[c - group.begin] * options_.bias;
  }
}

// Negative examples cost what they do without weights of labels.
void Trainer::fill_lane_cost(const Block& block, const Group& group, const std::vector<float>& cost,
                             AlignedFloats& lane_cost) const {
  const int lanes = lanes_for(group.end - group.begin);
  lane_cost.reset(block.n_rows * lanes);
  for (int64_t i = 0; i < block.n_rows; ++i) std::fill_n(lane_cost.data() + i * lanes, lanes, cost[i]);
  visit_positive(block, block.columns.data() + group.begin, group.end - group.begin, assignment_,
                 [&](int64_t i, int32_t lane, int64_t k) {
                   lane_cost.data()[i * lanes + lane] = bounded_cost(cost[i] * assignment_.weight[k]);
                 });
}

std::shared_ptr<SharedRows> Trainer::shared_rows(Block& block, LocalBlockMaker& maker) const {
  const std::lock_guard lock(block.mutex);
  if (!block.shared) {
    auto shared = std::make_shared<SharedRows>();
    shared->rows = make_block_rows(maker, features_, block.rows, block.n_rows, options_.bias,
                                   takes_singles(options_), progress_);
    shared->cost.resize(block.n_rows);
    for (int64_t i = 0; i < block.n_rows; ++i) {
      shared->cost[i] = bounded_cost(block.C * examples_.weight(block.rows[i]));
    }
    block.shared = std::move(shared);
  }
  std::shared_ptr<SharedRows> shared = block.shared;
  if (--block.groups_left == 0) block.shared.reset();
  return shared;
}

}  // namespace

bool takes_singles(const SolverOptions& options) {
  return options.solver == Solver::descent && options.penalty == Penalty::l2;
}

void check_solver(const SolverOptions& options) {
  const bool is_descent = options.solver == Solver::descent;
  if (options.joint_siblings) {
    check_loss(options.loss, LossUse::joint, "learning siblings jointly");
    if (!is_descent || options.penalty != Penalty::l2) {
      throw std::invalid_argument("siblings are learned jointly by the solver descent with the penalty l2");
    }
  }
  switch (options.solver) {
    case Solver::descent:
      if (options.penalty == Penalty::l1) {
        check_loss(options.loss, LossUse::primal, "the solver descent with the penalty l1");
      } else if (options.penalty == Penalty::l2) {
        check_loss(options.loss, LossUse::dual, "the solver descent with the penalty l2");
      } else {
        throw std::invalid_argument("expected the penalty l1 or l2, got an unknown one, number " +
                                    std::to_string(static_cast<int>(options.penalty)));
      }
      return;
    case Solver::adagrad:
    case Solver::sgd:
    case Solver::fobos:
      check_incremental(options.solver, options.loss);
      if (options.penalty != Penalty::l2) {
        throw std::invalid_argument("incremental solvers have their own penalty: leave penalty at l2");
      }
      return;
    case Solver::sparse:
      return;  // it has its own loss and penalty
  }
  throw std::invalid_argument("expected a solver that is known, got number " +
                              std::to_string(static_cast<int>(options.solver)));
}

std::unique_ptr<GroupSolver> make_group_solver(const SolverOptions& options) {
  check_solver(options);
  if (options.solver == Solver::sparse) {
    return std::make_unique<SparseHinge>(options.l1, options.tol, options.max_iter);
  }
  if (options.solver != Solver::descent) return std::make_unique<IncrementalSolver>(options);
  if (options.penalty == Penalty::l1) {
    return std::make_unique<PrimalDescent>(options.loss, options.tol, options.max_iter, options.bias);
  }
  return std::make_unique<DualDescent>(options.loss, options.tol, options.max_iter);
}

BlockArrays train_blocks(const LabelTreeView& tree, const Examples& examples, const SolverOptions& options,
                         Progress& progress, TrainingReport& report) {
  if (!options.block_C.empty() && options.block_C.size() != inner_nodes(tree).size() + 1) {
    throw std::invalid_argument("block_C must have one entry for each of the " +
                                std::to_string(inner_nodes(tree).size() + 1) + " blocks, but has " +
                                std::to_string(options.block_C.size()));
  }
  check_solver(options);
  const NodeAssignment assignment =
      assign_to_nodes(tree, examples.labels, examples.label_weight, options.n_threads, progress);
  return Trainer(tree, examples, assignment, options, progress, report).train();
}

}  // namespace labeltree
