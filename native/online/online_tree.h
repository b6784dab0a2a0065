// A label tree that grows and learns with every example: the paper's algorithms 6 to 11.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/feature_matrix.h"
#include "core/label_tree.h"
#include "model/block_store.h"
#include "online/growing_block.h"
#include "online/tree_policy.h"

namespace labeltree {

struct OnlineTreeView;

struct OnlineOptions {
  GrowingBlock::Learner learner;
  Solver solver = Solver::adagrad;
  Link link = Link::sigmoid;
  bool bias = true;
  WeightKind weights = WeightKind::map;
  int64_t length = 0;       // of hashed weights, or of the shared table
  int most_lanes = 0;       // shared weights: the widest block there may be
  int32_t most_labels = 0;  // what the length was planned for; 0 for any number
};

// What was done so far.
struct OnlineCounts {
  int64_t n_examples = 0;
  int64_t n_updates = 0;            // of regular classifiers
  int64_t n_auxiliary_updates = 0;  // of auxiliary ones
};

// Every node has a regular classifier, which is a lane of its parent's block (the root's is the only one of a
// block of its own), and while it is open an auxiliary one, in its own block. Nodes are numbered as they are
// added; the root is 0. One thread may learn; while none does, any number may ask.
class OnlineTree {
 public:
  // What searches need of it, beside the questions below: see search/tree_search.h and search/forest.h.
  using Query = Example;
  static constexpr int64_t kRowsPerTask = 16;
  static constexpr bool kSharesBlocks = false;

  OnlineTree(const OnlineOptions& options, std::shared_ptr<TreePolicy> policy);
  // A tree of this shape from the start, whose nodes are not yet trained. Those that the policy may still
  // choose get an auxiliary classifier.
  OnlineTree(const OnlineOptions& options, std::shared_ptr<TreePolicy> policy, const LabelTreeView& tree);

  // -- the tree
  int32_t n_nodes() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t n_labels() const { return static_cast<int32_t>(leaf_.size()); }
  int32_t parent(int32_t node) const { return nodes_[node].parent; }
  const std::vector<int32_t>& children(int32_t node) const { return nodes_[node].children; }
  bool is_leaf(int32_t node) const { return nodes_[node].children.empty(); }
  int32_t label(int32_t node) const { return nodes_[node].label; }
  int32_t leaf_of(int32_t label) const { return leaf_[label]; }
  int32_t n_leaves(int32_t node) const { return nodes_[node].n_leaves; }
  // Whether a leaf may become a child of the node, or of one inserted below it.
  bool is_open(int32_t node) const { return nodes_[node].open; }
  const std::vector<int64_t>& label_counts() const { return label_counts_; }
  const std::vector<int64_t>& last_seen() const { return last_seen_; }
  OnlineTreeView tree() const;
  int32_t n_blocks() const { return static_cast<int32_t>(blocks_.size()); }
  // The block of the children of a node; of node -1, that of the root.
  int32_t block_of(int32_t node) const { return node < 0 ? 0 : nodes_[node].block; }
  int32_t n_columns(int32_t block) const { return blocks_[block].n_children(); }
  const GrowingBlock& block(int32_t number) const { return blocks_[number]; }
  // Where blocks do not know their features (hashed and shared weights): those that came so far, ascending.
  std::vector<uint32_t> seen_features() const;

  // -- learning
  // One example, in two steps. prepare() adds its new labels and finds the steps of the classifiers. If it
  // throws (the policy, for lack of memory, or StepOverflow), nothing has changed. Otherwise commit() or
  // cancel() comes next: the example is learned, or nothing has changed. They need the row and the labels,
  // and cancel() only works if prepare() was told that it may come. Labels must be numbers below n_labels()
  // or, in this order, the next ones; each only once.
  void prepare(const FeatureRow& row, const int32_t* labels, int64_t n_labels, float weight, bool may_cancel);
  void commit() noexcept;
  void cancel() noexcept;
  const OnlineCounts& counts() const { return counts_; }
  // How many auxiliary classifiers there are; of regular ones every node has one.
  int64_t n_auxiliary() const;

  // Removes labels and what they leave of the tree: nodes without labels, and nodes with one child, which
  // takes their place. The labels that stay get new numbers, in their order, and so do the nodes, breadth
  // first. What remains is what was learned, not what would have been learned without those labels. Here too
  // the plan may throw, and changes nothing.
  struct Forgetting;
  std::shared_ptr<Forgetting> plan_forgetting(const std::vector<uint8_t>& label_kept) const;
  void forget(Forgetting& plan) noexcept;

  // -- answers
  // An example as blocks see it.
  void read(const FeatureRow& row, Example& x) const;
  void read(const FeatureMatrix& features, int64_t row, Example& x) const;
  // Those of the children in a block: P(child | its parent, x), and their scores.
  void probabilities(int32_t block, const Example& x, bool normalize_siblings, float* out) const;
  void scores(int32_t block, const Example& x, float* out) const;

