#include "model/block_store.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/interruption.h"
#include "lanes/vector_kernels.h"
#include "model/corrupt_model.h"
#include "model/packed_index.h"

namespace labeltree {

namespace {

// Multiply-adds of dense features between two looks at whether to stop: some 50 ms.
constexpr int64_t kProductsAtATime = int64_t{1} << 28;
constexpr int64_t kColumnsAtATime = 64 * kPanelColumns;

}  // namespace

BlockStore::BlockStore(const BlockViews& views, Link link, LevelMaps maps, bool fused)
    : views_(views), link_(link), maps_(std::move(maps)), fused_(fused) {
  const LabelTreeView& tree = views_.tree;
  if (tree.n_labels < 1) corrupt("the tree has no labels");
  inner_ = inner_nodes(tree);
  parent_ = parents(tree);
  leaf_ = leaves_of_labels(tree);
  block_of_.assign(tree.n_nodes, -1);
  for (size_t i = 0; i < inner_.size(); ++i) block_of_[inner_[i]] = static_cast<int32_t>(i) + 1;

  if (views_.n_features < 1 || views_.n_features > std::numeric_limits<int32_t>::max()) {
    corrupt("the number of features is out of range");
  }
  const int64_t n_blocks = this->n_blocks();
  const auto n_columns = std::visit([](const auto& s) { return s.size; }, views_.column);
  const auto n_weights = std::visit([](const auto& s) { return s.size; }, views_.weight);
  const Span<int64_t>& index_begin = is_packed() ? views_.index_begin : views_.block_begin;
  if (index_begin.size != n_blocks + 1 || views_.block_entry_begin.size != n_blocks + 1) {
    corrupt("the number of blocks does not fit the tree");
  }
  if (views_.bias.size != tree.n_nodes) corrupt("the number of biases is not the number of nodes");
  const bool quantized = std::holds_alternative<Span<int8_t>>(views_.weight);
  if (views_.scale.size != (quantized ? tree.n_nodes : 0))
    corrupt("the number of scales does not fit the weights");
  if (n_columns != n_weights) corrupt("there are not as many columns as weights");
  if (!is_packed() && views_.entry_begin.size != views_.feature.size + n_blocks) {
    corrupt("entry_begin has the wrong length");
  }
  const auto check_offsets = [&](const Span<int64_t>& offsets, int64_t last, const char* name) {
    if (offsets[0] != 0 || offsets[n_blocks] != last) corrupt(std::string(name) + " does not span its array");
    for (int64_t b = 0; b < n_blocks; ++b) {
      if (offsets[b] > offsets[b + 1])
        corrupt(std::string(name) + " decreases at block " + std::to_string(b));
    }
  };
  if (is_packed()) {
    check_offsets(views_.index_begin, views_.index.size, "index_begin");
  } else {
    check_offsets(views_.block_begin, views_.feature.size, "block_begin");
  }
  check_offsets(views_.block_entry_begin, n_weights, "block_entry_begin");
  if (is_joint()) {
    if (views_.code_begin.size != n_blocks + 1) corrupt("code_begin has the wrong length");
    check_offsets(views_.code_begin, views_.code.size, "code_begin");
    check_codes();
  }
  check_dense();
  check_maps();
  index_ = std::make_unique<std::atomic<const BlockIndex*>[]>(n_blocks);
}

void BlockStore::check_codes() const {
  if (views_.code_bias.size != views_.code.size) corrupt("there are not as many codes as their biases");
  if (views_.code_scale.size != (views_.scale.size > 0 ? views_.code.size : 0)) {
    corrupt("the number of scales of codes does not fit the weights");
  }
  for (int32_t b = 0; b < n_blocks(); ++b) {
    const auto fail = [&](const char* what) { corrupt("block " + std::to_string(b) + ": " + what); };
    if (n_codes(b) == 0) continue;
    if (b == 0 || n_columns(b) > kMaxJointChildren) fail("this block cannot be joint");
    for (int64_t k = views_.code_begin[b]; k < views_.code_begin[b + 1]; ++k) {
      if (views_.code[k] == 0 || views_.code[k] >> n_columns(b) != 0) fail("a code is out of range");
      if (k > views_.code_begin[b] && views_.code[k] <= views_.code[k - 1]) fail("codes are not ascending");
    }
  }
}

void BlockStore::check_dense() {
  const FeatureRange& dense = views_.dense;
  if (dense.begin < 0 || dense.end < dense.begin || dense.end > views_.n_features ||
      (dense.begin > 0 && dense.end < views_.n_features)) {
    corrupt("the dense features are not the first or the last of the features");
  }
  const int64_t n_dense_weights = std::visit([](const auto& s) { return s.size; }, views_.dense_weight);
  if (dense.size() == 0) {
    if (n_dense_weights > 0 || views_.dense_scale.size > 0 || has_node_vectors()) {
      corrupt("there are weights of dense features, but no such features");
    }
    return;
  }
  if (has_node_vectors()) return check_node_vectors();
  int64_t total = 0;
  for (int32_t b = 0; b < n_blocks(); ++b) {
    first_panel_.push_back(total);
    total += n_panels(n_scores(b));
  }
  // Divided, not multiplied: the numbers of a hostile file could overflow.
  const int64_t panel_size = dense.size() * kPanelColumns;
  if (n_dense_weights % panel_size != 0 || n_dense_weights / panel_size != total) {
    corrupt("the number of weights of dense features does not fit the tree");
  }
  const bool quantized = std::holds_alternative<Span<int8_t>>(views_.dense_weight);
  if (views_.dense_scale.size != (quantized ? total * kPanelColumns : 0)) {
    corrupt("the number of scales does not fit the weights of dense features");
  }
}

void BlockStore::check_node_vectors() const {
  const int64_t n_nodes = views_.tree.n_nodes;
  if (std::visit([](const auto& s) { return s.size; }, views_.dense_weight) > 0 ||
      views_.dense_scale.size > 0 || is_joint())
    corrupt("vectors of nodes stand beside other dense weights");
  const int64_t n_weights = std::visit([](const auto& s) { return s.size; }, views_.node_vector);
  // Divided, not multiplied, as above.
  if (n_weights % n_nodes != 0 || n_weights / n_nodes != n_dense()) {
    corrupt("the number of weights of dense features does not fit the tree");
  }
  const bool quantized = std::holds_alternative<Span<int8_t>>(views_.node_vector);
  if (views_.node_scale.size != (quantized ? n_nodes : 0)) {
    corrupt("the number of scales does not fit the vectors of nodes");
  }
}

void BlockStore::check_maps() {
  if (maps_.empty()) return;
  std::vector<int32_t> level_of_node(views_.tree.n_nodes, 0);
  for (int32_t v = 1; v < views_.tree.n_nodes; ++v) level_of_node[v] = level_of_node[parent_[v]] + 1;
  for (int32_t b = 0; b < n_blocks(); ++b) level_.push_back(level_of_node[first_node(b)]);
  maps_.check(level_of_node.back() + 1);  // breadth first: the last node is on the last level
}

BlockStore::~BlockStore() {
  for (int32_t b = 0; b < n_blocks(); ++b) delete index_[b].load();
}

BlockStore::BlockFeatures BlockStore::features_of(int32_t block) const {
  const int64_t n_entries = views_.block_entry_begin[block + 1] - views_.block_entry_begin[block];
  BlockFeatures found{};
  if (is_packed()) {
    const int64_t begin = views_.index_begin[block], size = views_.index_begin[block + 1] - begin;
    unpack_features({views_.index.data + begin, size}, views_.n_features, n_entries, found.unpacked_feature,
                    found.unpacked_begin);
    found.feature = found.unpacked_feature.data();
    found.entry_begin = found.unpacked_begin.data();
    found.n = static_cast<int64_t>(found.unpacked_feature.size());
  } else {
    const int64_t begin = views_.block_begin[block];
    found.feature = views_.feature.data + begin;
    found.entry_begin = views_.entry_begin.data + begin + block;
    found.n = views_.block_begin[block + 1] - begin;
  }
  return found;
}

BlockStore::BlockFeatures BlockStore::verified_features(int32_t block) const {
  const auto fail = [&](const std::string& what) { corrupt("block " + std::to_string(block) + ": " + what); };
  const int64_t entries = views_.block_entry_begin[block];
  const int64_t n_entries = views_.block_entry_begin[block + 1] - entries;
  BlockFeatures found;
  try {
    found = features_of(block);
  } catch (const CorruptModel& error) {
    fail(error.what());
  }
  if (found.entry_begin[0] != 0 || found.entry_begin[found.n] != n_entries) {
    fail("entry_begin does not span the block's entries");
  }
  for (int64_t f = 0; f < found.n; ++f) {
    const int32_t feature = found.feature[f];
    if (feature < 0 || feature >= views_.n_features) fail("a feature is out of range");
    if (f > 0 && feature <= found.feature[f - 1]) fail("features are not ascending");
    if (views_.dense.contains(feature)) fail("a dense feature is among the sparse ones");
    if (found.entry_begin[f] > found.entry_begin[f + 1]) fail("entry_begin decreases");
  }
  std::visit(
      [&](const auto& columns) {
        for (int64_t e = entries; e < entries + n_entries; ++e) {
          if (static_cast<int64_t>(columns[e]) >= n_scores(block)) fail("a column is out of range");
        }
      },
      views_.column);
  return found;
}

// Two threads may both make it; the first to be ready is kept.
const BlockStore::BlockIndex& BlockStore::make_index(int32_t block) const {
  BlockFeatures found = verified_features(block);
  auto made =
      std::make_unique<const BlockIndex>(BlockIndex{FeatureIndex(found.feature, found.n, views_.n_features),
                                                    found.entry_begin, std::move(found.unpacked_begin)});
  const BlockIndex* kept = nullptr;
  if (index_[block].compare_exchange_strong(kept, made.get(), std::memory_order_acq_rel))
    kept = made.release();
  return *kept;
}

void BlockStore::verify() const {
  for (int32_t b = 0; b < n_blocks(); ++b) verified_features(b);
}

void BlockStore::score_sparse(int32_t block, const RowView& query, float* out) const {
  const BlockIndex& index = this->index(block);
  const int32_t n = n_scores(block);
  const float* bias = biases(block);
  const float* scale = scales(block);
  std::fill(out, out + n, 0.0f);
  std::visit(
      [&](const auto& columns, const auto& weights) {
        const auto* column = columns.data + views_.block_entry_begin[block];
        const auto* weight = weights.data + views_.block_entry_begin[block];
        const uint32_t* entry_begin = index.entry_begin;
        // A large model is mostly not in cache. Each step asks for what the next one reads, for many features
        // at a time, so that the waits overlap.
        constexpr size_t chunk = FeatureIndex::kAtATime;
        uint32_t which[chunk], at[chunk], last[chunk];
        for (size_t begin = 0; begin < query.size; begin += chunk) {
          const int n_wanted = static_cast<int>(std::min(chunk, query.size - begin));
          const float* value = query.value + begin;
          const int n_found = index.features.find(query.index + begin, n_wanted, which, at);
          for (int k = 0; k < n_found; ++k) {
            const uint32_t* entries = entry_begin + at[k];
            at[k] = entries[0];
            last[k] = entries[1];
            __builtin_prefetch(column + at[k]);
            __builtin_prefetch(weight + at[k]);
          }
          for (int k = 0; k < n_found; ++k) {
            const float x = value[which[k]];
            for (uint32_t e = at[k]; e < last[k]; ++e) out[column[e]] += x * decode_weight(weight[e]);
          }
        }
      },
      views_.column, views_.weight);
  for (int32_t c = 0; c < n; ++c) {
    out[c] = bias[c] + (scale != nullptr ? scale[c] * out[c] : out[c]);
  }
}

void BlockStore::add_dense(int32_t block, const float* const* rows, int n_rows, float* const* scores) const {
  if (n_dense() == 0 || n_rows == 0) return;
  if (has_node_vectors()) return add_node_products(block, rows, n_rows, scores);
  const LaneKernels& kernels = lane_kernels();
  const auto add = fused_ ? kernels.add_products : kernels.add_products_unfused;
  const int n = n_scores(block);
  const int64_t n_at_a_time = kProductsAtATime / (n_dense() * n_rows * kColumnsAtATime);
  const int64_t step = std::max<int64_t>(n_at_a_time, 1) * kColumnsAtATime;
  if (n <= step) return add(rows, n_rows, n_dense(), panels(block, 0), n, scores);
  // The products of a flat tree take seconds. A column's sum does not depend on the columns beside it.
  std::vector<float*> out(scores, scores + n_rows);
  for (int64_t first = 0; first < n; first += step) {
    stop_if_interrupted();
    add(rows, n_rows, n_dense(), panels(block, first), static_cast<int>(std::min(step, n - first)),
        out.data());
    for (float*& at : out) at += step;
  }
}

void BlockStore::add_node_products(int32_t block, const float* const* rows, int n_rows,
                                   float* const* scores) const {
  const int64_t n = n_columns(block), first = first_node(block);
  const int64_t step = std::max(kProductsAtATime / (n_dense() * n_rows), int64_t{1});
  std::vector<float*> moved;  // the products of a flat tree are made in parts
  for (int64_t begin = 0; begin < n; begin += step) {
    if (begin > 0) {
      stop_if_interrupted();
      if (moved.empty()) moved.assign(scores, scores + n_rows);
      for (float*& at : moved) at += step;
    }
    VectorMatrix vectors;
    std::visit(
        [&](const auto& weights) {
          vectors.type = vector_type<std::remove_cvref_t<decltype(weights[0])>>();
          vectors.data = weights.data + (first + begin) * n_dense();
        },
        views_.node_vector);
    if (views_.node_scale.size > 0) vectors.scale = views_.node_scale.data + first + begin;
    vectors.n_vectors = std::min(step, n - begin);
    vectors.dimension = vectors.stride = n_dense();
    vector_kernels().dot(rows, n_rows, vectors, moved.empty() ? scores : moved.data());
  }
}

PanelWeights BlockStore::panels(int32_t block, int64_t column) const {
  const int64_t first = first_panel_[block] * kPanelColumns + column;
  PanelWeights panels;
  std::visit(
      [&](const auto& weights) {
        panels.type = vector_type<std::remove_cvref_t<decltype(weights[0])>>();
        panels.data = weights.data + first * n_dense();
      },
      views_.dense_weight);
  if (views_.dense_scale.size > 0) panels.scale = views_.dense_scale.data + first;
  return panels;
}

float BlockStore::dense_weight(int32_t block, int32_t column, int64_t d) const {
  if (!has_node_vectors()) {
    const int64_t first = column / kPanelColumns * kPanelColumns, lane = column - first;
    const PanelWeights panel = panels(block, first);
    const float scale = panel.scale != nullptr ? panel.scale[lane] : 1.0f;
    return scale *
           panel.visit([&](const auto* weights) { return decode_weight(weights[d * kPanelColumns + lane]); });
  }
  const int64_t node = first_node(block) + column;
  const float scale = views_.node_scale.size > 0 ? views_.node_scale[node] : 1.0f;
  return scale * std::visit([&](const auto& weights) { return decode_weight(weights[node * n_dense() + d]); },
                            views_.node_vector);
}

void BlockStore::scores(int32_t block, const RowView& query, float* out) const {
  score_sparse(block, query, out);
  add_dense(block, &query.dense, 1, &out);
  if (is_mirrored(block)) out[1] = -out[0];
}

void BlockStore::node_scores(int32_t block, const RowView& query, float* out) const {
  if (n_codes(block) > 0) {
    score_jointly(block, query, out);
  } else {
    scores(block, query, out);
    if (!is_softmax(block)) return;
    apply_softmax(out, n_columns(block));
  }
  for (int32_t c = 0; c < n_columns(block); ++c) out[c] = log_odds(out[c]);
}

void BlockStore::probabilities(int32_t block, const RowView& query, bool normalize_siblings,
                               float* out) const {
  if (n_codes(block) > 0 && maps_.empty()) {
    score_jointly(block, query, out);
    return;  // every code has a child: the probabilities sum to 1 or more
  }
  if (maps_.empty()) {
    scores(block, query, out);
  } else {
    node_scores(block, query, out);
  }
  apply_links(block, normalize_siblings, out);
}

void BlockStore::probabilities(int32_t block, const std::vector<const FeatureRow*>& queries,
                               bool normalize_siblings, const std::vector<float*>& out) const {
  if (n_codes(block) > 0) {  // scores of codes have no room in `out`
    for (size_t i = 0; i < queries.size(); ++i) {
      probabilities(block, *queries[i], normalize_siblings, out[i]);
    }
    return;
  }
  std::vector<const float*> rows;
  for (size_t i = 0; i < queries.size(); ++i) {
    score_sparse(block, *queries[i], out[i]);
    rows.push_back(queries[i]->dense.data());
  }
  add_dense(block, rows.data(), static_cast<int>(rows.size()), out.data());
  for (float* p : out) {
    if (is_mirrored(block)) p[1] = -p[0];
    if (is_softmax(block) && !maps_.empty()) {
      apply_softmax(p, n_columns(block));
      for (int32_t c = 0; c < n_columns(block); ++c) p[c] = log_odds(p[c]);
    }
    apply_links(block, normalize_siblings, p);
  }
}

int32_t BlockStore::probable(int32_t block, const RowView& query, bool normalize_siblings, float parent,
                             float least, float* scores, Child* out) const {
  const int32_t n = n_columns(block);
  if (maps_.empty() || normalize_siblings) {
    probabilities(block, query, normalize_siblings, scores);
    for (int32_t c = 0; c < n; ++c) out[c] = {c, scores[c]};
    return n;
  }
  node_scores(block, query, scores);
  const float cut = maps_.cut(level_[block], parent, least);
  int32_t n_left = 0;
  for (int32_t c = 0; c < n; ++c) {
    out[n_left] = {c, scores[c]};
    n_left += scores[c] >= cut;
  }
  for (int32_t i = 0; i < n_left; ++i) maps_.apply(level_[block], &out[i].probability, 1);
  return n_left;
}

void BlockStore::apply_links(int32_t block, bool normalize_siblings, float* out) const {
  const int32_t n = n_columns(block);
  if (maps_.empty() && is_softmax(block)) {
    apply_softmax(out, n_columns(block));
  } else if (maps_.empty()) {
    const Link link = link_ == Link::softmax ? Link::sigmoid : link_;  // of the root
    apply_link(link, out, n);
  } else {
    maps_.apply(level_[block], out, n);
  }
  if (normalize_siblings && block > 0) labeltree::normalize_siblings(out, n);
}

void BlockStore::score_jointly(int32_t block, const RowView& query, float* out) const {
  float scores[1 << kMaxJointChildren];
  this->scores(block, query, scores);
  const uint8_t* code = views_.code.data + views_.code_begin[block];
  apply_joint_softmax(scores, code, n_codes(block), out, n_columns(block));
}

}  // namespace labeltree
