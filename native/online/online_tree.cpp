#include "online/online_tree.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/random.h"
#include "training/incremental_solver.h"

namespace labeltree {

namespace {

// The seed of the hash of features; another one would make another model.
constexpr uint64_t kHashSeed = 0x6c61626c74726565;

WeightSpace make_space(const OnlineOptions& options) {
  check_incremental(options.solver, options.learner.loss);
  WeightSpace space;
  space.kind = options.weights;
  space.solver = options.solver;
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
    nodes_[0].label = label;
    nodes_[0].n_leaves = 1;
    leaf_.push_back(0);
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
  const int32_t below = add_node(v, nodes_[v].block);
  blocks_.push_back(blocks_[nodes_[v].block].over(space_, next_block_number_++));
  Node &upper = nodes_[v], &lower = nodes_[below];
  upper.block = static_cast<int32_t>(blocks_.size()) - 1;
  lower.children.swap(upper.children);
  lower.label = std::exchange(upper.label, -1);
  lower.n_leaves = upper.n_leaves;
  upper.children.assign(1, below);
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
  blocks_[nodes_[v].block].add_child(space_, is_last);
  nodes_[v].open = !is_last;
  const int32_t leaf = add_node(v, add_block(true));
  nodes_[v].children.push_back(leaf);
  nodes_[leaf].label = label;
  leaf_.push_back(leaf);
  for (int32_t u = leaf; u >= 0; u = nodes_[u].parent) ++nodes_[u].n_leaves;
}

void OnlineTree::retract(int32_t n_before, const std::vector<int32_t>& sizes) {
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

// -- learning
// ------------------------------------------------------------------------------------------------

// What stands for a feature, and its sign: half of the features count negative, so that those that share a
// weight do not all pull one way.
std::pair<uint32_t, float> OnlineTree::hashed(uint32_t feature) const {
  const uint64_t hash = mix_seed(kHashSeed, feature);
  return {static_cast<uint32_t>(((hash >> 32) * static_cast<uint64_t>(space_.length)) >> 32),
          (hash & 1) != 0 ? 1.0f : -1.0f};
}

void OnlineTree::note_features(const FeatureRow& row) {
  for (const int32_t feature : row.index) {
    const size_t byte = static_cast<size_t>(feature) / 8;
    if (byte >= seen_.size()) seen_.resize(byte + 1 + byte / 2, 0);
    seen_[byte] |= static_cast<uint8_t>(1u << (feature % 8));
  }
}

std::vector<uint32_t> OnlineTree::seen_features() const {
  std::vector<uint32_t> features;
  for (size_t byte = 0; byte < seen_.size(); ++byte) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      if (seen_[byte] >> bit & 1) features.push_back(static_cast<uint32_t>(byte) * 8 + bit);
    }
  }
  return features;
}

void OnlineTree::read(const FeatureRow& row, Example& x) const {
  x.feature.clear();
  x.value.clear();
  if (space_.kind != WeightKind::hashed) {
    x.feature.assign(row.index.begin(), row.index.end());
    x.value.assign(row.value.begin(), row.value.end());
  } else {
    std::vector<std::pair<uint32_t, float>> entries(row.index.size());
    for (size_t k = 0; k < entries.size(); ++k) {
      entries[k] = hashed(static_cast<uint32_t>(row.index[k]));
      entries[k].second *= row.value[k];
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [feature, value] : entries) {
      if (!x.feature.empty() && x.feature.back() == feature) {
        x.value.back() += value;
      } else {
        x.feature.push_back(feature);
        x.value.push_back(value);
      }
    }
  }
  if (options_.bias) {
    x.feature.push_back(Example::kBias);
    x.value.push_back(1.0f);
  }
}

void OnlineTree::learn(const FeatureRow& row, const int32_t* labels, int64_t n, float weight) {
  read(row, example_);
  const int32_t n_before = n_labels();
  int32_t n_new = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (labels[i] < 0 || labels[i] > n_before + n_new) throw std::invalid_argument("a label is out of range");
    n_new += labels[i] == n_before + n_new;
  }
  if (options_.most_labels > 0 && n_before + n_new > options_.most_labels) {
    throw std::invalid_argument("the memory budget was planned for " + std::to_string(options_.most_labels) +
                                " labels (expected_labels), and here is one more: expect more, forget() "
                                "some, or use weights='shared'");
  }
  std::vector<int32_t> sizes;   // of the tree before each new label
  std::vector<int32_t> closed;  // nodes that came between others and have all the children they can have
  try {
    for (int32_t label = n_before; label < n_before + n_new; ++label) {
      sizes.push_back(n_nodes());
      place(example_, label);
    }
    for (int32_t v = sizes.empty() ? n_nodes() : sizes[0]; v < n_nodes(); ++v) {
      const auto n_children = static_cast<int>(nodes_[v].children.size());
      if (is_open(v) && policy_->closes(*this, v, n_children)) closed.push_back(v);
    }
  } catch (...) {
    retract(n_before, sizes);
    throw;
  }
  for (const int32_t v : closed) {
    nodes_[v].open = false;
    blocks_[nodes_[v].block].drop_auxiliary(space_);
  }
  label_counts_.resize(n_labels(), 0);
  last_seen_.resize(n_labels(), 0);
  ++counts_.n_examples;
  for (int64_t i = 0; i < n; ++i) {
    ++label_counts_[labels[i]];
    last_seen_[labels[i]] = counts_.n_examples;
  }
  if (space_.kind == WeightKind::hashed || space_.kind == WeightKind::shared) note_features(row);
  if (weight > 0) update(example_, labels, n, weight);
}

