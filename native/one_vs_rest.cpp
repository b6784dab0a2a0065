#include "one_vs_rest.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "block_rows.h"
#include "group_solver.h"
#include "group_weights.h"
#include "label_examples.h"
#include "lane_kernels.h"
#include "parallel_for.h"
#include "random.h"

namespace labeltree {

namespace {

// A chunk of which not all groups are trained.
struct OpenChunk {
  std::vector<GroupWeights> groups;
  int64_t groups_left;
  ColumnChunk trained;
};

class ColumnTrainer {
 public:
  ColumnTrainer(const FeatureMatrix& features, const LabelMatrixView& labels, int32_t n_labels,
                const float* sample_weight, const ColumnPlan& plan, const SolverOptions& options,
                const ChunkSink& finished, Progress& progress)
      : features_(features),
        plan_(plan),
        options_(options),
        finished_(finished),
        progress_(progress),
        examples_(labels, n_labels),
        row_number_(features.n_rows()),
        cost_(features.n_rows()) {
    std::iota(row_number_.begin(), row_number_.end(), 0);
    for (int64_t i = 0; i < features.n_rows(); ++i) {
      cost_[i] = bounded_cost(options.C * (sample_weight != nullptr ? sample_weight[i] : 1.0f));
    }
  }

  void train() {
    std::vector<int64_t> tasks;
    for (int64_t i = 0; i < plan_.n_chunks; ++i) {
      for (int64_t g = first_group(plan_.chunks[i]); g < first_group(plan_.chunks[i] + 1); ++g) {
        tasks.push_back(g);
      }
    }
    open_.resize(first_chunk_after(plan_.n_groups));
    progress_.start(static_cast<int64_t>(tasks.size()));
    LocalBlockMaker maker(features_.n_features());
    rows_ = make_block_rows(maker, features_, row_number_.data(), features_.n_rows(), options_.bias,
                            takes_singles(options_), progress_);
    std::vector<std::unique_ptr<GroupSolver>> solvers(std::max(options_.n_threads, 1));
    parallel_for(options_.n_threads, static_cast<int64_t>(tasks.size()), [&](int64_t task, int worker) {
      progress_.check();
      if (!solvers[worker]) solvers[worker] = make_group_solver(options_);
      train_group(tasks[task], *solvers[worker]);
      progress_.advance(1);
    });
  }

 private:
  int64_t first_group(int64_t chunk) const { return std::min(chunk * plan_.chunk_groups, plan_.n_groups); }
  int64_t first_chunk_after(int64_t group) const {
    return (group + plan_.chunk_groups - 1) / plan_.chunk_groups;
  }

  // Bit j of row i: whether row i has the j-th of these labels.
  std::vector<uint32_t> positive_lanes(const int32_t* labels, int n) const {
    std::vector<uint32_t> positive(features_.n_rows(), 0);
    for (int j = 0; j < n; ++j) {
      for (int64_t k = examples_.begin[labels[j]]; k < examples_.begin[labels[j] + 1]; ++k) {
        positive[examples_.rows[k]] |= 1u << j;
      }
    }
    return positive;
  }

  void train_group(int64_t group, GroupSolver& solver) {
    const int32_t* labels = plan_.label + plan_.group_begin[group];
    const int n_columns = static_cast<int>(plan_.group_begin[group + 1] - plan_.group_begin[group]);
    const std::vector<uint32_t> positive = positive_lanes(labels, n_columns);
    const GroupProblem problem{rows_.local,
                               row_number_.data(),
                               rows_.squared_norm.data(),
                               rows_.singles.squared_norm.data(),
                               cost_.data(),
                               nullptr,
                               positive,
                               n_columns};
    solver.run(problem, mix_seed(options_.seed, group), progress_);
    GroupWeights kept = kept_weights(problem, rows_.singles, solver.learned(), labels, options_.bias != 0,
                                     features_.dense(), options_.prune);
    keep(group, problem, solver, std::move(kept));
  }

  void keep(int64_t group, const GroupProblem& problem, const GroupSolver& solver, GroupWeights&& kept) {
    const int64_t chunk = group / plan_.chunk_groups;
    std::unique_ptr<OpenChunk> complete;
    {
      const std::lock_guard lock(mutex_);
      if (!open_[chunk]) open_[chunk] = open_chunk(chunk);
      OpenChunk& open = *open_[chunk];
      BlockArrays& arrays = open.trained.arrays;
      // Columns are counted within the chunk.
      const int64_t first = plan_.group_begin[group] - plan_.group_begin[first_group(chunk)];
      int32_t place[kMaxLanes];
      std::iota(place, place + problem.n_columns, static_cast<int32_t>(first));
      const LaneWeights learned = solver.learned();
      keep_dense_weights(problem.rows, learned, place, problem.n_columns, features_.dense(),
                         arrays.dense_weight.data());
      if (options_.bias != 0) {
        const float* bias = learned.weights + int64_t{problem.rows.n_features() - 1} * learned.lanes;
        for (int j = 0; j < problem.n_columns; ++j) arrays.bias[first + j] = bias[j] * options_.bias;
      }
      TrainingReport& report = open.trained.report;
      report.n_columns += problem.n_columns;
      report.n_unconverged += solver.n_unconverged();
      report.n_row_visits += solver.n_row_visits();
      report.n_pruned += kept.n_pruned;
      report.n_passes = std::max(report.n_passes, solver.n_passes());
      open.groups[group - first_group(chunk)] = std::move(kept);
      if (--open.groups_left == 0) complete = std::move(open_[chunk]);
    }
    if (!complete) return;
    const std::vector<int32_t> one_block(complete->groups.size(), 0);
    assemble_blocks(complete->groups, one_block, 1, progress_, complete->trained.arrays);
    finished_(chunk, std::move(complete->trained));
  }

  std::unique_ptr<OpenChunk> open_chunk(int64_t chunk) const {
    auto open = std::make_unique<OpenChunk>();
    const int64_t begin = first_group(chunk), end = first_group(chunk + 1);
    const int64_t n_columns = plan_.group_begin[end] - plan_.group_begin[begin];
    open->groups_left = end - begin;
    open->groups.resize(end - begin);
    open->trained.arrays.bias.assign(n_columns, 0.0f);
    open->trained.arrays.dense_weight.assign(n_panels(n_columns) * features_.dense().size() * kPanelColumns,
                                             0.0f);
    return open;
  }

  const FeatureMatrix& features_;
  const ColumnPlan& plan_;
  const SolverOptions& options_;
  const ChunkSink& finished_;
  Progress& progress_;

  const LabelExamples examples_;
  std::vector<int32_t> row_number_;
  std::vector<float> cost_;
  BlockRows rows_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<OpenChunk>> open_;  // by chunk
};

}  // namespace

void train_columns(const FeatureMatrix& features, const LabelMatrixView& labels, int32_t n_labels,
                   const float* sample_weight, const ColumnPlan& plan, const SolverOptions& options,
                   const ChunkSink& finished, Progress& progress) {
  ColumnTrainer(features, labels, n_labels, sample_weight, plan, options, finished, progress).train();
}

}  // namespace labeltree
