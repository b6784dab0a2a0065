#include "search/forest.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "bindings/model/blocks.h"
#include "bindings/search/answers.h"
#include "training/held_out_loss.h"
#include "training/held_out_nodes.h"

namespace labeltree {

namespace {

template <class T>
Span<T> span(const Array<T>& array) {
  return {array.data(), static_cast<int64_t>(array.size())};
}

template <class T>
bool try_span(nb::handle object, auto& variant) {
  Array<T> array;
  if (!nb::try_cast(object, array, false)) return false;
  variant = span(array);
  return true;
}

BoundStore make_store(nb::dict arrays, int32_t n_labels, int64_t n_features, Link link,
                      std::pair<int64_t, int64_t> dense_features) {
  BoundStore bound;
  const auto keep = [&](const char* name) {
    nb::object array = arrays[name];
    bound.owners.push_back(array);
    return array;
  };
  const auto array = [&]<class T>(const char* name, T) {
    Array<T> a;
    if (!nb::try_cast(keep(name), a, false))
      throw CorruptModel(std::string(name) + " has the wrong type or shape");
    return a;
  };
  BlockViews views;
  const auto child_begin = array("child_begin", int32_t{}), label = array("label", int32_t{});
  views.tree = tree_view(child_begin, label, n_labels);
  views.n_features = n_features;
  views.block_begin = span(array("block_begin", int64_t{}));
  views.block_entry_begin = span(array("block_entry_begin", int64_t{}));
  views.feature = span(array("feature", int32_t{}));
  views.entry_begin = span(array("entry_begin", uint32_t{}));
  views.bias = span(array("bias", float{}));
  if (arrays.contains("scale")) views.scale = span(array("scale", float{}));
  views.dense = {dense_features.first, dense_features.second};
  if (arrays.contains("dense_weight")) views.dense_weight = span(array("dense_weight", float{}));
  if (arrays.contains("code_begin")) {
    views.code_begin = span(array("code_begin", int64_t{}));
    // To the store, an empty one would say that no block is joint.
    if (views.code_begin.size == 0) throw CorruptModel("code_begin has the wrong length");
    views.code = span(array("code", uint8_t{}));
    views.code_bias = span(array("code_bias", float{}));
    if (arrays.contains("code_scale")) views.code_scale = span(array("code_scale", float{}));
  }
  const nb::object column = keep("column"), weight = keep("weight");
  if (!try_span<uint8_t>(column, views.column) && !try_span<uint16_t>(column, views.column) &&
      !try_span<uint32_t>(column, views.column)) {
    throw CorruptModel("column has the wrong type or shape");
  }
  if (!try_span<float>(weight, views.weight) && !try_span<uint16_t>(weight, views.weight) &&
      !try_span<int8_t>(weight, views.weight)) {
    throw CorruptModel("weight has the wrong type or shape");
  }
  // By the names of model files; they are copied, so that nothing needs to be kept.
  LevelMaps maps;
  const auto copy = [&](const char* name, auto& to) {
    using T = typename std::decay_t<decltype(to)>::value_type;
    Array<T> values;
    if (!arrays.contains(name)) return;
    if (!nb::try_cast(arrays[name], values, false)) {
      throw CorruptModel(std::string(name) + " has the wrong type or shape");
    }
    // Not even a map for the root: to the store, empty ones would say that there is no calibration.
    if (values.size() == 0) throw CorruptModel(std::string(name) + " is empty");
    to.assign(values.data(), values.data() + values.size());
  };
  copy("slope", maps.slope);
  copy("intercept", maps.intercept);
  copy("knot_begin", maps.knot_begin);
  copy("knot_score", maps.knot_score);
  copy("knot_probability", maps.knot_probability);
  bound.store = std::make_shared<BlockStore>(views, link, std::move(maps));
  return bound;
}

FeatureRow make_query(const BoundStore& s, const BoundFeatures& features, int64_t row, int32_t block) {
  require(row >= 0 && row < features.matrix.n_rows(), "the row is out of range");
  require(block >= 0 && block < s.store->n_blocks(), "the block is out of range");
  require(features.matrix.n_features() == s.store->n_features(), "X has the wrong number of features");
  require(features.matrix.dense() == s.store->dense(), "X has other dense features than the model");
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

void lost_by_level(const BoundStore& s, const BoundFeatures& features, Array<int64_t> label_indptr,
                   Array<int32_t> label_indices, std::optional<Array<float>> label_weight, int n_threads,
                   OutMatrix<double> loss) {
  require(features.matrix.n_features() == s.store->n_features(), "X has the wrong number of features");
  require(features.matrix.dense() == s.store->dense(), "X has other dense features than the model");
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  check_labels(labels, label_indices.size(), s.store->tree().n_labels);
  require(!label_weight || static_cast<int32_t>(label_weight->size()) == s.store->tree().n_labels,
          "label_weight must have one entry per label");
  require(static_cast<int64_t>(loss.shape(0)) == labels.n_rows, "loss: one row per row of X");
  nb::gil_scoped_release release;
  held_out_loss(*s.store, features.matrix, labels, label_weight ? label_weight->data() : nullptr,
                static_cast<int>(loss.shape(1)), n_threads, loss.data());
}

nb::dict nodes_of_held_out(const BoundStore& s, const BoundFeatures& features, Array<int64_t> label_indptr,
                           Array<int32_t> label_indices, bool normalize_siblings, double negative_share,
                           uint64_t seed, int n_threads) {
  require(features.matrix.n_features() == s.store->n_features(), "X has the wrong number of features");
  require(features.matrix.dense() == s.store->dense(), "X has other dense features than the model");
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  check_labels(labels, label_indices.size(), s.store->tree().n_labels);
  require(labels.n_rows <= INT32_MAX, "at most 2,147,483,647 rows can be looked at at once");
  HeldOutNodes found;
  {
    nb::gil_scoped_release release;
    found = held_out_nodes(*s.store, features.matrix, labels, normalize_siblings, negative_share, seed,
                           n_threads);
  }
  nb::dict result;
  result["node"] = to_numpy(std::move(found.node));
  result["score"] = to_numpy(std::move(found.score));
  result["probability"] = to_numpy(std::move(found.probability));
  result["positive"] = to_numpy(std::move(found.positive));
  return result;
}

struct BoundForest {
  std::vector<nb::object> owners;
  std::shared_ptr<const Forest> forest;
};

SearchOptions search_options(const BoundForest& f, bool normalize_siblings, const Mask& allowed,
                             int n_threads) {
  SearchOptions options;
  options.normalize_siblings = normalize_siblings;
  options.n_threads = n_threads;
  options.label_allowed = mask_of_labels(allowed, f.forest->n_labels());
  return options;
}

void check_features(const BoundForest& f, const BoundFeatures& features) {
  require(features.matrix.n_features() == f.forest->n_features(), "X has the wrong number of features");
  require(features.matrix.dense() == f.forest->dense(), "X has other dense features than the model");
}

void top_k(const BoundForest& f, const BoundFeatures& features, float threshold, bool normalize_siblings,
           int beam, bool missing_as_zero, Mask allowed, int n_threads, OutMatrix<int32_t> labels,
           OutMatrix<float> probabilities, std::optional<OutArray<int64_t>> evaluations,
           std::optional<Array<double>> label_weight, Progress* progress) {
  check_features(f, features);
  SearchOptions options = search_options(f, normalize_siblings, allowed, n_threads);
  options.beam = beam;
  options.missing_as_zero = missing_as_zero;
  options.label_weight = weights_of_labels(label_weight, f.forest->n_labels());
  options.progress = progress;
  check_best(labels, probabilities, features.matrix.n_rows());
  int64_t* counts = evaluation_counts(evaluations, features.matrix.n_rows());
  nb::gil_scoped_release release;
  f.forest->top_k(features.matrix, static_cast<int>(labels.shape(1)), threshold, options, labels.data(),
                  probabilities.data(), counts);
}

nb::tuple above(const BoundForest& f, const BoundFeatures& features, int64_t k, float threshold,
                std::optional<Array<float>> label_threshold, bool normalize_siblings, Mask allowed,
                int n_threads, std::optional<OutArray<int64_t>> evaluations) {
  check_features(f, features);
  const SearchOptions options = search_options(f, normalize_siblings, allowed, n_threads);
  const float* of_label = thresholds_of_labels(label_threshold, f.forest->n_labels());
  int64_t* counts = evaluation_counts(evaluations, features.matrix.n_rows());
  return ranking([&] { return f.forest->above(features.matrix, k, threshold, of_label, options, counts); });
}

void pairs(const BoundForest& f, const BoundFeatures& features, Array<int64_t> rows, Array<int32_t> labels,
           bool normalize_siblings, int n_threads, OutArray<float> probabilities) {
  check_features(f, features);
  check_pairs(rows, labels, probabilities, features.matrix.n_rows(), f.forest->n_labels());
  const SearchOptions options = search_options(f, normalize_siblings, std::nullopt, n_threads);
  nb::gil_scoped_release release;
  f.forest->pairs(features.matrix, rows.data(), labels.data(), static_cast<int64_t>(rows.size()), options,
                  probabilities.data());
}

}  // namespace

void bind_prediction(nb::module_& m) {
  const nb::object model_file_error = nb::module_::import_("labeltree.errors").attr("ModelFileError");
  nb::exception<CorruptModel>(m, "CorruptModel", model_file_error);
  nb::enum_<Link>(m, "Link")
      .value("sigmoid", Link::sigmoid)
      .value("clip", Link::clip)
      .value("exp2", Link::exp2)
      .value("exp3", Link::exp3)
      .value("exp4", Link::exp4)
      .value("exp5", Link::exp5)
      .value("sigmoid2", Link::sigmoid2)
      .value("softmax", Link::softmax);
  m.def("apply_link", nb::overload_cast<Link, float>(&apply_link), nb::arg("link"), nb::arg("score"),
        "The probability that a score stands for.");

  nb::class_<BoundStore>(m, "BlockStore", "One tree and its weights, read where they are.")
      .def(
          "__init__",
          [](BoundStore* self, nb::dict arrays, int32_t n_labels, int64_t n_features, Link link,
             std::pair<int64_t, int64_t> dense_features) {
            new (self) BoundStore(make_store(arrays, n_labels, n_features, link, dense_features));
          },
          nb::arg("arrays"), nb::arg("n_labels"), nb::arg("n_features"), nb::arg("link"),
          nb::arg("dense_features") = nb::make_tuple(0, 0))
      .def(
          "verify", [](const BoundStore& s) { s.store->verify(); }, nb::call_guard<nb::gil_scoped_release>(),
          "Check the insides of every block.")
      .def("scores", &block_scores, nb::arg("features"), nb::arg("row"), nb::arg("block"),
           "The scores of a block's nodes for one row.")
      .def("probabilities", &block_probabilities, nb::arg("features"), nb::arg("row"), nb::arg("block"),
           nb::arg("normalize_siblings"),
           "The probabilities of a block's nodes for one row, given their parent's.")
      .def("held_out_loss", &lost_by_level, nb::arg("features"), nb::arg("label_indptr").noconvert(),
           nb::arg("label_indices").noconvert(), nb::arg("label_weight").noconvert().none(),
           nb::arg("n_threads"), nb::arg("loss").noconvert(),
           "Fill loss with the log loss of every row at every level of the tree.")
      .def("held_out_nodes", &nodes_of_held_out, nb::arg("features"), nb::arg("label_indptr").noconvert(),
           nb::arg("label_indices").noconvert(), nb::arg("normalize_siblings"), nb::arg("negative_share"),
           nb::arg("seed"), nb::arg("n_threads"),
           "Node, score, probability and truth of every row at all nodes whose parent is positive, and the "
           "root; of negative ones, a share.")
      .def(
          "column",
          [](const BoundStore& s, int32_t block, int32_t column) {
            require(block >= 0 && block < s.store->n_blocks(), "the block is out of range");
            require(column >= 0 && column < s.store->n_scores(block), "the column is out of range");
            std::vector<int32_t> features;
            std::vector<float> weights;
            s.store->visit_column(block, column, [&](int32_t feature, float weight) {
              features.push_back(feature);
              weights.push_back(weight);
            });
            return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(weights)));
          },
          nb::arg("block"), nb::arg("column"), "Features and weights of one node.");

