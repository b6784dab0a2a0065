#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "bindings/search/answers.h"
#include "model/corrupt_model.h"
#include "rivals/fastxml/example_forest.h"
#include "rivals/fastxml/example_tree.h"
#include "rivals/fastxml/label_means.h"
#include "rivals/fastxml/ranking_split.h"

namespace labeltree {

namespace {

nb::dict grow(const BoundFeatures& features, Array<int64_t> label_indptr, Array<int32_t> label_indices,
              int32_t n_labels, std::optional<Array<float>> sample_weight,
              std::optional<Array<double>> label_gain, const std::vector<uint64_t>& seeds,
              const ExampleTreeOptions& options, Progress& progress) {
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  const float* weight = optional_weights(sample_weight, labels.n_rows);
  const double* gain = weights_of_labels(label_gain, n_labels);
  ExampleTreeArrays trees;
  {
    nb::gil_scoped_release release;
    trees = grow_example_trees(features.matrix, labels, n_labels, weight, gain, seeds, options, progress);
  }
  nb::dict arrays;
  arrays["tree_begin"] = to_numpy(std::move(trees.tree_begin));
  arrays["child"] = to_numpy(std::move(trees.child));
  arrays["weight_begin"] = to_numpy(std::move(trees.weight_begin));
  arrays["feature"] = to_numpy(std::move(trees.feature));
  arrays["weight"] = to_numpy(std::move(trees.weight));
  arrays["bias"] = to_numpy(std::move(trees.bias));
  arrays["pair_begin"] = to_numpy(std::move(trees.pair_begin));
  arrays["label"] = to_numpy(std::move(trees.label));
  arrays["probability"] = to_numpy(std::move(trees.probability));
  arrays["n_rounds"] = to_numpy(std::move(trees.n_rounds));
  return arrays;
}

nb::dict means_of_labels(const BoundFeatures& features, Array<int64_t> label_indptr,
                         Array<int32_t> label_indices, int32_t n_labels,
                         std::optional<Array<float>> sample_weight, int n_threads, Progress& progress) {
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  const float* weight = optional_weights(sample_weight, labels.n_rows);
  LabelMeans means;
  {
    nb::gil_scoped_release release;
    means = label_means(features.matrix, LabelExamples(labels, n_labels), weight, n_threads, progress);
  }
  nb::dict arrays;
  arrays["mean_begin"] = to_numpy(std::move(means.begin));
  arrays["mean_feature"] = to_numpy(std::move(means.feature));
  arrays["mean_value"] = to_numpy(std::move(means.value));
  arrays["mean_square"] = to_numpy(std::move(means.square));
  return arrays;
}

void split_by_ranking(Array<int64_t> label_indptr, Array<int32_t> label_indices, int32_t n_labels,
                      Array<double> row_gain, std::optional<Array<double>> label_gain,
                      OutArray<uint8_t> positive) {
  const auto n_rows = static_cast<int64_t>(row_gain.size());
  const LabelMatrixView labels = label_view(label_indptr, label_indices, n_rows);
  check_labels(labels, label_indices.size(), n_labels);
  require(positive.size() == row_gain.size(), "positive: one entry per row");
  std::vector<int32_t> rows(n_rows);
  for (int64_t i = 0; i < n_rows; ++i) rows[i] = static_cast<int32_t>(i);
  std::vector<uint8_t> sides(n_rows);
  for (int64_t i = 0; i < n_rows; ++i) sides[i] = positive.data()[i] != 0;
  RankingSplit split({labels, n_labels, row_gain.data(), weights_of_labels(label_gain, n_labels)});
  split.run(rows.data(), n_rows, sides, Progress());
  std::copy(sides.begin(), sides.end(), positive.data());
}

struct BoundExampleForest {
  std::vector<nb::object> owners;
  std::unique_ptr<ExampleForest> forest;
};

BoundExampleForest make_forest(nb::dict arrays, int32_t n_labels, int64_t n_features, double gamma,
                               double alpha) {
  BoundExampleForest bound;
  const auto view = [&]<class T>(const char* name, Span<T>& to) {
    nb::object object = arrays[name];
    Array<T> array;
    if (!nb::try_cast(object, array, false)) {
      throw CorruptModel(std::string(name) + " has the wrong type or shape");
    }
    bound.owners.push_back(object);
    to = {array.data(), static_cast<int64_t>(array.size())};
  };
  ExampleTreeViews trees;
  view("tree_begin", trees.tree_begin);
  view("child", trees.child);
  view("weight_begin", trees.weight_begin);
  view("feature", trees.feature);
  view("weight", trees.weight);
  view("bias", trees.bias);
  view("pair_begin", trees.pair_begin);
  view("label", trees.label);
  view("probability", trees.probability);
  LabelMeanViews means;
  if (arrays.contains("mean_begin")) {
    view("mean_begin", means.begin);
    // To the forest, an empty one would say that there are no means.
    if (means.begin.size == 0) throw CorruptModel("mean_begin has the wrong length");
    view("mean_feature", means.feature);
    view("mean_value", means.value);
    view("mean_square", means.square);
    means.gamma = gamma;
    means.alpha = alpha;
  }
  bound.forest = std::make_unique<ExampleForest>(trees, means, n_labels, n_features);
  return bound;
}

SearchOptions search_options(const BoundExampleForest& f, const BoundFeatures& features, const Mask& allowed,
                             int n_threads) {
  require(features.matrix.n_features() == f.forest->n_features(), "X has the wrong number of features");
  SearchOptions options;
  options.n_threads = n_threads;
  options.label_allowed = mask_of_labels(allowed, f.forest->n_labels());
  return options;
}

void top_k(const BoundExampleForest& f, const BoundFeatures& features, float threshold, Mask allowed,
           int n_threads, OutMatrix<int32_t> labels, OutMatrix<float> probabilities,
           std::optional<OutArray<int64_t>> evaluations, std::optional<Array<double>> label_weight) {
  SearchOptions options = search_options(f, features, allowed, n_threads);
  options.label_weight = weights_of_labels(label_weight, f.forest->n_labels());
  check_best(labels, probabilities, features.matrix.n_rows());
  int64_t* counts = evaluation_counts(evaluations, features.matrix.n_rows());
  nb::gil_scoped_release release;
  f.forest->top_k(features.matrix, static_cast<int64_t>(labels.shape(1)), threshold, options, labels.data(),
                  probabilities.data(), counts);
}

nb::tuple above(const BoundExampleForest& f, const BoundFeatures& features, int64_t k, float threshold,
                std::optional<Array<float>> label_threshold, Mask allowed, int n_threads,
                std::optional<OutArray<int64_t>> evaluations) {
  const SearchOptions options = search_options(f, features, allowed, n_threads);
  const float* of_label = thresholds_of_labels(label_threshold, f.forest->n_labels());
  int64_t* counts = evaluation_counts(evaluations, features.matrix.n_rows());
  return ranking([&] { return f.forest->above(features.matrix, k, threshold, of_label, options, counts); });
}

void pairs(const BoundExampleForest& f, const BoundFeatures& features, Array<int64_t> rows,
           Array<int32_t> labels, int n_threads, OutArray<float> probabilities) {
  search_options(f, features, std::nullopt, n_threads);
  check_pairs(rows, labels, probabilities, features.matrix.n_rows(), f.forest->n_labels());
  nb::gil_scoped_release release;
  f.forest->pairs(features.matrix, rows.data(), labels.data(), static_cast<int64_t>(rows.size()), n_threads,
                  probabilities.data());
}

}  // namespace

void bind_fastxml(nb::module_& m) {
  nb::class_<ExampleTreeOptions>(m, "ExampleTreeOptions")
      .def(nb::init<>())
      .def_rw("C", &ExampleTreeOptions::C)
      .def_rw("tol", &ExampleTreeOptions::tol)
      .def_rw("max_iter", &ExampleTreeOptions::max_iter)
      .def_rw("bias", &ExampleTreeOptions::bias)
      .def_rw("max_leaf", &ExampleTreeOptions::max_leaf)
      .def_rw("leaf_labels", &ExampleTreeOptions::leaf_labels)
      .def_rw("normalize_gain", &ExampleTreeOptions::normalize_gain)
      .def_rw("n_threads", &ExampleTreeOptions::n_threads);

  m.def("grow_example_trees", &grow, nb::arg("features"), nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_labels"),
        nb::arg("sample_weight").noconvert().none(), nb::arg("label_gain").noconvert().none(),
        nb::arg("seeds"), nb::arg("options"), nb::arg("progress"),
        "Grow a tree over the rows for each seed; returns the arrays of all.");
  m.def("label_means", &means_of_labels, nb::arg("features"), nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_labels"),
        nb::arg("sample_weight").noconvert().none(), nb::arg("n_threads"), nb::arg("progress"),
        "The mean of the rows of each label, all scaled to unit length before.");
  m.def("split_by_ranking", &split_by_ranking, nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_labels"), nb::arg("row_gain").noconvert(),
        nb::arg("label_gain").noconvert().none(), nb::arg("positive").noconvert(),
        "Alternate rankings of two sides and the sides of rows until both are stable; from `positive` on.");
  nb::class_<BoundExampleForest>(m, "ExampleForest", "Trees over examples, asked together.")
      .def(
          "__init__",
          [](BoundExampleForest* self, nb::dict arrays, int32_t n_labels, int64_t n_features, double gamma,
             double alpha) {
            new (self) BoundExampleForest(make_forest(arrays, n_labels, n_features, gamma, alpha));
          },
          nb::arg("arrays"), nb::arg("n_labels"), nb::arg("n_features"), nb::arg("gamma") = 0.0,
          nb::arg("alpha") = 1.0)
      .def(
          "verify", [](const BoundExampleForest& f) { f.forest->verify(); },
          nb::call_guard<nb::gil_scoped_release>(), "Check the insides of every node, leaf and mean.")
      .def("top_k", &top_k, nb::arg("features"), nb::arg("threshold"), nb::arg("allowed").noconvert().none(),
           nb::arg("n_threads"), nb::arg("labels").noconvert(), nb::arg("probabilities").noconvert(),
           nb::arg("evaluations").noconvert().none(), nb::arg("label_weight").noconvert() = nb::none(),
           "Fill labels and probabilities, one row of k for each row of features.")
      .def("above", &above, nb::arg("features"), nb::arg("k"), nb::arg("threshold"),
           nb::arg("label_threshold").noconvert().none(), nb::arg("allowed").noconvert().none(),
           nb::arg("n_threads"), nb::arg("evaluations").noconvert().none(),
           "The k best labels with at least their threshold, as indptr, labels and probabilities.")
      .def("pairs", &pairs, nb::arg("features"), nb::arg("rows").noconvert(), nb::arg("labels").noconvert(),
           nb::arg("n_threads"), nb::arg("probabilities").noconvert(),
           "Fill the probabilities of (row, label) pairs; rows ascending.");
}

}  // namespace labeltree
