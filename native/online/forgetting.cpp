// How an online tree forgets labels: all of them, or none.
#include <algorithm>
#include <memory>
#include <optional>
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

struct OnlineTree::Forgetting {
  std::vector<uint8_t> label_kept;
  std::vector<Node> nodes;
  std::vector<Narrowed> narrowed;
  std::vector<int32_t> block_order;   // the blocks that stay; the first is that of the root itself
  std::vector<GrowingBlock> blocks;   // room for them
  std::optional<GrowingBlock> fresh;  // of a root that loses all labels
};

std::shared_ptr<OnlineTree::Forgetting> OnlineTree::plan_forgetting(
    const std::vector<uint8_t>& label_kept) const {
  auto plan = std::make_shared<Forgetting>();
  plan->label_kept = label_kept;
  std::vector<Node> before = nodes_;
  std::vector<int32_t> order(1, 0);  // breadth first
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& children = before[order[i]].children;
    order.insert(order.end(), children.begin(), children.end());
  }
  for (const int32_t v : order) before[v].n_leaves = before[v].label >= 0 && label_kept[before[v].label];
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    if (before[*v].parent >= 0) before[before[*v].parent].n_leaves += before[*v].n_leaves;
  }
  if (before[0].n_leaves == 0) {  // only what the root knows of all examples is left
    before[0].children.clear();
    before[0].label = -1;
    before[0].open = true;
    plan->fresh.emplace(space_, next_block_number_, true);
  }
  for (const int32_t v : order) {
    if (before[v].n_leaves == 0) continue;
    for (;;) {
      Node& node = before[v];
      std::vector<uint8_t> kept;
      for (const int32_t child : node.children) kept.push_back(before[child].n_leaves > 0);
      std::erase_if(node.children, [&](int32_t child) { return before[child].n_leaves == 0; });
      if (node.children.size() < kept.size()) {
        const bool reopened =
            !node.open && !policy_->closes(*this, v, static_cast<int>(node.children.size()));
        node.open = node.open || reopened;
        plan->narrowed.push_back({node.block, std::move(kept), reopened});
      }
      if (node.children.size() != 1) break;
      Node& only = before[node.children[0]];
      node.block = only.block;
      node.label = only.label;
      node.open = only.open;
      only.n_leaves = 0;
      node.children = std::exchange(only.children, {});
    }
  }

  // Numbers: nodes breadth first, with their blocks in this order.
  std::vector<Node>& nodes = plan->nodes;
  plan->block_order.push_back(0);
  nodes.push_back(std::move(before[0]));
  for (size_t v = 0; v < nodes.size(); ++v) {
    plan->block_order.push_back(nodes[v].block);
    nodes[v].block = static_cast<int32_t>(plan->block_order.size()) - 1;
    std::vector<int32_t> children;
    for (const int32_t child : nodes[v].children) {
      children.push_back(static_cast<int32_t>(nodes.size()));
      nodes.push_back(std::move(before[child]));
      nodes.back().parent = static_cast<int32_t>(v);
    }
    nodes[v].children = std::move(children);
  }
  nodes.shrink_to_fit();
  plan->blocks.reserve(plan->block_order.size());
  return plan;
}

void OnlineTree::forget(Forgetting& plan) noexcept {
  for (const Narrowed& change : plan.narrowed) {
    blocks_[change.block].keep_children(space_, change.kept, change.reopened);
  }
  for (const int32_t block : plan.block_order) plan.blocks.push_back(std::move(blocks_[block]));
  if (plan.fresh) {
    plan.blocks[1] = std::move(*plan.fresh);
    ++next_block_number_;
  }
  blocks_ = std::move(plan.blocks);
  nodes_ = std::move(plan.nodes);
  int32_t n_kept = 0;  // labels keep their order
  for (size_t label = 0; label < plan.label_kept.size(); ++label) {
    if (!plan.label_kept[label]) continue;
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
