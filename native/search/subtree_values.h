// Values of nodes from the values of the labels below them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/block_store.h"

namespace labeltree {

// Per node: the smallest value of the labels below it.
std::vector<float> subtree_minimum(const BlockStore& store, const float* value_of_label);

// Per node: the largest value of the labels below it.
std::vector<double> subtree_maximum(const BlockStore& store, const double* value_of_label);

// Per node: whether some label below it is allowed.
std::vector<uint8_t> subtree_any(const BlockStore& store, const uint8_t* label_allowed);

}  // namespace labeltree
