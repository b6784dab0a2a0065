#include "embedding/block_tiles.h"

#include <algorithm>

namespace labeltree {

namespace {

// Narrow enough for several threads to share the root, and not too many for a flat tree.
constexpr int32_t kTileColumns = 64;
constexpr int32_t kMostTiles = 64;
// Products of an example and a column that make a task worth handing out.
constexpr int64_t kTaskSize = 1024;
// What the step of a column costs, in such products.
constexpr int64_t kStepCost = 4;

int32_t tile_width(int32_t n_columns) {
  return std::max(kTileColumns, (n_columns + kMostTiles - 1) / kMostTiles);
}

}  // namespace

void BlockTiles::sort_by_block(const ExampleBatch& batch) {
  const std::vector<BlockExample>& examples = batch.block_examples();
  touched_.clear();
  // From here on nothing is allocated, so that n_examples_ is 0 again in any case.
  touched_.reserve(examples.size());
  begin_.reserve(examples.size() + 1);
  by_block_.resize(examples.size());
  for (const BlockExample& example : examples) {
    if (n_examples_[example.block]++ == 0) touched_.push_back(example.block);
  }
  std::sort(touched_.begin(), touched_.end());
  begin_.assign(1, 0);
  for (const int32_t block : touched_) {
    begin_.push_back(begin_.back() + n_examples_[block]);
    n_examples_[block] = begin_[begin_.size() - 2];  // from now on: where the next one goes
  }
  for (size_t i = 0; i < examples.size(); ++i) {
    by_block_[n_examples_[examples[i].block]++] = static_cast<int64_t>(i);
  }
  for (const int32_t block : touched_) n_examples_[block] = 0;
}

void BlockTiles::arrange(const ExampleBatch& batch) {
  sort_by_block(batch);
  tiles_.clear();
  place_.resize(by_block_.size());
  n_slots_ = n_scores_ = 0;
  for (size_t t = 0; t < touched_.size(); ++t) {
    const int64_t first = begin_[t], n = begin_[t + 1] - first;
    const int32_t n_columns = n_learning(touched_[t]), width = tile_width(n_columns);
    const int32_t n_parts = (n_columns + width - 1) / width;
    for (int64_t i = 0; i < n; ++i) {
      place_[by_block_[first + i]] = {n_slots_ + i, n, n_scores_ + i * n_columns, n_parts};
    }
    for (int32_t part = 0; part < n_parts; ++part, n_slots_ += n) {
      tiles_.push_back({touched_[t], part * width, std::min((part + 1) * width, n_columns), n_columns,
                        by_block_.data() + first, n, n_slots_, n_scores_});
    }
    n_scores_ += n * n_columns;
  }
  make_tasks();
}

void BlockTiles::make_tasks() {
  task_begin_.assign(1, 0);
  int64_t size = 0;
  for (size_t i = 0; i < tiles_.size(); ++i) {
    size += (tiles_[i].n_examples + kStepCost) * tiles_[i].n_columns();
    if (size < kTaskSize && i + 1 < tiles_.size()) continue;
    task_begin_.push_back(static_cast<int64_t>(i) + 1);
    size = 0;
  }
}

}  // namespace labeltree
