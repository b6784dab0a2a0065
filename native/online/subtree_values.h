// As search/subtree_values.h, for trees that grow.
#pragma once

#include <cstdint>
#include <vector>

#include "online/online_tree.h"

namespace labeltree {

std::vector<float> subtree_minimum(const OnlineTreeView& tree, const float* value_of_label);
std::vector<double> subtree_maximum(const OnlineTreeView& tree, const double* value_of_label);
std::vector<uint8_t> subtree_any(const OnlineTreeView& tree, const uint8_t* label_allowed);

}  // namespace labeltree