void OnlineTree::update(const Example& x, const int32_t* labels, int64_t n, float weight) {
  positive_.clear();
  for (int64_t i = 0; i < n; ++i) {
    for (int32_t v = leaf_[labels[i]]; v >= 0 && positive_at_[v] != counts_.n_examples;
         v = nodes_[v].parent) {
      positive_at_[v] = counts_.n_examples;
      positive_.push_back(v);
    }
  }
  scratch_.positive.assign(1, n > 0);
  step(blocks_[0], x, weight);
  for (const int32_t v : positive_) {
    GrowingBlock& block = blocks_[nodes_[v].block];
    if (block.n_lanes() == 0) continue;
    const auto& children = nodes_[v].children;
    scratch_.positive.assign((block.width() + 31) / 32, 0);
    for (size_t i = 0; i < children.size(); ++i) {
      if (positive_at_[children[i]] == counts_.n_examples) scratch_.positive[i / 32] |= 1u << (i % 32);
    }
    step(block, x, weight);
  }
}

void OnlineTree::step(GrowingBlock& block, const Example& x, float weight) {
  block.learn(space_, options_.learner, x, weight, scratch_);
  counts_.n_updates += block.n_children();
  counts_.n_auxiliary_updates += block.has_auxiliary();
}

// -- forgetting
// ----------------------------------------------------------------------------------------------