  // Their weights for a feature as examples have it, or for the bias; out has room for a lane more than there
  // are children, and three to spare.
  void weights_of(int32_t block, uint32_t feature, float* out) const;

  // -- storage
  struct Memory {
    int64_t weights = 0, maps = 0, tree = 0;
  };
  Memory memory() const;
  const OnlineOptions& options() const { return options_; }
  const WeightSpace& space() const { return space_; }
  const TreePolicy& policy() const { return *policy_; }
  friend struct OnlineState;

 private:
  struct Node {
    int32_t parent = -1;
    int32_t block = -1;
    int32_t label = -1;
    int32_t n_leaves = 0;
    bool open = true;  // may be chosen; if so, it has an auxiliary classifier, but for shared weights
    std::vector<int32_t> children;
  };

  int32_t add_node(int32_t parent, int32_t block);
  int32_t add_block(bool has_auxiliary);
  void place(const Example& x, int32_t label);
  // Whether a node with n children may get one more: the rows of a shared table have a fixed length.
  bool has_room(size_t n_children) const;
  // If these throw, nothing has changed.
  void insert_node(int32_t node);
  void add_leaf(int32_t node, int32_t label);
  // Removes the labels from n_before on. The last of them may be only half inserted. sizes[i] is the number
  // of nodes before the i-th of them was inserted.
  void retract(int32_t n_before, const std::vector<int32_t>& sizes) noexcept;
  // Undo the last ones.
  void retract_leaf();
  void retract_insertion(int32_t node);
  std::pair<uint32_t, float> hashed(uint32_t feature) const;
  // Features are noted where blocks do not know them.
  bool notes_features() const {
    return space_.kind == WeightKind::hashed || space_.kind == WeightKind::shared;
  }
  void make_room_for_features(const FeatureRow& row);
  void note_features(const FeatureRow& row) noexcept;
  // Steps of the blocks that an example concerns; the auxiliary classifiers of `closed` nodes make none.
  // Shared weights have moved afterwards, others not yet.
  void prepare_steps(const Example& x, const int32_t* labels, int64_t n_labels, float weight,
                     bool may_cancel);
  void prepare_step(int32_t block, const Example& x, float weight, bool with_auxiliary, bool careful,
                    bool may_cancel);
  void undo_steps(const Example& x) noexcept;

  OnlineOptions options_;
  std::shared_ptr<TreePolicy> policy_;
  WeightSpace space_;
  std::vector<Node> nodes_;
  std::vector<GrowingBlock> blocks_;  // 0 is that of the root itself
  int32_t next_block_number_ = 0;
  std::vector<int32_t> leaf_;  // per label
  std::vector<int64_t> label_counts_, last_seen_;
  OnlineCounts counts_;
  std::vector<uint8_t> seen_;  // a bit per feature; only of hashed and shared weights

  // Scratch of learning.
  struct {  // the example that is prepared
    const FeatureRow* row = nullptr;
    const int32_t* labels = nullptr;
    int64_t n = 0;
    int32_t n_before = 0;  // labels in the tree
    uint64_t policy_state = 0;
    int64_t policy_steps = 0;
    std::vector<int32_t> sizes;   // of the tree before each new label
    std::vector<int32_t> closed;  // nodes that came between others and have all the children they can have
  } prepared_;
  Example example_;
  GrowingBlock::Scratch scratch_;
  std::vector<std::pair<int32_t, GrowingBlock::Step>> steps_;  // and their blocks
  std::vector<float> kept_rows_;                               // shared weights: to undo steps
  std::vector<size_t> kept_begin_;                             // of each step that is made
  int64_t n_attempts_ = 0;
  std::vector<int64_t> positive_at_;  // per node: the last attempt that it was positive for
  std::vector<int32_t> positive_;
};

// What searches want to know of the tree.
struct OnlineTreeView {
  const OnlineTree* tree = nullptr;
  int32_t n_labels = 0;
  int32_t n_children(int32_t node) const { return static_cast<int32_t>(tree->children(node).size()); }
  int32_t child(int32_t node, int32_t i) const { return tree->children(node)[i]; }
  int32_t place_of(int32_t parent, int32_t child) const {
    const auto& children = tree->children(parent);
    return static_cast<int32_t>(std::find(children.begin(), children.end(), child) - children.begin());
  }
  bool is_leaf(int32_t node) const { return tree->is_leaf(node); }
  int32_t label_of(int32_t leaf) const { return tree->label(leaf); }
};

inline OnlineTreeView OnlineTree::tree() const { return {this, n_labels()}; }

}  // namespace labeltree
