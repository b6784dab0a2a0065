// From hidden vectors to the nodes of a tree, and back: block by block of siblings.
#pragma once

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
  void learn(ThreadTeam& team, const ExampleBatch& batch, const HiddenRows& hidden, float rate,
             const Meanwhile& meanwhile);
  // The gradient of the loss by a hidden vector, as it was before the step.
  void add_up_gradient(const ExampleBatch& batch, int row, HiddenRows& hidden) const;

 private:
  // What one thread needs.
  struct Scratch {
    std::vector<float> scores;
    std::vector<float*> score_rows;
    std::vector<const float*> vectors;
    AlignedFloats gradients;
    int64_t n_gradients = 0;
  };
  // The scores of a tile, or the gradients by them: of example i and column c at data[i * step + c].
  struct ScoreTile {
    float* data;
    int64_t step;
  };

  void prepare(const ExampleBatch& batch, int n_threads);
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
  std::vector<Scratch> scratch_;
};

template <class Meanwhile>
void NodeLayer::learn(ThreadTeam& team, const ExampleBatch& batch, const HiddenRows& hidden, float rate,
                      const Meanwhile& meanwhile) {
  prepare(batch, team.size());
  const auto for_tiles = [&](int64_t task, int worker, const auto& body) {
    for (int64_t i = tiles_.task_begin(task); i < tiles_.task_begin(task + 1); ++i) {
      body(tiles_.tiles()[i], scratch_[worker]);
    }
  };
  const auto run_with = [&](const auto& body) {
    team.run(tiles_.n_tasks() + 1,
             [&](int64_t task, int worker) { task == 0 ? meanwhile() : for_tiles(task - 1, worker, body); });
  };
  if (options_.loss == NodeLoss::logistic) {
    run_with(
        [&](const BlockTile& tile, Scratch& scratch) { learn_logistic(batch, tile, hidden, rate, scratch); });
    return;
  }
  // The gradient of a softmax needs the scores of all siblings.
  run_with([&](const BlockTile& tile, Scratch& scratch) {
    score(batch, tile, hidden, shared_scores(tile), scratch);
  });
  team.run(batch.n_rows(), [&](int64_t row, int) {
    for (int64_t i = batch.block_begin()[row]; i < batch.block_begin()[row + 1]; ++i) apply_softmax(batch, i);
  });
  team.run(tiles_.n_tasks(), [&](int64_t task, int worker) {
    for_tiles(task, worker, [&](const BlockTile& tile, Scratch& scratch) {
      step(batch, tile, hidden, shared_scores(tile), rate, scratch);
    });
  });
}

}  // namespace labeltree
