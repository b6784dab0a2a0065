// How an online tree learns an example: all of it, or nothing.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/make_room.h"
#include "core/random.h"
#include "online/online_tree.h"

namespace labeltree {

namespace {

// The seed of the hash of features; another one would make another model.
constexpr uint64_t kHashSeed = 0x6c61626c74726565;

}  // namespace

// What stands for a feature, and its sign: half of the features count negative, so that those that share a
// weight do not all pull one way.
std::pair<uint32_t, float> OnlineTree::hashed(uint32_t feature) const {
  const uint64_t hash = mix_seed(kHashSeed, feature);
  return {static_cast<uint32_t>(((hash >> 32) * static_cast<uint64_t>(space_.length)) >> 32),
          (hash & 1) != 0 ? 1.0f : -1.0f};
}

void OnlineTree::make_room_for_features(const FeatureRow& row) {
  size_t size = seen_.size();
  for (const int32_t feature : row.index) {
    const size_t byte = static_cast<size_t>(feature) / 8;
    if (byte >= size) size = byte + 1 + byte / 2;
  }
  seen_.reserve(size);
}

void OnlineTree::note_features(const FeatureRow& row) noexcept {
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

void OnlineTree::read(const FeatureMatrix& features, int64_t number, Example& x) const {
  thread_local FeatureRow row;
  row.clear();
  features.append_entries(number, row);
  read(row, x);
}

void OnlineTree::prepare(const FeatureRow& row, const int32_t* labels, int64_t n, float weight,
                         bool may_cancel) {
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
  prepared_.row = &row;
  prepared_.labels = labels;
  prepared_.n = n;
  prepared_.n_before = n_before;
  prepared_.policy_state = policy_->state();
  prepared_.policy_steps = policy_->n_steps;
  std::vector<int32_t>&sizes = prepared_.sizes, &closed = prepared_.closed;
  sizes.clear();
  closed.clear();
  steps_.clear();
  kept_begin_.clear();
  try {
    for (int32_t label = n_before; label < n_before + n_new; ++label) {
      sizes.push_back(n_nodes());
      place(example_, label);
    }
    for (int32_t v = sizes.empty() ? n_nodes() : sizes[0]; v < n_nodes(); ++v) {
      const auto n_children = static_cast<int>(nodes_[v].children.size());
      if (is_open(v) && policy_->closes(*this, v, n_children)) closed.push_back(v);
    }
    make_room(label_counts_, n_new);
    make_room(last_seen_, n_new);
    if (notes_features()) make_room_for_features(row);
    if (weight > 0) prepare_steps(example_, labels, n, weight, may_cancel);
  } catch (...) {
    cancel();
    throw;
  }
}

void OnlineTree::cancel() noexcept {
  undo_steps(example_);
  retract(prepared_.n_before, prepared_.sizes);
  policy_->set_state(prepared_.policy_state);
  policy_->n_steps = prepared_.policy_steps;
}

void OnlineTree::commit() noexcept {
  if (space_.kind != WeightKind::shared) {
    for (const auto& [block, step] : steps_) blocks_[block].make(space_, example_, step, scratch_);
  }
  for (const int32_t v : prepared_.closed) {
    nodes_[v].open = false;
    blocks_[nodes_[v].block].drop_auxiliary(space_);
  }
  for (const auto& [block, step] : steps_) {
    counts_.n_updates += blocks_[block].n_children();
    counts_.n_auxiliary_updates += blocks_[block].has_auxiliary();
  }
  label_counts_.resize(n_labels(), 0);
  last_seen_.resize(n_labels(), 0);
  ++counts_.n_examples;
  for (int64_t i = 0; i < prepared_.n; ++i) {
    ++label_counts_[prepared_.labels[i]];
    last_seen_[prepared_.labels[i]] = counts_.n_examples;
  }
  if (notes_features()) note_features(*prepared_.row);
}

void OnlineTree::prepare_steps(const Example& x, const int32_t* labels, int64_t n, float weight,
                               bool may_cancel) {
  const std::vector<int32_t>& closed = prepared_.closed;
  ++n_attempts_;
  positive_.clear();
  for (int64_t i = 0; i < n; ++i) {
    for (int32_t v = leaf_[labels[i]]; v >= 0 && positive_at_[v] != n_attempts_; v = nodes_[v].parent) {
      positive_at_[v] = n_attempts_;
      positive_.push_back(v);
    }
  }
  // All memory first: shared weights move while later steps are prepared.
  const size_t n_blocks = positive_.size() + 1;
  size_t n_lanes = blocks_[0].width(), most_lanes = n_lanes;
  for (const int32_t v : positive_) {
    const size_t width = block(block_of(v)).width();
    n_lanes += width;
    most_lanes = std::max(most_lanes, width);
  }
  scratch_.make_room(n_blocks, x.feature.size(), n_lanes, most_lanes);
  steps_.reserve(n_blocks);
  kept_begin_.reserve(n_blocks);
  scratch_.largest_value = 0;
  for (const float value : x.value) {
    scratch_.largest_value = std::max(scratch_.largest_value, std::abs(value));
  }
  const bool careful =
      !GrowingBlock::is_tame(space_, options_.learner, x.size(), scratch_.largest_value, weight);
  kept_rows_.clear();
  scratch_.positive.assign(1, n > 0);
  prepare_step(0, x, weight, true, careful, may_cancel);
  for (const int32_t v : positive_) {
    const bool is_closed = std::find(closed.begin(), closed.end(), v) != closed.end();
    const GrowingBlock& block = blocks_[nodes_[v].block];
    const auto& children = nodes_[v].children;
    if (block.n_lanes() == 0 || (is_closed && children.empty())) continue;
    scratch_.positive.assign((block.width() + 31) / 32, 0);
    for (size_t i = 0; i < children.size(); ++i) {
      if (positive_at_[children[i]] == n_attempts_) scratch_.positive[i / 32] |= 1u << (i % 32);
    }
    prepare_step(nodes_[v].block, x, weight, !is_closed, careful, may_cancel);
  }
}

void OnlineTree::prepare_step(int32_t number, const Example& x, float weight, bool with_auxiliary,
                              bool careful, bool may_cancel) {
  const auto n_steps = static_cast<int64_t>(steps_.size());
  GrowingBlock& block = blocks_[number];
  const int64_t first_lane =
      steps_.empty() ? 0 : steps_.back().second.first_lane + blocks_[steps_.back().first].width();
  steps_.push_back({number, block.prepare(space_, options_.learner, x, weight, with_auxiliary, careful,
                                          n_steps * x.size(), first_lane, scratch_)});
  if (space_.kind != WeightKind::shared) return;
  const GrowingBlock::Step& step = steps_.back().second;
  const uint32_t* rows = scratch_.rows.data() + step.first_row;
  if (!careful && !may_cancel) return block.make(space_, x, step, scratch_);
  const size_t kept_begin = kept_rows_.size();
  block.keep_rows(space_, rows, x.size(), kept_rows_);
  kept_begin_.push_back(kept_begin);
  block.make(space_, x, step, scratch_);
  if (!careful) return;
  const double largest = block.largest_weight(space_, rows, x.size());
  if (!std::isfinite(largest)) throw StepOverflow("a weight is not finite");
  space_.is_wild = space_.is_wild || largest > GrowingBlock::tame_weight(space_, options_.learner);
}

// Those of shared weights, which are made as soon as they are prepared.
void OnlineTree::undo_steps(const Example& x) noexcept {
  for (size_t i = kept_begin_.size(); i-- > 0;) {
    const auto& [block, step] = steps_[i];
    blocks_[block].undo(space_, step, scratch_.rows.data() + step.first_row, x.size(),
                        kept_rows_.data() + kept_begin_[i]);
  }
}

}  // namespace labeltree
