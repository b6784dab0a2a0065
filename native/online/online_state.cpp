#include "online/online_state.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "core/append.h"

namespace labeltree {

namespace {

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class T>
std::vector<T> slice(const std::vector<T>& all, int64_t begin, int64_t end) {
  require(begin >= 0 && begin <= end && end <= static_cast<int64_t>(all.size()),
          "the blocks have other sizes than their arrays");
  return {all.begin() + begin, all.begin() + end};
}

enum Number { kNextBlock, kPolicyState, kPolicySteps, kExamples, kUpdates, kAuxiliaryUpdates, kNumbers };

}  // namespace

OnlineState OnlineState::of(const OnlineTree& tree) {
  OnlineState state;
  state.child_begin.push_back(0);
  for (const auto& node : tree.nodes_) {
    state.label.push_back(node.label);
    state.node_block.push_back(node.block);
    state.open.push_back(node.open);
    append(state.child, node.children);
    state.child_begin.push_back(static_cast<int64_t>(state.child.size()));
  }
  state.row_begin.push_back(0);
  for (const GrowingBlock& block : tree.blocks_) {
    const GrowingBlock::State part = block.state(tree.space_);
    state.block_number.push_back(block.number());
    state.has_auxiliary.push_back(part.has_auxiliary);
    state.n_seen.push_back(part.n_seen);
    state.penalty.push_back(part.penalty);
    state.row_begin.push_back(state.row_begin.back() + std::max<int64_t>(block.n_rows() - 1, 0));
    append(state.feature, part.features);
    append(state.weight, part.weights);
    append(state.square, part.squares);
    append(state.shrunk, part.shrunk);
  }
  const GrowingFloats& table = tree.space_.table;
  state.table.assign(table.data(), table.data() + table.size());
  state.seen_features = tree.seen_;
  state.label_count = tree.label_counts_;
  state.last_seen = tree.last_seen_;
  state.numbers = {tree.next_block_number_, static_cast<int64_t>(tree.policy_->state()),
                   tree.policy_->n_steps,   tree.counts_.n_examples,
                   tree.counts_.n_updates,  tree.counts_.n_auxiliary_updates};
  return state;
}

std::unique_ptr<OnlineTree> OnlineState::tree(const OnlineOptions& options,
                                              std::shared_ptr<TreePolicy> policy) const {
  auto tree = std::make_unique<OnlineTree>(options, std::move(policy));
  const auto n_nodes = static_cast<int64_t>(label.size()), n_blocks = static_cast<int64_t>(n_seen.size());
  const auto n_labels = static_cast<int64_t>(label_count.size());
  require(n_nodes >= 1 && n_nodes < INT32_MAX && n_blocks == n_nodes + 1,
          "a tree has a block per node and one");
  require(node_block.size() == label.size() && open.size() == label.size() &&
              child_begin.size() == label.size() + 1 && child_begin[0] == 0 &&
              child_begin.back() == static_cast<int64_t>(child.size()) &&
              static_cast<int64_t>(child.size()) == n_nodes - 1,
          "the arrays of the nodes have other lengths than they must have");
  require(static_cast<int64_t>(block_number.size()) == n_blocks &&
              static_cast<int64_t>(has_auxiliary.size()) == n_blocks &&
              static_cast<int64_t>(penalty.size()) == n_blocks &&
              static_cast<int64_t>(row_begin.size()) == n_blocks + 1 && row_begin[0] == 0,
          "the arrays of the blocks have other lengths than they must have");
  require(last_seen.size() == label_count.size() && numbers.size() == kNumbers,
          "the arrays of the labels have other lengths than they must have");

  // Counts that are far from what 64 bits can hold can be counted on.
  for (const int64_t& number : numbers) {
    require(&number == &numbers[kPolicyState] || (number >= 0 && number < INT64_MAX / 2),
            "a count is out of range");
  }
  for (int64_t j = 0; j < n_labels; ++j) {
    require(label_count[j] >= 0 && label_count[j] <= numbers[kExamples] && last_seen[j] >= 0 &&
                last_seen[j] <= numbers[kExamples],
            "a label was seen more often than there were examples");
  }

  tree->nodes_.assign(n_nodes, {});
  tree->leaf_.assign(n_labels, -1);
  std::vector<int32_t> block_children(n_blocks, -1);
  block_children[0] = 1;
  for (int64_t v = 0; v < n_nodes; ++v) {
    auto& node = tree->nodes_[v];
    require(child_begin[v] <= child_begin[v + 1], "the children of nodes overlap");
    node.children = slice(child, child_begin[v], child_begin[v + 1]);
    for (const int32_t c : node.children) {
      require(c > 0 && c < n_nodes && tree->nodes_[c].parent < 0, "a node is the child of two, or of none");
      tree->nodes_[c].parent = static_cast<int32_t>(v);
    }
    node.label = label[v];
    node.open = open[v] != 0;
    const bool is_leaf = node.children.empty();
    require((node.label >= 0) == (is_leaf && n_labels > 0), "leaves have labels, and inner nodes have none");
    if (node.label >= 0) {
      require(node.label < n_labels && tree->leaf_[node.label] < 0, "a label has two leaves, or none");
      tree->leaf_[node.label] = static_cast<int32_t>(v);
    }
    node.block = node_block[v];
    require(node.block > 0 && node.block < n_blocks && block_children[node.block] < 0,
            "a block belongs to two nodes, or to none");
    block_children[node.block] = static_cast<int32_t>(node.children.size());
    require(is_leaf || tree->has_room(node.children.size() - 1),
            "a node has more children than there is room for");
    require(options.weights == WeightKind::shared || node.open == (has_auxiliary[node.block] != 0),
            "an open node needs an auxiliary classifier");
  }
  require(std::count(tree->leaf_.begin(), tree->leaf_.end(), -1) == 0, "a label has no leaf");
  std::vector<int32_t> order(1, 0);
  for (size_t i = 0; i < order.size(); ++i) append(order, tree->nodes_[order[i]].children);
  require(static_cast<int64_t>(order.size()) == n_nodes, "some nodes are not below the root");
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    auto& node = tree->nodes_[*v];
    node.n_leaves += node.label >= 0;
    if (node.parent >= 0) tree->nodes_[node.parent].n_leaves += node.n_leaves;
  }

