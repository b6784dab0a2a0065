// Values of nodes from the values of the labels below them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/label_tree.h"

namespace labeltree {

// Per node: the smallest value of the labels below it.
std::vector<float> subtree_minimum(const LabelTreeView& tree, const float* value_of_label);

// Per node: the largest value of the labels below it.
std::vector<double> subtree_maximum(const LabelTreeView& tree, const double* value_of_label);

// Per node: whether some label below it is allowed.
std::vector<uint8_t> subtree_any(const LabelTreeView& tree, const uint8_t* label_allowed);

}  // namespace labeltree