  nb::class_<BoundForest>(m, "Forest", "The trees of a model, asked together.")
      .def(
          "__init__",
          [](BoundForest* self, nb::list stores, std::vector<double> weights) {
            std::vector<std::shared_ptr<const BlockStore>> trees;
            std::vector<nb::object> owners;
            for (nb::handle store : stores) {
              trees.push_back(nb::cast<BoundStore&>(store).store);
              owners.push_back(nb::borrow(store));
            }
            new (self) BoundForest{std::move(owners),
                                   std::make_shared<Forest>(std::move(trees), std::move(weights))};
          },
          nb::arg("stores"), nb::arg("weights"))
      .def("top_k", &top_k, nb::arg("features"), nb::arg("threshold"), nb::arg("normalize_siblings"),
           nb::arg("beam"), nb::arg("missing_as_zero"), nb::arg("allowed").noconvert().none(),
           nb::arg("n_threads"), nb::arg("labels").noconvert(), nb::arg("probabilities").noconvert(),
           nb::arg("evaluations").noconvert().none(), nb::arg("label_weight").noconvert() = nb::none(),
           nb::arg("progress") = nb::none(),
           "Fill labels and probabilities, one row of k for each row of features; beam 0 is exact search. "
           "Best are the most probable, or with weights those with the largest weight times probability.")
      .def("above", &above, nb::arg("features"), nb::arg("k"), nb::arg("threshold"),
           nb::arg("label_threshold").noconvert().none(), nb::arg("normalize_siblings"),
           nb::arg("allowed").noconvert().none(), nb::arg("n_threads"),
           nb::arg("evaluations").noconvert().none(),
           "The k best labels with at least their threshold: indptr, labels and probabilities, best first.")
      .def("pairs", &pairs, nb::arg("features"), nb::arg("rows").noconvert(), nb::arg("labels").noconvert(),
           nb::arg("normalize_siblings"), nb::arg("n_threads"), nb::arg("probabilities").noconvert(),
           "Fill the probabilities of (row, label) pairs; rows ascending.");

  nb::class_<Forest::Enumeration>(m, "Enumeration", "A row's labels, best first.")
      .def(
          "__init__",
          [](Forest::Enumeration* self, const BoundForest& f, const BoundFeatures& features, int64_t row,
             bool normalize_siblings, Mask allowed) {
            check_features(f, features);
            require(row >= 0 && row < features.matrix.n_rows(), "the row is out of range");
            new (self) Forest::Enumeration(f.forest, features.matrix, row,
                                           search_options(f, normalize_siblings, allowed, 1));
          },
          nb::arg("forest"), nb::arg("features"), nb::arg("row"), nb::arg("normalize_siblings"),
          nb::arg("allowed").noconvert().none(), nb::keep_alive<1, 2>())
      .def(
          "next",
          [](Forest::Enumeration& self) -> std::optional<std::pair<int32_t, float>> {
            ScoredLabel found;
            if (!self.next(found)) return std::nullopt;
            return std::pair(found.label, found.probability);
          },
          "The next label and its probability, or None.");
}

}  // namespace labeltree
