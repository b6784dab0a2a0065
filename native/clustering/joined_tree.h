// A tree whose parts were found apart.
#pragma once

#include <cstdint>
#include <vector>

#include "clustering/label_clustering.h"
#include "core/span.h"

namespace labeltree {

// The arrays of a tree; the caller owns them.
struct TreeSpans {
  Span<int32_t> child_begin, label;
};

// The tree with each open node of `top` replaced by the root of a tree, numbered breadth first. Throws
// std::invalid_argument unless that makes a tree with every label at one leaf: the arrays may come from
// files.
TreeArrays join_subtrees(const TreeSpans& top, const Span<int32_t>& open_node,
                         const std::vector<TreeSpans>& subtrees);

}  // namespace labeltree
