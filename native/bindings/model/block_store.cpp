#include "model/block_store.h"

#include <nanobind/stl/pair.h>

#include <string>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/model/blocks.h"
#include "bindings/model/stored_arrays.h"
#include "model/packed_index.h"
#include "training/held_out_nodes.h"

namespace labeltree {

namespace {

BoundStore make_store(nb::object tree, nb::dict arrays, int64_t n_features, Link link,
                      std::pair<int64_t, int64_t> dense_features, bool fused) {
  BoundStore bound;
  bound.owners.push_back(tree);
  const auto array = [&]<class T>(const char* name, T) {
    return stored_array<T>(arrays, name, bound.owners);
  };
  BlockViews views;
  views.tree = nb::cast<const BoundTree&>(tree).view;
  views.n_features = n_features;
  views.block_entry_begin = array("block_entry_begin", int64_t{});
  if (arrays.contains("index_begin")) {
    views.index_begin = array("index_begin", int64_t{});
    // To the store, an empty one would say that features are not packed.
    if (views.index_begin.size == 0) throw CorruptModel("index_begin has the wrong length");
    views.index = array("index", uint8_t{});
  } else {
    views.block_begin = array("block_begin", int64_t{});
    views.feature = array("feature", int32_t{});
    views.entry_begin = array("entry_begin", uint32_t{});
  }
  views.bias = array("bias", float{});
  if (arrays.contains("scale")) views.scale = array("scale", float{});
  views.dense = {dense_features.first, dense_features.second};
  if (arrays.contains("dense_weight")) {
    views.dense_weight = stored_variant<float, uint16_t, int8_t>(arrays, "dense_weight", bound.owners);
    if (arrays.contains("dense_scale")) views.dense_scale = array("dense_scale", float{});
  }
  if (arrays.contains("node_vector")) {
    views.node_vector = stored_variant<float, uint16_t, int8_t>(arrays, "node_vector", bound.owners);
    if (arrays.contains("node_scale")) views.node_scale = array("node_scale", float{});
  }
  if (arrays.contains("code_begin")) {
    views.code_begin = array("code_begin", int64_t{});
    // To the store, an empty one would say that no block is joint.
    if (views.code_begin.size == 0) throw CorruptModel("code_begin has the wrong length");
    views.code = array("code", uint8_t{});
    views.code_bias = array("code_bias", float{});
    if (arrays.contains("code_scale")) views.code_scale = array("code_scale", float{});
  }
  views.column = stored_variant<uint8_t, uint16_t, uint32_t>(arrays, "column", bound.owners);
  views.weight = stored_variant<float, uint16_t, int8_t>(arrays, "weight", bound.owners);
  bound.store = std::make_shared<BlockStore>(views, link, stored_maps(arrays), fused);
  return bound;
}

void check_examples(const BoundStore& s, const BoundExamples& examples) {
  check_features(examples.view.features, *s.store);
  check_labels_of(examples.view, s.store->tree());
}

FeatureRow make_query(const BoundStore& s, const BoundFeatures& features, int64_t row, int32_t block) {
  require(row >= 0 && row < features.matrix.n_rows(), "the row is out of range");
  require(block >= 0 && block < s.store->n_blocks(), "the block is out of range");
  check_features(features.matrix, *s.store);
  FeatureRow query;
  features.matrix.append(row, query);
  return query;
}

auto block_scores(const BoundStore& s, const BoundFeatures& features, int64_t row, int32_t block) {
  const FeatureRow query = make_query(s, features, row, block);
  std::vector<float> out(s.store->n_scores(block));
  s.store->scores(block, query, out.data());
  return to_numpy(std::move(out));
}

auto block_probabilities(const BoundStore& s, const BoundFeatures& features, int64_t row, int32_t block,
                         bool normalize_siblings) {
  const FeatureRow query = make_query(s, features, row, block);
  std::vector<float> out(s.store->n_columns(block));
  s.store->probabilities(block, query, normalize_siblings, out.data());
  return to_numpy(std::move(out));
}

nb::dict nodes_of_held_out(const BoundStore& s, const BoundExamples& examples, bool normalize_siblings,
                           double negative_share, uint64_t seed, int n_threads) {
  check_examples(s, examples);
  require(examples.view.n_rows() <= INT32_MAX, "at most 2,147,483,647 rows can be looked at at once");
  HeldOutNodes found;
  {
    nb::gil_scoped_release release;
    found = held_out_nodes(*s.store, examples.view, normalize_siblings, negative_share, seed, n_threads);
  }
  nb::dict result;
  result["node"] = to_numpy(std::move(found.node));
  result["score"] = to_numpy(std::move(found.score));
  result["probability"] = to_numpy(std::move(found.probability));
  result["positive"] = to_numpy(std::move(found.positive));
  return result;
}

nb::tuple pack_index(const nb::dict& arrays) {
  std::vector<nb::object> owners;
  const Span<int64_t> block_begin = stored_array<int64_t>(arrays, "block_begin", owners);
  const Span<int32_t> feature = stored_array<int32_t>(arrays, "feature", owners);
  const Span<uint32_t> entry_begin = stored_array<uint32_t>(arrays, "entry_begin", owners);
  const int64_t n_blocks = block_begin.size - 1;
  bool fits = n_blocks >= 0 && block_begin[0] == 0 && block_begin[n_blocks] == feature.size &&
              entry_begin.size == feature.size + n_blocks;
  for (int64_t b = 0; fits && b < n_blocks; ++b) fits = block_begin[b] <= block_begin[b + 1];
  require(fits, "block_begin, feature and entry_begin contradict each other");
  std::vector<int64_t> index_begin{0};
  std::vector<uint8_t> index;
  {
    nb::gil_scoped_release release;
    for (int64_t b = 0; b < n_blocks; ++b) {
      const int64_t begin = block_begin[b];
      pack_features(feature.data + begin, entry_begin.data + begin + b, block_begin[b + 1] - begin, index);
      index_begin.push_back(static_cast<int64_t>(index.size()));
    }
  }
  return nb::make_tuple(to_numpy(std::move(index_begin)), to_numpy(std::move(index)));
}

nb::tuple column(const BoundStore& s, int32_t block, int32_t column) {
  require(block >= 0 && block < s.store->n_blocks(), "the block is out of range");
  require(column >= 0 && column < s.store->n_scores(block), "the column is out of range");
  std::vector<int32_t> features;
  std::vector<float> weights;
  s.store->visit_column(block, column, [&](int32_t feature, float weight) {
    features.push_back(feature);
    weights.push_back(weight);
  });
  return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(weights)));
}

}  // namespace

