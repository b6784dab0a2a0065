#include "training/block_solver.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/parallel_for.h"
#include "core/random.h"
#include "core/shared_value.h"
#include "rivals/softmax/softmax_descent.h"
#include "training/block_rows.h"
#include "training/group_examples.h"
#include "training/group_solver.h"
#include "training/group_weights.h"
#include "training/local_block.h"
#include "training/node_assignment.h"
#include "training/sibling_blocks.h"

namespace labeltree {

namespace {

// What a block needs beside its columns and rows.
struct BlockState {
  int64_t first_panel = 0;     // of its dense weights
  std::vector<uint8_t> codes;  // of a joint block: what its columns are
  SharedValue<BlockRows> rows;
};

// Bit c of row i: whether row i of a joint block has a label below child c.
std::vector<uint32_t> row_codes(const SiblingBlock& block, const NodeRows& assignment) {
  int32_t children[kMaxJointChildren];
  std::iota(children, children + block.n_nodes, 0);
  return positive_columns(block, children, block.n_nodes, assignment);
}

// The code of every row of a joint block, as its class.
ClassShares code_shares(const SiblingBlock& block, const std::vector<uint8_t>& codes,
                        const NodeRows& assignment) {
  ClassShares shares;
  for (const uint32_t code : row_codes(block, assignment)) {
    const auto at = std::lower_bound(codes.begin(), codes.end(), code);
    shares.add(static_cast<int32_t>(at - codes.begin()), 1.0f);
    shares.end_row();
  }
  return shares;
}

class Trainer {
 public:
  Trainer(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
          const BlockRange& range, const SolverOptions& options, Progress& progress, TrainingReport& report)
      : tree_(tree),
        range_(range),
        features_(examples.features),
        examples_(examples),
        assignment_(assignment),
        options_(options),
        progress_(progress),
        report_(report) {}

  BlockArrays train() {
    plan();
    solve();
    std::vector<int32_t> block_of_group;
    for (const ColumnGroup& group : groups_) block_of_group.push_back(group.block);
    assemble_blocks(results_, block_of_group, blocks_.size(), progress_, arrays_);
    return std::move(arrays_);
  }

 private:
  struct Worker {
    LocalBlockMaker maker;
    std::unique_ptr<GroupSolver> solver;
    SoftmaxDescent joint_solver;
    GroupExamples examples;
  };

  void plan();
  void add_constants(const SiblingBlock& block);
  void add_codes(SiblingBlock& block, std::vector<uint8_t>& codes);
  void solve();
  void solve_group(size_t task, Worker& worker);
  void keep_group(size_t task, const GroupProblem& problem, const SingleFeatures& singles,
                  const LaneWeights& learned);
  uint64_t n_groups_before() const;
  float C(int32_t block) const {
    return options_.block_C.empty() ? options_.C : options_.block_C[range_.first + block];
  }
  // Whether the children of block number `b` of the tree are learned together.
  bool is_joint(int64_t b, int64_t n_rows, int32_t n_nodes) const {
    return options_.joint_siblings && b > 0 && n_rows > 0 && n_nodes <= kMaxJointChildren;
  }
  float& bias(int32_t node) { return arrays_.bias[node - first_node_]; }

  const LabelTreeView& tree_;
  const BlockRange range_;
  const FeatureMatrix& features_;
  const Examples& examples_;
  const NodeRows assignment_;
  const SolverOptions& options_;
  Progress& progress_;
  TrainingReport& report_;

