#include "rivals/one_vs_rest/one_vs_rest.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "core/advance.h"
#include "core/label_examples.h"
#include "core/parallel_for.h"
#include "core/random.h"
#include "lanes/kernels.h"
#include "training/block_rows.h"
#include "training/group_solver.h"
#include "training/group_weights.h"

namespace labeltree {

namespace {

// A chunk with groups that are not trained yet.
struct OpenChunk {
  std::vector<GroupWeights> groups;
  int64_t groups_left;
  ColumnChunk trained;
};

// What some labels learn from.
struct LabelRows {
  std::vector<int32_t> number;  // of the rows among all examples, ascending
  BlockRows rows;
  std::vector<float> cost;
};

// What a thread needs for itself.
struct ColumnWorker {
  LocalBlockMaker maker;
  std::unique_ptr<GroupSolver> solver;
};

class ColumnTrainer {
 public:
  ColumnTrainer(const Examples& examples, const ColumnPlan& plan, const Negatives* negatives,
                const SolverOptions& options, const ChunkSink& finished, Progress& progress)
      : features_(examples.features),
        sample_weight_(examples.sample_weight),
        plan_(plan),
        options_(options),
        finished_(finished),
        progress_(progress),
        examples_(examples.labels, examples.n_labels) {
    if (negatives == nullptr) return;
    n_random_ = negatives->n_random;
    negative_.emplace(negatives->labels, examples.n_labels);
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
    if (!negative_) {
      std::vector<int32_t> all_rows(features_.n_rows());
      std::iota(all_rows.begin(), all_rows.end(), 0);
      LocalBlockMaker maker(features_.n_features());
      everything_ = copy_rows(std::move(all_rows), maker);
    }
    std::vector<std::unique_ptr<ColumnWorker>> workers(std::max(options_.n_threads, 1));
    parallel_for(options_.n_threads, static_cast<int64_t>(tasks.size()), [&](int64_t task, int number) {
      progress_.check();
      std::unique_ptr<ColumnWorker>& worker = workers[number];
      if (!worker) {
        // Only workers that copy rows need the table of all features.
        worker.reset(new ColumnWorker{LocalBlockMaker(negative_ ? features_.n_features() : 0),
                                      make_group_solver(options_)});
      }
      train_group(tasks[task], *worker);
      progress_.advance(1);
    });
  }

 private:
  int64_t first_group(int64_t chunk) const { return std::min(chunk * plan_.chunk_groups, plan_.n_groups); }
  int64_t first_chunk_after(int64_t group) const {
    return (group + plan_.chunk_groups - 1) / plan_.chunk_groups;
  }

  LabelRows copy_rows(std::vector<int32_t>&& number, LocalBlockMaker& maker) const {
    LabelRows copy;
    const auto n_rows = static_cast<int64_t>(number.size());
    copy.rows = make_block_rows(maker, features_, number.data(), n_rows, options_.bias,
                                takes_singles(options_), progress_);
    copy.cost.resize(n_rows);
    for (int64_t i = 0; i < n_rows; ++i) {
      copy.cost[i] =
          bounded_cost(options_.C * (sample_weight_ != nullptr ? sample_weight_[number[i]] : 1.0f));
    }
    copy.number = std::move(number);
    return copy;
  }

  // All rows that some of the labels learn from, ascending.
  std::vector<int32_t> rows_of(const int32_t* labels, int n, uint64_t seed) const {
    std::vector<int32_t> rows;
    const auto add = [&](const LabelExamples& examples, int32_t label) {
      rows.insert(rows.end(), examples.rows.begin() + examples.begin[label],
                  examples.rows.begin() + examples.begin[label + 1]);
    };
    for (int j = 0; j < n; ++j) {
      add(examples_, labels[j]);
      add(*negative_, labels[j]);
    }
    Random random(seed);
    for (int64_t i = 0; i < n_random_; ++i) {
      rows.push_back(static_cast<int32_t>(random.below(static_cast<uint32_t>(features_.n_rows()))));
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    // The bias must not be a feature that only one row has.
    if (rows.size() == 1 && features_.n_rows() > 1)
      rows.insert(rows[0] == 0 ? rows.end() : rows.begin(), rows[0] == 0 ? 1 : 0);
    return rows;
  }

  // Bit j of row i: whether the i-th of the rows has the j-th of the labels. The others are negative ones of
  // all lanes: a row that is copied for one of them costs no more for all, and labels learn more from it.
  std::vector<uint32_t> positive_lanes(const std::vector<int32_t>& rows, const int32_t* labels, int n) const {
    std::vector<uint32_t> positive(rows.size(), 0);
    for (int j = 0; j < n; ++j) {
      auto at = rows.begin();
      for (int64_t k = examples_.begin[labels[j]]; k < examples_.begin[labels[j] + 1]; ++k) {
        at = advance_to(at, rows.end(), examples_.rows[k]);
        positive[at - rows.begin()] |= 1u << j;
      }
    }
    return positive;
  }

  void train_group(int64_t group, ColumnWorker& worker) {
    const int32_t* labels = plan_.label + plan_.group_begin[group];
    const int n_columns = static_cast<int>(plan_.group_begin[group + 1] - plan_.group_begin[group]);
    const uint64_t seed = mix_seed(options_.seed, group);
    LabelRows sampled;
    if (negative_) sampled = copy_rows(rows_of(labels, n_columns, mix_seed(seed, 1)), worker.maker);
    const LabelRows& learned_from = negative_ ? sampled : everything_;
    const BlockRows& rows = learned_from.rows;
    const std::vector<uint32_t> positive = positive_lanes(learned_from.number, labels, n_columns);
    const GroupProblem problem{rows.local,
                               learned_from.number.data(),
                               rows.squared_norm.data(),
                               rows.singles.squared_norm.data(),
                               learned_from.cost.data(),
                               nullptr,
                               positive,
                               n_columns};
    GroupSolver& solver = *worker.solver;
    solver.run(problem, seed, progress_);
    GroupWeights kept = kept_weights(problem, rows.singles, solver.learned(), labels, options_.bias != 0,
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
  const float* sample_weight_;
  const ColumnPlan& plan_;
  const SolverOptions& options_;
  const ChunkSink& finished_;
  Progress& progress_;

  const LabelExamples examples_;
  std::optional<LabelExamples> negative_;
  int64_t n_random_ = 0;
  LabelRows everything_;  // unless some rows are chosen for each group
  std::mutex mutex_;
  std::vector<std::unique_ptr<OpenChunk>> open_;  // by chunk
};

}  // namespace

void train_columns(const Examples& examples, const ColumnPlan& plan, const Negatives* negatives,
                   const SolverOptions& options, const ChunkSink& finished, Progress& progress) {
  ColumnTrainer(examples, plan, negatives, options, finished, progress).train();
}

}  // namespace labeltree