void bind_block_store(nb::module_& m) {
  const nb::object model_file_error = nb::module_::import_("labeltree.errors").attr("ModelFileError");
  nb::exception<CorruptModel>(m, "CorruptModel", model_file_error);
  nb::class_<BoundStore>(m, "BlockStore", nb::type_slots(reference_slots<BoundStore>),
                         "One tree and its weights, read where they are.")
      .def(
          "__init__",
          [](BoundStore* self, nb::object tree, nb::dict arrays, int64_t n_features, Link link,
             std::pair<int64_t, int64_t> dense_features, bool fused) {
            new (self) BoundStore(make_store(tree, arrays, n_features, link, dense_features, fused));
          },
          nb::arg("tree"), nb::arg("arrays"), nb::arg("n_features"), nb::arg("link"),
          nb::arg("dense_features") = nb::make_tuple(0, 0), nb::arg("fused") = true,
          nb::sig("def __init__(self, tree: Tree, arrays: dict, n_features: int, link: Link, "
                  "dense_features: tuple[int, int] = (0, 0), fused: bool = True) -> None"))
      .def(
          "verify", [](const BoundStore& s) { s.store->verify(); }, nb::call_guard<nb::gil_scoped_release>(),
          "Check the insides of every block.")
      .def("scores", &block_scores, nb::arg("features"), nb::arg("row"), nb::arg("block"),
           "The scores of a block's nodes for one row.")
      .def("probabilities", &block_probabilities, nb::arg("features"), nb::arg("row"), nb::arg("block"),
           nb::arg("normalize_siblings"),
           "The probabilities of a block's nodes for one row, given their parent's.")
      .def("held_out_nodes", &nodes_of_held_out, nb::arg("examples"), nb::arg("normalize_siblings"),
           nb::arg("negative_share"), nb::arg("seed"), nb::arg("n_threads"),
           "Node, score, probability and truth of every row at all nodes whose parent is positive, and the "
           "root; of negative ones, a share.")
      .def("column", &column, nb::arg("block"), nb::arg("column"), "Features and weights of one node.");
  m.def("pack_index", &pack_index, nb::arg("arrays"), nb::sig("def pack_index(arrays: dict) -> tuple"),
        "The arrays index_begin and index, which hold what block_begin, feature and entry_begin of sound "
        "arrays do.");
}

}  // namespace labeltree