  tree->blocks_.clear();
  int64_t at = 0;
  for (int64_t b = 0; b < n_blocks; ++b) {
    GrowingBlock::State part;
    part.n_children = block_children[b];
    part.has_auxiliary = has_auxiliary[b] != 0;
    part.n_seen = n_seen[b];
    part.penalty = penalty[b];
    require(part.n_seen >= 0 && part.n_seen <= numbers[kExamples] && std::isfinite(part.penalty),
            "a block has learned from more examples than there were");
    const int64_t n_lanes = part.n_children + part.has_auxiliary;
    const int64_t begin = row_begin[b], end = row_begin[b + 1];
    require(begin <= end && end < INT64_MAX / 65536, "the rows of blocks overlap");
    if (options.weights != WeightKind::shared) {
      const int64_t n = (end - begin) * n_lanes;
      if (options.weights == WeightKind::map) part.features = slice(feature, begin, end);
      part.weights = slice(weight, at, at + n);
      if (options.solver == Solver::adagrad) part.squares = slice(square, at, at + n);
      if (options.solver == Solver::fobos) part.shrunk = slice(shrunk, begin, end);
      at += n;
    }
    tree->blocks_.emplace_back(tree->space_, block_number[b], part);
  }
  require(at == static_cast<int64_t>(weight.size()), "there are more weights than the blocks have");
  const auto n_rows = static_cast<size_t>(row_begin.back());
  require(feature.size() == (options.weights == WeightKind::map ? n_rows : 0) &&
              square.size() == (options.solver == Solver::adagrad ? weight.size() : 0) &&
              shrunk.size() == (options.solver == Solver::fobos ? n_rows : 0),
          "the blocks have other sizes than their arrays");
  for (const float w : weight) require(std::isfinite(w), "a weight is not finite");
  for (const float s : square) require(s >= 0, "a sum of squares is negative");
  for (const double s : shrunk) require(std::isfinite(s), "a threshold is not finite");
  GrowingFloats& own = tree->space_.table;
  require(static_cast<int64_t>(table.size()) == own.size(), "the shared table has another length");
  for (const float w : table) require(std::isfinite(w), "a weight is not finite");
  std::copy(table.begin(), table.end(), own.data());
  const double tame = GrowingBlock::tame_weight(tree->space_, options.learner);
  const auto is_wild = [&](float w) { return std::abs(w) > tame; };
  tree->space_.is_wild =
      std::any_of(weight.begin(), weight.end(), is_wild) || std::any_of(table.begin(), table.end(), is_wild);

