// An online tree as flat arrays: to be written and read again, or frozen into a tree that only answers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/block_arrays.h"
#include "online/online_tree.h"

namespace labeltree {

// All there is. Learning that goes on from it gives, bit for bit, what it would have given without.
struct OnlineState {
  // Nodes; the children of node v are child[child_begin[v] .. child_begin[v + 1]), in the order of the lanes.
  std::vector<int32_t> label;
  std::vector<int32_t> node_block;
  std::vector<uint8_t> open;
  std::vector<int64_t> child_begin;
  std::vector<int32_t> child;
  // Blocks; the rows of block b are [row_begin[b], row_begin[b + 1]), each with as many weights as it has
  // lanes.
  std::vector<int32_t> block_number;
  std::vector<uint8_t> has_auxiliary;
  std::vector<int64_t> n_seen;
  std::vector<double> penalty;
  std::vector<int64_t> row_begin;
  std::vector<uint32_t> feature;
  std::vector<float> weight, square;
  std::vector<double> shrunk;
  std::vector<float> table;  // of shared weights
  std::vector<uint8_t> seen_features;
  // Labels.
  std::vector<int64_t> label_count, last_seen;
  // next_block_number, the policy's state and steps, and OnlineCounts.
  std::vector<int64_t> numbers;

  // Calls visit(name, array) for all of them.
  template <class Visit>
  static void visit_arrays(OnlineState& state, const Visit& visit) {
    visit("label", state.label);
    visit("node_block", state.node_block);
    visit("open", state.open);
    visit("child_begin", state.child_begin);
    visit("child", state.child);
    visit("block_number", state.block_number);
    visit("has_auxiliary", state.has_auxiliary);
    visit("n_seen", state.n_seen);
    visit("penalty", state.penalty);
    visit("row_begin", state.row_begin);
    visit("feature", state.feature);
    visit("weight", state.weight);
    visit("square", state.square);
    visit("shrunk", state.shrunk);
    visit("table", state.table);
    visit("seen_features", state.seen_features);
    visit("label_count", state.label_count);
    visit("last_seen", state.last_seen);
    visit("numbers", state.numbers);
  }

  static OnlineState of(const OnlineTree& tree);
  // Throws std::invalid_argument if the arrays contradict each other or the options.
  std::unique_ptr<OnlineTree> tree(const OnlineOptions& options, std::shared_ptr<TreePolicy> policy) const;
};

// The tree, numbered breadth first, and its weights as a BlockStore reads them, those below `prune` left out.
// position[l] is what label l is to be called; of n_labels names, those that no label has get leaves below
// the root that are never positive.
struct FrozenTree {
  std::vector<int32_t> child_begin, label;
  BlockArrays arrays;
};
FrozenTree freeze(const OnlineTree& tree, float prune, const std::vector<int32_t>& position,
                  int32_t n_labels);

// An online tree that goes on from trained weights. Auxiliary classifiers, where the policy may still use
// them, start from nothing. Not for hashed or shared weights.
std::unique_ptr<OnlineTree> thaw(const BlockStore& store, const OnlineOptions& options,
                                 std::shared_ptr<TreePolicy> policy);

}  // namespace labeltree
