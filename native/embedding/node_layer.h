// From hidden vectors to the nodes of a tree, and back: block by block of siblings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/aligned_floats.h"
#include "core/thread_team.h"
#include "embedding/block_tiles.h"
#include "embedding/example_batch.h"
#include "embedding/hidden_rows.h"
#include "embedding/vector_options.h"
#include "embedding/vector_table.h"

namespace labeltree {

class NodeLayer {
 public:
  NodeLayer(const TreeBlocks& blocks, const VectorOptions& options);

  // Per node: a vector, then the bias.
  const VectorTable& table() const { return table_; }

  // Finds the most probable inner nodes that no label of the row is below: those that the search for labels
  // would follow in vain.
  void find_hard_negatives(const ExampleBatch& batch, int row, const HiddenRows& hidden,
                           std::vector<int32_t>& blocks) const;

  // One step of all nodes in the blocks of a batch. `meanwhile` is called once, by one of the threads.
  template <class Meanwhile>
  void learn(ThreadTeam& team, const ExampleBatch& batch, HiddenRows& hidden, float rate,
             const Meanwhile& meanwhile);
  // The gradient of the loss by a hidden vector, as it was before the step.
  void add_up_gradient(const ExampleBatch& batch, int row, HiddenRows& hidden) const;

 private:
  // Rows and nodes of narrow blocks that make a task.
  static constexpr int64_t kNarrowRows = 8, kNarrowNodes = 32;

  // What one thread needs.
  struct Scratch {
    std::vector<float> scores;
    std::vector<float*> score_rows;
    std::vector<const float*> vectors;
    std::vector<float> values;
    AlignedFloats gradients;
  };
  // The scores of a tile, or the gradients by them: of example i and column c at data[i * step + c].
  struct ScoreTile {
    float* data;
    int64_t step;
  };

  void prepare(const ExampleBatch& batch, int n_threads);
  // The gradients by the scores of a row's nodes in narrow blocks, and what they make of its hidden vector's.
  void score_narrow(const ExampleBatch& batch, int row, HiddenRows& hidden);
  // One step of the i-th node in narrow blocks.
  void step_narrow(const ExampleBatch& batch, int64_t i, const HiddenRows& hidden, float rate,
                   Scratch& scratch);
  ScoreTile shared_scores(const BlockTile& tile) {
    return {scores_.data() + tile.score + tile.column_begin, tile.n_learning};
  }
  void score(const ExampleBatch& batch, const BlockTile& tile, const HiddenRows& hidden, ScoreTile scores,
             Scratch& scratch) const;
  void step(const ExampleBatch& batch, const BlockTile& tile, const HiddenRows& hidden, ScoreTile gradients,
            float rate, Scratch& scratch);
  void learn_logistic(const ExampleBatch& batch, const BlockTile& tile, const HiddenRows& hidden, float rate,
                      Scratch& scratch);
  void apply_softmax(const ExampleBatch& batch, int64_t example);

  const TreeBlocks& blocks_;
  VectorOptions options_;
  VectorTable table_;
  BlockTiles tiles_;
  AlignedFloats slots_;
  std::vector<float> scores_;  // of whole blocks, for softmax
  std::vector<float> narrow_;  // gradients of batch.narrow()
  std::vector<Scratch> scratch_;
};

template <class Meanwhile>
void NodeLayer::learn(ThreadTeam& team, const ExampleBatch& batch, HiddenRows& hidden, float rate,
                      const Meanwhile& meanwhile) {
  prepare(batch, team.size());
  const auto for_tiles = [&](int64_t task, int worker, const auto& body) {
    for (int64_t i = tiles_.task_begin(task); i < tiles_.task_begin(task + 1); ++i) {
      body(tiles_.tiles()[i], scratch_[worker]);
    }
  };
  const int64_t n_rows = batch.n_rows(),
                row_tasks = narrow_.empty() ? 0 : (n_rows + kNarrowRows - 1) / kNarrowRows;
  const auto run_with = [&](const auto& body) {
    team.run(1 + row_tasks + tiles_.n_tasks(), [&](int64_t task, int worker) {
      if (task == 0) {
        meanwhile();
      } else if (task <= row_tasks) {
        const int64_t end = std::min(task * kNarrowRows, n_rows);
        for (int64_t row = (task - 1) * kNarrowRows; row < end; ++row) {
          score_narrow(batch, static_cast<int>(row), hidden);
        }
      } else {
        for_tiles(task - 1 - row_tasks, worker, body);
      }
    });
  };
  if (options_.loss == NodeLoss::logistic) {
    run_with(
        [&](const BlockTile& tile, Scratch& scratch) { learn_logistic(batch, tile, hidden, rate, scratch); });
  } else {
    // The gradient of a softmax needs the scores of all siblings.
    run_with([&](const BlockTile& tile, Scratch& scratch) {
      score(batch, tile, hidden, shared_scores(tile), scratch);
    });
    team.run(n_rows, [&](int64_t row, int) {
      for (int64_t i = batch.block_begin()[row]; i < batch.block_begin()[row + 1]; ++i)
        apply_softmax(batch, i);
    });
    team.run(tiles_.n_tasks(), [&](int64_t task, int worker) {
      for_tiles(task, worker, [&](const BlockTile& tile, Scratch& scratch) {
        step(batch, tile, hidden, shared_scores(tile), rate, scratch);
      });
    });
  }
  team.run_ranges(batch.narrow().by_node.n_items(), kNarrowNodes,
                  [&](int64_t begin, int64_t end, int worker) {
                    for (int64_t i = begin; i < end; ++i)
                      step_narrow(batch, i, hidden, rate, scratch_[worker]);
                  });
}

}  // namespace labeltree
