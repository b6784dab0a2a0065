#include "online/online_tree.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/make_room.h"
#include "training/incremental_solver.h"

namespace labeltree {

namespace {

WeightSpace make_space(const OnlineOptions& options) {
  check_incremental(options.solver, options.learner.loss, options.learner.initial_accumulator);
  WeightSpace space;
  space.kind = options.weights;
  space.solver = options.solver;
  space.initial_accumulator = options.learner.initial_accumulator;
  space.length = options.length;
  space.most_lanes = options.most_lanes;
  if (space.kind == WeightKind::shared) space.table.resize(space.length * space.floats_per_weight());
  return space;
}

}  // namespace

OnlineTree::OnlineTree(const OnlineOptions& options, std::shared_ptr<TreePolicy> policy)
    : options_(options), policy_(std::move(policy)), space_(make_space(options)) {
  add_block(false);
  blocks_[0].add_blank_child(space_);
  add_node(-1, add_block(true));
}

OnlineTree::OnlineTree(const OnlineOptions& options, std::shared_ptr<TreePolicy> policy,
                       const LabelTreeView& tree)
    : options_(options), policy_(std::move(policy)), space_(make_space(options)) {
  add_block(false);
  blocks_[0].add_blank_child(space_);
  leaf_.assign(tree.n_labels, -1);
  label_counts_.assign(tree.n_labels, 0);
  last_seen_.assign(tree.n_labels, 0);
  const std::vector<int32_t> parent = parents(tree);
  for (int32_t v = 0; v < tree.n_nodes; ++v) {
    if (!tree.is_leaf(v) && !has_room(tree.n_children(v) - 1)) {
      throw std::invalid_argument("a node of the given tree has " + std::to_string(tree.n_children(v)) +
                                  " children, but shared weights have room for those of `arity` only");
    }
    const bool open = !policy_->closes(*this, v, tree.n_children(v));
    add_node(parent[v], add_block(open));
    nodes_[v].open = open;
    for (int32_t i = 0; i < tree.n_children(v); ++i) {
      nodes_[v].children.push_back(tree.child(v, i));
      blocks_.back().add_blank_child(space_);
    }
    if (tree.is_leaf(v)) {
      nodes_[v].label = tree.label_of(v);
      leaf_[nodes_[v].label] = v;
      for (int32_t u = v; u >= 0; u = nodes_[u].parent) ++nodes_[u].n_leaves;
    }
  }
}

int32_t OnlineTree::add_node(int32_t parent, int32_t block) {
  Node node;
  node.parent = parent;
  node.block = block;
  nodes_.push_back(std::move(node));
  positive_at_.push_back(0);
  return n_nodes() - 1;
}

int32_t OnlineTree::add_block(bool has_auxiliary) {
  blocks_.emplace_back(space_, next_block_number_++, has_auxiliary);
  return static_cast<int32_t>(blocks_.size()) - 1;
}

int64_t OnlineTree::n_auxiliary() const {
  return std::count_if(blocks_.begin(), blocks_.end(),
                       [](const auto& block) { return block.has_auxiliary(); });
}

// -- growing
// -------------------------------------------------------------------------------------------------

void OnlineTree::place(const Example& x, int32_t label) {
  if (leaf_.empty()) {
    leaf_.push_back(0);
    nodes_[0].label = label;
    nodes_[0].n_leaves = 1;
    return;
  }
  const Extension chosen = policy_->choose(*this, x, label);
  const int32_t v = chosen.node;
  if (v < 0 || v >= n_nodes() || !is_open(v)) {
    throw std::invalid_argument("the policy must choose a node that is open, got " + std::to_string(v));
  }
  if (is_leaf(v) && !chosen.insert) {
    throw std::invalid_argument(
        "the policy chose the leaf " + std::to_string(v) +
        " without insert: a leaf must be split, or it would have a label and a child");
  }
  if (!chosen.insert && !has_room(nodes_[v].children.size())) {
    throw std::invalid_argument("the policy chose node " + std::to_string(v) + ", which has " +
                                std::to_string(nodes_[v].children.size()) +
                                " children, but shared weights have room for those of `arity` only");
  }
  if (chosen.insert) insert_node(v);
  add_leaf(v, label);
}

bool OnlineTree::has_room(size_t n_children) const {
  return space_.kind != WeightKind::shared || static_cast<int64_t>(n_children) + 4 <= space_.most_lanes;
}

void OnlineTree::insert_node(int32_t v) {
  make_room(nodes_);
  make_room(positive_at_);
  make_room(blocks_);
  std::vector<int32_t> only(1, n_nodes());
  blocks_.push_back(blocks_[nodes_[v].block].over(space_, next_block_number_));
  ++next_block_number_;
  const int32_t below = add_node(v, nodes_[v].block);
  Node &upper = nodes_[v], &lower = nodes_[below];
  upper.block = static_cast<int32_t>(blocks_.size()) - 1;
  lower.children.swap(upper.children);
  lower.label = std::exchange(upper.label, -1);
  lower.n_leaves = upper.n_leaves;
  upper.children.swap(only);
  for (const int32_t child : lower.children) nodes_[child].parent = below;
  if (lower.label >= 0) leaf_[lower.label] = below;
  positive_at_[below] = positive_at_[v];
}

void OnlineTree::retract_insertion(int32_t v) {
  const int32_t below = n_nodes() - 1;
  Node &upper = nodes_[v], &lower = nodes_[below];
  upper.block = lower.block;
  upper.children.swap(lower.children);
  upper.label = lower.label;
  for (const int32_t child : upper.children) nodes_[child].parent = v;
  if (upper.label >= 0) leaf_[upper.label] = v;
  blocks_.pop_back();
  nodes_.pop_back();
  positive_at_.pop_back();
  --next_block_number_;
}

void OnlineTree::add_leaf(int32_t v, int32_t label) {
  const bool is_last = policy_->closes(*this, v, static_cast<int>(nodes_[v].children.size()) + 1);
  make_room(nodes_);
  make_room(positive_at_);
  make_room(blocks_);
  make_room(leaf_);
  make_room(nodes_[v].children);
  GrowingBlock block(space_, next_block_number_, true);
  blocks_[nodes_[v].block].add_child(space_, is_last);
  ++next_block_number_;
  blocks_.push_back(std::move(block));
  nodes_[v].open = !is_last;
  const int32_t leaf = add_node(v, static_cast<int32_t>(blocks_.size()) - 1);
  nodes_[v].children.push_back(leaf);
  nodes_[leaf].label = label;
  leaf_.push_back(leaf);
  for (int32_t u = leaf; u >= 0; u = nodes_[u].parent) ++nodes_[u].n_leaves;
}

void OnlineTree::retract(int32_t n_before, const std::vector<int32_t>& sizes) noexcept {
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    const auto label = n_before + static_cast<int32_t>(sizes.rend() - size) - 1;
    if (label < n_labels()) {
      if (*size == n_nodes()) {  // the first label of all, which the root got
        nodes_[0].label = -1;
        nodes_[0].n_leaves = 0;
        leaf_.pop_back();
        continue;
      }
      retract_leaf();
    }
    if (n_nodes() > *size) retract_insertion(nodes_.back().parent);
  }
}

