// What the nodes of a trained tree say about examples that it has not seen, beside the truth.
#pragma once

#include <cstdint>
#include <vector>

#include "core/examples.h"
#include "model/block_store.h"

namespace labeltree {

// Pairs of a row and a node whose parent is positive for the row (or that is the root), by row.
struct HeldOutNodes {
  std::vector<int32_t> node;
  std::vector<float> score;        // what a calibration maps
  std::vector<float> probability;  // given the parent's, as the store says now
  std::vector<uint8_t> positive;   // whether the row has a label below the node
};

// All positive pairs, and each of the others with the chance `negative_share`, by a number that depends on
// seed, row and node alone.
HeldOutNodes held_out_nodes(const BlockStore& store, const Examples& examples, bool normalize_siblings,
                            double negative_share, uint64_t seed, int n_threads);

}  // namespace labeltree