  BlockArrays arrays_;
  std::vector<int32_t> all_rows_;
  std::vector<SiblingBlock> blocks_;  // of the range
  int32_t first_node_ = 0;            // of the first block
  uint64_t first_group_ = 0;          // the number of groups_[0] among all groups of the tree
  std::vector<BlockState> states_;    // of the blocks
  std::vector<ColumnGroup> groups_;   // by block
  std::vector<GroupWeights> results_;
  std::mutex report_mutex_;
};

void Trainer::plan() {
  blocks_ =
      sibling_blocks(tree_, assignment_, features_.n_rows(), range_, all_rows_, learns_constants(options_));
  first_group_ = n_groups_before();
  if (!blocks_.empty()) {
    first_node_ = blocks_.front().first_node;
    arrays_.bias.assign(blocks_.back().first_node + blocks_.back().n_nodes - first_node_, 0.0f);
  }
  states_ = std::vector<BlockState>(blocks_.size());
  int64_t n_all_panels = 0;
  if (options_.joint_siblings) arrays_.code_begin = {0};
  for (size_t b = 0; b < blocks_.size(); ++b) {
    SiblingBlock& block = blocks_[b];
    BlockState& state = states_[b];
    const bool joint = is_joint(range_.first + static_cast<int64_t>(b), block.n_rows, block.n_nodes);
    joint ? add_codes(block, state.codes) : add_constants(block);
    report_.n_columns += static_cast<int64_t>(block.columns.size());
    state.first_panel = n_all_panels;
    n_all_panels += n_panels(joint ? static_cast<int64_t>(state.codes.size()) : block.n_nodes);
    if (options_.joint_siblings) arrays_.code_begin.push_back(static_cast<int64_t>(arrays_.code.size()));
  }
  groups_ = column_groups(blocks_);
  for (const ColumnGroup& group : groups_) states_[group.block].rows.add_user();
  results_.resize(groups_.size());
  arrays_.dense_weight.assign(n_all_panels * features_.dense().size() * kPanelColumns, 0.0f);
}

// Groups of blocks before the range: their numbers are the seeds of all that follow.
uint64_t Trainer::n_groups_before() const {
  uint64_t n_groups = 0;
  const auto add_block = [&](int64_t number, int32_t first_node, int32_t n_nodes, int64_t n_rows) {
    int64_t n_columns = 0;
    for (int32_t v = first_node; v < first_node + n_nodes; ++v) {
      n_columns += needs_learning(assignment_.n_rows(v), n_rows, learns_constants(options_));
    }
    // Where a child's column is not constant, there are several codes; they are no more than a group has
    // lanes.
    const bool joint = is_joint(number, n_rows, n_nodes);
    n_groups += joint ? n_columns > 0 : (n_columns + kMaxLanes - 1) / kMaxLanes;
  };
  if (range_.first > 0) add_block(0, 0, 1, features_.n_rows());
  int64_t number = 1;
  for (int32_t v = 0; v < tree_.n_nodes && number < range_.first; ++v) {
    if (tree_.is_leaf(v)) continue;
    add_block(number++, tree_.child_begin[v], tree_.n_children(v), assignment_.n_rows(v));
  }
  return n_groups;
}

void Trainer::add_constants(const SiblingBlock& block) {
  if (learns_constants(options_)) return;
  for (int32_t v = block.first_node; v < block.first_node + block.n_nodes; ++v) {
    const int64_t n_positive = assignment_.n_rows(v);
    if (!is_constant(n_positive, block.n_rows)) continue;
    bias(v) = constant_score(n_positive);
    ++report_.n_constant;
  }
}

// Only codes that occur: others could only be given a probability that no example supports.
void Trainer::add_codes(SiblingBlock& block, std::vector<uint8_t>& codes) {
  uint32_t seen = 0;
  for (const uint32_t code : row_codes(block, assignment_)) seen |= 1u << code;
  for (; seen != 0; seen &= seen - 1) codes.push_back(static_cast<uint8_t>(__builtin_ctz(seen)));
  arrays_.code.insert(arrays_.code.end(), codes.begin(), codes.end());
  arrays_.code_bias.resize(arrays_.code.size(), 0.0f);
  ++report_.n_joint;
  if (codes.size() == 1) report_.n_constant += block.n_nodes;
  block.columns.resize(codes.size() == 1 ? 0 : codes.size());
  std::iota(block.columns.begin(), block.columns.end(), 0);
}

void Trainer::solve() {
  const std::vector<size_t> tasks = largest_first(groups_, blocks_);
  int64_t total = 0;
  for (const ColumnGroup& group : groups_) total += blocks_[group.block].n_rows;
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
    progress_.advance(blocks_[groups_[tasks[task]].block].n_rows);
  });
}