void OnlineTree::forget(const std::vector<uint8_t>& label_kept) {
  std::vector<int32_t> order(1, 0);  // breadth first
  for (size_t i = 0; i < order.size(); ++i) {
    const auto& children = nodes_[order[i]].children;
    order.insert(order.end(), children.begin(), children.end());
  }
  for (const int32_t v : order) nodes_[v].n_leaves = nodes_[v].label >= 0 && label_kept[nodes_[v].label];
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    if (nodes_[*v].parent >= 0) nodes_[nodes_[*v].parent].n_leaves += nodes_[*v].n_leaves;
  }
  if (nodes_[0].n_leaves == 0) {  // only what the root knows of all examples is left
    nodes_[0].children.clear();
    nodes_[0].label = -1;
    nodes_[0].open = true;
    nodes_[0].block = add_block(true);
  }
  for (const int32_t v : order) {
    if (nodes_[v].n_leaves == 0) continue;
    for (;;) {
      Node& node = nodes_[v];
      std::vector<uint8_t> kept;
      for (const int32_t child : node.children) kept.push_back(nodes_[child].n_leaves > 0);
      std::erase_if(node.children, [&](int32_t child) { return nodes_[child].n_leaves == 0; });
      if (node.children.size() < kept.size()) {
        blocks_[node.block].keep_children(space_, kept);
        if (!node.open && !policy_->closes(*this, v, static_cast<int>(node.children.size()))) {
          node.open = true;  // its new auxiliary classifier starts from nothing
          blocks_[node.block].start_auxiliary(space_);
        }
      }
      if (node.children.size() != 1) break;
      const int32_t only = node.children[0];
      node.block = nodes_[only].block;
      node.label = nodes_[only].label;
      node.open = nodes_[only].open;
      node.children = std::move(nodes_[only].children);
      nodes_[only].n_leaves = 0;
      nodes_[only].children.clear();
    }
  }

  // Numbers: nodes breadth first, labels in their order.
  std::vector<int32_t> new_label(label_kept.size(), -1);
  int32_t n_kept = 0;
  for (size_t label = 0; label < label_kept.size(); ++label) {
    if (!label_kept[label]) continue;
    new_label[label] = n_kept;
    label_counts_[n_kept] = label_counts_[label];
    last_seen_[n_kept++] = last_seen_[label];
  }
  label_counts_.resize(n_kept);
  last_seen_.resize(n_kept);
  leaf_.assign(n_kept, -1);
  std::vector<Node> nodes;
  std::vector<GrowingBlock> blocks;
  blocks.push_back(std::move(blocks_[0]));
  nodes.push_back(std::move(nodes_[0]));
  for (size_t v = 0; v < nodes.size(); ++v) {
    blocks.push_back(std::move(blocks_[nodes[v].block]));
    nodes[v].block = static_cast<int32_t>(blocks.size()) - 1;
    if (nodes[v].label >= 0) {
      nodes[v].label = new_label[nodes[v].label];
      leaf_[nodes[v].label] = static_cast<int32_t>(v);
    }
    std::vector<int32_t> children;
    for (const int32_t child : nodes[v].children) {
      children.push_back(static_cast<int32_t>(nodes.size()));
      nodes.push_back(std::move(nodes_[child]));
      nodes.back().parent = static_cast<int32_t>(v);
    }
    nodes[v].children = std::move(children);
  }
  nodes_ = std::move(nodes);
  blocks_ = std::move(blocks);
  nodes_.shrink_to_fit();
  blocks_.shrink_to_fit();
  positive_at_.assign(nodes_.size(), 0);
  policy_->renumbered();
}

// -- answers
// -------------------------------------------------------------------------------------------------

void OnlineTree::scores(int32_t node, const Example& x, float* out) const {
  thread_local std::vector<uint32_t> rows;
  thread_local std::vector<float> lanes;
  const GrowingBlock& block = this->block(node);
  lanes.resize(block.width());
  block.score(space_, x, rows, lanes.data());
  std::copy_n(lanes.data(), block.n_children(), out);
}

void OnlineTree::probabilities(int32_t node, const Example& x, bool normalize_siblings, float* out) const {
  scores(node, x, out);
  const int n = block(node).n_children();
  for (int i = 0; i < n; ++i) out[i] = apply_link(options_.link, out[i]);
  if (normalize_siblings && node >= 0) labeltree::normalize_siblings(out, n);
}

float OnlineTree::root_probability(const Example& x) const {
  float p;
  probabilities(-1, x, false, &p);
  return p;
}

void OnlineTree::weights_of(int32_t node, uint32_t feature, float* out) const {
  const GrowingBlock& block = this->block(node);
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
