#include "embedding/vector_trainer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/random.h"

namespace labeltree {

namespace {

// What random numbers are drawn for; see also word_layer.cpp.
enum : uint64_t { kOrder = 1 };

constexpr int64_t kBatchRowsPerTask = 8;
// The fewest rows of a batch for each thread.
constexpr int kRowsPerThread = 16;
constexpr int64_t kWordsPerTask = 64;

}  // namespace

VectorTrainer::VectorTrainer(const LabelTreeView& tree, int64_t n_features, const VectorOptions& options)
    : options_(options),
      blocks_(tree),
      words_(n_features, options),
      nodes_(blocks_, options),
      hidden_(nodes_.table().stride()) {}

float VectorTrainer::rate() const {
  if (!options_.falling_rate) return options_.learning_rate;
  const double left = 1 - static_cast<double>(n_visited_) / static_cast<double>(options_.n_visits);
  return static_cast<float>(options_.learning_rate * std::max(left, 0.0));
}

void VectorTrainer::learn(const Examples& examples, Progress& progress) {
  const int64_t n = examples.n_rows(), size = options_.batch_size;
  if (progress.total.load(std::memory_order_relaxed) == 0) progress.start(options_.n_visits);
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random(mix_seed(mix_seed(options_.seed, kOrder), n_passes_++))
      .shuffle(order.data(), static_cast<uint32_t>(n));

  // Threads would spend their time waiting for each other in a small batch.
  ThreadTeam team(std::min<int>(options_.n_threads, std::max(options_.batch_size / kRowsPerThread, 1)));
  const bool softmax = options_.loss == NodeLoss::softmax;
  // Hard negatives are found block by block, and so are their nodes learned.
  ExampleBatch batch(blocks_, words_.table().n_vectors(), options_.trains_root, options_.mean, softmax,
                     options_.hard_negatives == 0);
  ExampleBatch next = batch;
  const auto n_from = [&](int64_t begin) {
    return static_cast<int>(std::clamp<int64_t>(n - begin, 0, size));
  };
  batch.read(examples, order.data(), n_from(0));
  for (int64_t begin = 0; begin < n; begin += size) {
    progress.check();
    const int64_t after = std::min(begin + size, n);
    learn_batch(team, batch, examples, order.data() + after, n_from(after), next);
    n_visited_ += batch.n_rows();
    progress.advance(batch.n_rows());
    std::swap(batch, next);
  }
}

void VectorTrainer::learn_batch(ThreadTeam& team, ExampleBatch& batch, const Examples& examples,
                                const int64_t* next_rows, int n_next, ExampleBatch& next) {
  const float rate = this->rate();
  hidden_.resize(batch.n_rows());
  team.run_ranges(batch.n_rows(), kBatchRowsPerTask, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      words_.make_hidden(batch, static_cast<int>(row), n_visited_ + row, hidden_);
    }
  });
  if (options_.hard_negatives > 0) add_hard_negatives(team, batch);
  // The next batch is read meanwhile: it does not depend on the vectors.
  nodes_.learn(team, batch, hidden_, rate, [&] { next.read(examples, next_rows, n_next); });
  team.run_ranges(batch.n_rows(), kBatchRowsPerTask, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      nodes_.add_up_gradient(batch, static_cast<int>(row), hidden_);
      words_.drop_gradient(static_cast<int>(row), n_visited_ + row, hidden_);
    }
  });
  std::vector<AlignedFloats> scratch(team.size());
  for (AlignedFloats& of_thread : scratch) of_thread.reset(words_.table().stride());
  team.run_ranges(batch.words().by_word.n_items(), kWordsPerTask,
                  [&](int64_t begin, int64_t end, int worker) {
                    for (int64_t i = begin; i < end; ++i)
                      words_.learn(batch, i, hidden_, rate, scratch[worker]);
                  });
}

void VectorTrainer::add_hard_negatives(ThreadTeam& team, ExampleBatch& batch) {
  hard_negatives_.resize(batch.n_rows());
  team.run_ranges(batch.n_rows(), kBatchRowsPerTask, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      nodes_.find_hard_negatives(batch, static_cast<int>(row), hidden_, hard_negatives_[row]);
    }
  });
  batch.add_negatives(hard_negatives_);
}

}  // namespace labeltree
