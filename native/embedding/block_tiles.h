// The work of a batch at the nodes of a tree, cut into pieces.
#pragma once

#include <cstdint>
#include <vector>

#include "embedding/example_batch.h"

namespace labeltree {

// Some columns of a block, and all examples of the batch that train the block.
struct BlockTile {
  int32_t block;
  int32_t column_begin, column_end;  // within the block
  int32_t n_learning;                // columns of the block that learn
  const int64_t* examples;           // positions in ExampleBatch::block_examples()
  int64_t n_examples;
  int64_t slot;   // the gradients of their hidden vectors go to this and the following slots
  int64_t score;  // the scores of the whole block begin here: one row of n_learning for each example

  int32_t n_columns() const { return column_end - column_begin; }
};

// Wide blocks are cut by their columns, and each part has its own share of the gradient of a hidden vector.
// Where they are cut depends on the tree alone: sums do not depend on the number of threads.
class BlockTiles {
 public:
  // `one_of_two`: of two siblings that exclude each other only the first learns.
  BlockTiles(const TreeBlocks& blocks, bool one_of_two) : blocks_(blocks), one_of_two_(one_of_two) {
    n_examples_.assign(blocks.n_blocks(), 0);
  }

  void arrange(const ExampleBatch& batch);

  const std::vector<BlockTile>& tiles() const { return tiles_; }
  // The tiles of a task are task_begin(task) to task_begin(task + 1).
  int64_t n_tasks() const { return static_cast<int64_t>(task_begin_.size()) - 1; }
  int64_t task_begin(int64_t task) const { return task_begin_[task]; }
  int64_t n_slots() const { return n_slots_; }
  int64_t n_scores() const { return n_scores_; }
  int32_t n_learning(int32_t block) const {
    const int32_t n = blocks_.n_columns(block);
    return one_of_two_ && block > 0 && n == 2 ? 1 : n;
  }

  // Calls visit(slot) for the slots of an example at a block, in the order of the columns.
  template <class Visit>
  void visit_slots(int64_t example, const Visit& visit) const {
    const Place& place = place_[example];
    for (int32_t part = 0; part < place.n_parts; ++part) visit(place.slot + part * place.step);
  }
  int64_t score_of(int64_t example) const { return place_[example].score; }

 private:
  struct Place {
    int64_t slot, step, score;
    int32_t n_parts;
  };

  void sort_by_block(const ExampleBatch& batch);
  void make_tasks();

  const TreeBlocks& blocks_;
  bool one_of_two_;
  std::vector<int64_t> n_examples_;  // per block; 0 between two calls
  std::vector<int32_t> touched_;     // the blocks that are trained, ascending
  std::vector<int64_t> begin_;       // of their examples in by_block_, and the end
  std::vector<int64_t> by_block_;
  std::vector<BlockTile> tiles_;
  std::vector<int64_t> task_begin_;
  std::vector<Place> place_;  // per example at a block
  int64_t n_slots_ = 0, n_scores_ = 0;
};

}  // namespace labeltree