void Trainer::solve_group(size_t task, Worker& worker) {
  const ColumnGroup& group = groups_[task];
  const SiblingBlock& block = blocks_[group.block];
  BlockState& state = states_[group.block];
  const bool joint = !state.codes.empty();
  const std::shared_ptr<const BlockRows> rows = state.rows.take([&] {
    return make_block_rows(worker.maker, features_, block.rows, block.n_rows, options_.bias,
                           takes_singles(options_), progress_);
  });
  const int n_columns = group.end - group.begin;
  if (joint) {
    worker.examples.assign_positive(block.n_rows, n_columns);
  } else {
    worker.examples.assign(block, block.columns.data() + group.begin, n_columns, assignment_);
  }
  worker.examples.weigh(block, examples_, C(group.block), assignment_);
  const GroupProblem problem = worker.examples.problem(*rows, block.rows);
  const uint64_t seed = mix_seed(options_.seed, first_group_ + task);
  const auto solved_by = [&](const auto& solver, int n_unconverged) {
    const std::lock_guard lock(report_mutex_);
    report_.n_unconverged += n_unconverged;
    report_.n_row_visits += solver.n_row_visits();
    report_.n_pruned += results_[task].n_pruned;
    report_.n_passes = std::max(report_.n_passes, solver.n_passes());
  };
  if (joint) {
    SoftmaxDescent& solver = worker.joint_solver;
    solver.run(problem, code_shares(block, state.codes, assignment_), seed, progress_);
    keep_group(task, problem, rows->singles, solver.learned(0));
    solved_by(solver, solver.converged() ? 0 : n_columns);
  } else {
    GroupSolver& solver = *worker.solver;
    solver.run(problem, seed, progress_);
    keep_group(task, problem, rows->singles, solver.learned());
    solved_by(solver, solver.n_unconverged());
  }
}

void Trainer::keep_group(size_t task, const GroupProblem& problem, const SingleFeatures& singles,
                         const LaneWeights& learned) {
  const ColumnGroup& group = groups_[task];
  const SiblingBlock& block = blocks_[group.block];
  const BlockState& state = states_[group.block];
  const int32_t* columns = block.columns.data() + group.begin;
  results_[task] =
      kept_weights(problem, singles, learned, columns, options_.bias != 0, features_.dense(), options_.prune);
  // They go where they stay: no other group has the same columns.
  const int64_t panel_size = features_.dense().size() * kPanelColumns;
  keep_dense_weights(problem.rows, learned, columns, problem.n_columns, features_.dense(),
                     arrays_.dense_weight.data() + state.first_panel * panel_size);
  if (options_.bias == 0) return;
  const float* learned_bias = learned.weights + int64_t{problem.rows.n_features() - 1} * learned.lanes;
  float* target = state.codes.empty() ? &bias(block.first_node)
                                      : arrays_.code_bias.data() + arrays_.code_begin[group.block];
  for (int32_t c = group.begin; c < group.end; ++c) {
    target[block.columns[c]] = learned_bias[c - group.begin] * options_.bias;
  }
}

}  // namespace

BlockArrays train_blocks(const LabelTreeView& tree, const Examples& examples, const NodeRows& assignment,
                         const BlockRange& range, const SolverOptions& options, Progress& progress,
                         TrainingReport& report) {
  const int64_t n_blocks = all_blocks(tree).size();
  if (!options.block_C.empty() && static_cast<int64_t>(options.block_C.size()) != n_blocks) {
    throw std::invalid_argument("block_C must have one entry for each of the " + std::to_string(n_blocks) +
                                " blocks, but has " + std::to_string(options.block_C.size()));
  }
  check_solver(options);
  return Trainer(tree, examples, assignment, range, options, progress, report).train();
}

}  // namespace labeltree