void OnlineTree::retract_leaf() {
  const int32_t leaf = n_nodes() - 1, v = nodes_[leaf].parent;
  for (int32_t u = leaf; u >= 0; u = nodes_[u].parent) --nodes_[u].n_leaves;
  blocks_[nodes_[v].block].remove_last_child(space_, !nodes_[v].open);
  nodes_[v].open = true;
  nodes_[v].children.pop_back();
  blocks_.pop_back();
  nodes_.pop_back();
  positive_at_.pop_back();
  leaf_.pop_back();
  --next_block_number_;
}

// -- answers
// -------------------------------------------------------------------------------------------------

void OnlineTree::scores(int32_t number, const Example& x, float* out) const {
  thread_local std::vector<uint32_t> rows;
  thread_local std::vector<float> lanes;
  const GrowingBlock& block = blocks_[number];
  lanes.resize(block.width());
  block.score(space_, x, rows, lanes.data());
  std::copy_n(lanes.data(), block.n_children(), out);
}

void OnlineTree::probabilities(int32_t block, const Example& x, bool normalize_siblings, float* out) const {
  scores(block, x, out);
  const int n = n_columns(block);
  for (int i = 0; i < n; ++i) out[i] = apply_link(options_.link, out[i]);
  if (normalize_siblings && block > 0) labeltree::normalize_siblings(out, n);
}

void OnlineTree::weights_of(int32_t number, uint32_t feature, float* out) const {
  const GrowingBlock& block = blocks_[number];
  if (space_.kind != WeightKind::hashed || feature == Example::kBias) {
    return block.weights_of(space_, feature, out);
  }
  const auto [place, sign] = hashed(feature);
  block.weights_of(space_, place, out);
  for (int lane = 0; lane < block.width(); ++lane) out[lane] *= sign;
}

OnlineTree::Memory OnlineTree::memory() const {
  Memory memory;
  memory.weights = space_.table.n_bytes();
  for (const GrowingBlock& block : blocks_) {
    memory.weights += block.n_weight_bytes();
    memory.maps += block.n_map_bytes();
  }
  const auto bytes = [](const auto& items) {
    return static_cast<int64_t>(items.capacity() * sizeof(items[0]));
  };
  memory.tree = bytes(nodes_) + bytes(blocks_) + bytes(leaf_) + bytes(label_counts_) + bytes(last_seen_) +
                bytes(positive_at_) + bytes(seen_);
  for (const Node& node : nodes_) memory.tree += bytes(node.children);
  return memory;
}

}  // namespace labeltree