  tree->positive_at_.assign(n_nodes, 0);
  tree->seen_ = seen_features;
  tree->label_counts_ = label_count;
  tree->last_seen_ = last_seen;
  require(numbers[kNextBlock] >= n_blocks && numbers[kNextBlock] < INT32_MAX, "a block has no number");
  tree->next_block_number_ = static_cast<int32_t>(numbers[kNextBlock]);
  tree->policy_->set_state(static_cast<uint64_t>(numbers[kPolicyState]));
  tree->policy_->n_steps = numbers[kPolicySteps];
  tree->counts_ = {numbers[kExamples], numbers[kUpdates], numbers[kAuxiliaryUpdates]};
  return tree;
}

namespace {

// Adds a block: the features that have a weight of at least `prune` in some column, ascending.
class BlockWriter {
 public:
  BlockWriter(const OnlineTree& tree, float prune, BlockArrays& arrays)
      : tree_(tree), prune_(prune), arrays_(arrays) {
    arrays_.block_begin.push_back(0);
    arrays_.block_entry_begin.push_back(0);
    if (tree.space().kind == WeightKind::hashed || tree.space().kind == WeightKind::shared) {
      seen_ = tree.seen_features();
    }
  }

  // Node -1 is above the root.
  void add(int32_t node, int64_t n_never) {
    const GrowingBlock& block = tree_.block(tree_.block_of(node));
    const int n = block.n_children();
    std::vector<std::pair<uint32_t, std::vector<float>>> rows;
    std::vector<float> bias(block.width() + 4, 0.0f);
    const auto keep = [&](uint32_t feature, const float* w) {
      const bool large = std::any_of(w, w + n, [&](float x) { return is_large(x); });
      if (large) rows.push_back({feature, {w, w + n}});
    };
    if (seen_.empty()) {
      block.visit(tree_.space(), [&](uint32_t feature, const float* w) {
        if (feature != Example::kBias) keep(feature, w);
      });
      std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    } else {
      std::vector<float> w(block.width() + 4);
      for (const uint32_t feature : seen_) {
        tree_.weights_of(tree_.block_of(node), feature, w.data());
        keep(feature, w.data());
      }
    }
    tree_.weights_of(tree_.block_of(node), Example::kBias, bias.data());
    if (!tree_.options().bias) std::fill(bias.begin(), bias.end(), 0.0f);
    arrays_.bias.insert(arrays_.bias.end(), bias.begin(), bias.begin() + n);
    arrays_.bias.insert(arrays_.bias.end(), n_never, -kCertainScore);

    uint32_t n_entries = 0;
    for (const auto& [feature, w] : rows) {
      arrays_.feature.push_back(static_cast<int32_t>(feature));
      arrays_.entry_begin.push_back(n_entries);
      for (int column = 0; column < n; ++column) {
        if (!is_large(w[column])) continue;
        arrays_.column.push_back(static_cast<uint32_t>(column));
        arrays_.weight.push_back(w[column]);
        ++n_entries;
      }
    }
    arrays_.entry_begin.push_back(n_entries);
    finish();
  }

  // A block of one node that is always positive, and some that never are.
  void add_certain(int64_t n_never) {
    arrays_.bias.push_back(kCertainScore);
    arrays_.bias.insert(arrays_.bias.end(), n_never, -kCertainScore);
    arrays_.entry_begin.push_back(0);
    finish();
  }

 private:
  bool is_large(float w) const { return w != 0 && std::abs(w) >= prune_; }
  void finish() {
    arrays_.block_begin.push_back(static_cast<int64_t>(arrays_.feature.size()));
    arrays_.block_entry_begin.push_back(static_cast<int64_t>(arrays_.weight.size()));
  }

  const OnlineTree& tree_;
  float prune_;
  BlockArrays& arrays_;
  std::vector<uint32_t> seen_;
};

}  // namespace

