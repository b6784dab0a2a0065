// How well a trained tree knows examples that it has not seen: the log loss of its nodes, level by level.
#pragma once

#include <cstdint>

#include "core/examples.h"
#include "model/block_store.h"

namespace labeltree {

// loss[row * n_levels + level]: what the nodes of that level lose whose parent is positive for the row,
// summed. The root is on level 0. A positive node counts as much as the heaviest of the row's labels below
// it. Probabilities are taken to be at least 0.001 and at most 0.999: a few bold mistakes shall not decide.
void held_out_loss(const BlockStore& store, const Examples& examples, int n_levels, int n_threads,
                   double* loss);

}  // namespace labeltree
