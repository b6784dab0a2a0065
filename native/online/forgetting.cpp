// How an online tree forgets labels: all of them, or none.
#include <algorithm>
#include <utility>

#include "online/online_tree.h"

namespace labeltree {

namespace {

// A block that loses children.
struct Narrowed {
  int32_t block;
  std::vector<uint8_t> kept;
  bool reopened;  // its node may get children again, with a new auxiliary classifier
};

}  // namespace

void OnlineTree::forget(const std::vector<uint8_t>& label_kept) {
  std::vector<Node> before = nodes_;
  std::vector<Narrowed> narrowed;
  std::vector<Node> nodes;
  std::vector<int32_t> block_order;  // the blocks that stay; the first is that of the root itself
  std::vector<GrowingBlock> blocks;
  const bool is_emptied = std::none_of(label_kept.begin(), label_kept.end(), [](bool kept) { return kept; });
  try {
    std::vector<int32_t> order(1, 0);  // breadth first
    for (size_t i = 0; i < order.size(); ++i) {
      const auto& children = nodes_[order[i]].children;
      order.insert(order.end(), children.begin(), children.end());
    }
    for (const int32_t v : order) nodes_[v].n_leaves = nodes_[v].label >= 0 && label_kept[nodes_[v].label];
    for (auto v = order.rbegin(); v != order.rend(); ++v) {
      if (nodes_[*v].parent >= 0) nodes_[nodes_[*v].parent].n_leaves += nodes_[*v].n_leaves;
    }
    if (is_emptied) {  // only what the root knows of all examples is left
      nodes_[0].children.clear();
      nodes_[0].label = -1;
      nodes_[0].open = true;
    }
    for (const int32_t v : order) {
      if (nodes_[v].n_leaves == 0) continue;
      for (;;) {
        Node& node = nodes_[v];
        std::vector<uint8_t> kept;
        for (const int32_t child : node.children) kept.push_back(nodes_[child].n_leaves > 0);
        std::erase_if(node.children, [&](int32_t child) { return nodes_[child].n_leaves == 0; });
        if (node.children.size() < kept.size()) {
          const bool reopened =
              !node.open && !policy_->closes(*this, v, static_cast<int>(node.children.size()));
          node.open = node.open || reopened;
          narrowed.push_back({node.block, std::move(kept), reopened});
        }
        if (node.children.size() != 1) break;
        Node& only = nodes_[node.children[0]];
        node.block = only.block;
        node.label = only.label;
        node.open = only.open;
        only.n_leaves = 0;
        node.children = std::exchange(only.children, {});
      }
    }

    // Numbers: nodes breadth first, with their blocks in this order.
    block_order.push_back(0);
    nodes.push_back(std::move(nodes_[0]));
    for (size_t v = 0; v < nodes.size(); ++v) {
      block_order.push_back(nodes[v].block);
      nodes[v].block = static_cast<int32_t>(block_order.size()) - 1;
      std::vector<int32_t> children;
      for (const int32_t child : nodes[v].children) {
        children.push_back(static_cast<int32_t>(nodes.size()));
        nodes.push_back(std::move(nodes_[child]));
        nodes.back().parent = static_cast<int32_t>(v);
      }
      nodes[v].children = std::move(children);
    }
    nodes.shrink_to_fit();
    blocks.reserve(block_order.size());
    if (is_emptied) {
      blocks_.emplace_back(space_, next_block_number_, true);
      block_order[1] = static_cast<int32_t>(blocks_.size()) - 1;
    }
  } catch (...) {
    nodes_ = std::move(before);
    throw;
  }

  // From here on nothing throws.
  next_block_number_ += is_emptied;
  for (const Narrowed& change : narrowed) {
    blocks_[change.block].keep_children(space_, change.kept, change.reopened);
  }
  for (const int32_t block : block_order) blocks.push_back(std::move(blocks_[block]));
  blocks_ = std::move(blocks);
  nodes_ = std::move(nodes);
  int32_t n_kept = 0;  // labels keep their order
  for (size_t label = 0; label < label_kept.size(); ++label) {
    if (!label_kept[label]) continue;
    leaf_[label] = n_kept;  // its new number, for the moment
    label_counts_[n_kept] = label_counts_[label];
    last_seen_[n_kept++] = last_seen_[label];
  }
  for (Node& node : nodes_) {
    if (node.label >= 0) node.label = leaf_[node.label];
  }
  label_counts_.resize(n_kept);
  last_seen_.resize(n_kept);
  leaf_.resize(n_kept);
  for (int32_t v = 0; v < n_nodes(); ++v) {
    if (nodes_[v].label >= 0) leaf_[nodes_[v].label] = v;
  }
  positive_at_.assign(nodes_.size(), 0);
  policy_->renumbered();
}

}  // namespace labeltree