FrozenTree freeze(const OnlineTree& tree, float prune, const std::vector<int32_t>& position,
                  int32_t n_labels) {
  require(static_cast<int32_t>(position.size()) == tree.n_labels() && tree.n_labels() > 0,
          "expected at least one label, and one position for each label");
  std::vector<uint8_t> used(n_labels, 0);
  for (const int32_t p : position) {
    require(p >= 0 && p < n_labels && !used[p], "two labels have one position");
    used[p] = 1;
  }
  std::vector<int32_t> never;
  for (int32_t p = 0; p < n_labels; ++p) {
    if (!used[p]) never.push_back(p);
  }
  const auto n_never = static_cast<int64_t>(never.size());

  FrozenTree frozen;
  BlockWriter writer(tree, prune, frozen.arrays);
  writer.add(-1, 0);
  // Breadth first. A root that is a leaf gets a child for its label; -1 is a leaf of `never`.
  std::vector<int32_t> order(1, 0);
  size_t n_never_given = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const int32_t v = order[i];
    frozen.child_begin.push_back(static_cast<int32_t>(order.size()));
    if (i == 0) {
      frozen.label.push_back(-1);
      if (tree.is_leaf(0)) {
        order.push_back(0);
        writer.add_certain(n_never);
      } else {
        append(order, tree.children(0));
        writer.add(0, n_never);
      }
      order.insert(order.end(), n_never, -1);
    } else if (v < 0) {
      frozen.label.push_back(never[n_never_given++]);
    } else if (tree.is_leaf(v)) {
      frozen.label.push_back(position[tree.label(v)]);
    } else {
      frozen.label.push_back(-1);
      append(order, tree.children(v));
      writer.add(v, 0);
    }
  }
  frozen.child_begin.push_back(static_cast<int32_t>(order.size()));
  return frozen;
}

std::unique_ptr<OnlineTree> thaw(const BlockStore& store, const OnlineOptions& options,
                                 std::shared_ptr<TreePolicy> policy) {
  OnlineState state = OnlineState::of(OnlineTree(options, policy, store.tree()));
  state.row_begin.assign(1, 0);
  FeatureRow nothing;
  nothing.dense.assign(store.dense().size(), 0.0f);
  for (int32_t v = -1; v < store.tree().n_nodes; ++v) {
    const bool has_block = v < 0 || !store.tree().is_leaf(v);
    const int32_t block = has_block && v >= 0 ? store.block_of(v) : 0;
    const int n_children = has_block ? store.n_columns(block) : 0;
    const int n_lanes = n_children + state.has_auxiliary[v + 1];
    std::map<uint32_t, std::vector<float>> rows;
    const auto set = [&](uint32_t feature, int32_t column, float weight) {
      auto& row = rows[feature];
      row.resize(n_lanes, 0.0f);
      row[column] = weight;
    };
    std::vector<float> bias(n_children);
    if (has_block) store.scores(block, nothing, bias.data());
    for (int32_t column = 0; column < n_children; ++column) {
      store.visit_column(block, column, [&](int32_t feature, float weight) {
        set(static_cast<uint32_t>(feature), column, weight);
      });
      set(Example::kBias, column, bias[column]);
    }
    if (options.weights == WeightKind::dense) {  // a row for every feature there is, the bias first
      const int64_t n_rows = rows.empty() ? 0 : 1 + store.n_features();
      const size_t begin = state.weight.size();
      state.weight.resize(begin + n_rows * n_lanes, 0.0f);
      for (const auto& [feature, row] : rows) {
        std::copy(row.begin(), row.end(),
                  state.weight.begin() + begin + static_cast<int64_t>(feature + 1u) * n_lanes);
      }
      state.row_begin.push_back(state.row_begin.back() + n_rows);
    } else {
      for (const auto& [feature, row] : rows) {
        state.feature.push_back(feature);
        append(state.weight, row);
      }
      state.row_begin.push_back(state.row_begin.back() + static_cast<int64_t>(rows.size()));
    }
  }
  if (options.solver == Solver::adagrad) state.square.assign(state.weight.size(), 0.0f);
  if (options.solver == Solver::fobos) state.shrunk.assign(state.row_begin.back(), 0.0);
  return state.tree(options, std::move(policy));
}

}  // namespace labeltree
