#include "rivals/fastxml/example_tree.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/core/items.h"
#include "bindings/core/views.h"
#include "rivals/fastxml/label_means.h"
#include "rivals/fastxml/ranking_split.h"

namespace labeltree {

namespace {

using Gains = std::optional<Array<double>>;

// Rankings by gains that are no numbers would change for ever.
void check_gains(const Array<double>& gain, const char* name) {
  for (size_t i = 0; i < gain.size(); ++i) {
    require(std::isfinite(gain.data()[i]), (std::string(name) + " must have finite numbers").c_str());
  }
}

const double* gains_of_labels(const Gains& label_gain, int32_t n_labels) {
  if (!label_gain) return nullptr;
  require_length(label_gain->size(), n_labels, "label_gain", "label");
  check_gains(*label_gain, "label_gain");
  return label_gain->data();
}

nb::dict grow(const BoundExamples& examples, Gains label_gain, const Items<uint64_t>& seeds,
              const ExampleTreeOptions& options, Progress& progress) {
  const double* gain = gains_of_labels(label_gain, examples.view.n_labels);
  const std::vector<uint64_t> numbers = to_vector<uint64_t>(seeds);
  ExampleTreeArrays trees;
  {
    nb::gil_scoped_release release;
    trees = grow_example_trees(examples.view, gain, numbers, options, progress);
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

nb::dict means_of_labels(const BoundExamples& examples, int n_threads, Progress& progress) {
  LabelMeans means;
  {
    nb::gil_scoped_release release;
    means = label_means(examples.view, n_threads, progress);
  }
  nb::dict arrays;
  arrays["mean_begin"] = to_numpy(std::move(means.begin));
  arrays["mean_feature"] = to_numpy(std::move(means.feature));
  arrays["mean_value"] = to_numpy(std::move(means.value));
  arrays["mean_square"] = to_numpy(std::move(means.square));
  return arrays;
}

void split_by_ranking(Array<int64_t> label_indptr, Array<int32_t> label_indices, int32_t n_labels,
                      Array<double> row_gain, Gains label_gain, OutArray<uint8_t> positive) {
  const auto n_rows = static_cast<int64_t>(row_gain.size());
  const LabelMatrixView labels = label_view(label_indptr, label_indices, n_rows);
  check_labels(labels, label_indices.size(), n_labels);
  require(positive.size() == row_gain.size(), "positive: one entry per row");
  check_gains(row_gain, "row_gain");
  std::vector<int32_t> rows(n_rows);
  for (int64_t i = 0; i < n_rows; ++i) rows[i] = static_cast<int32_t>(i);
  std::vector<uint8_t> sides(n_rows);
  for (int64_t i = 0; i < n_rows; ++i) sides[i] = positive.data()[i] != 0;
  RankingSplit split({labels, n_labels, row_gain.data(), gains_of_labels(label_gain, n_labels)});
  split.run(rows.data(), n_rows, sides, Progress());
  std::copy(sides.begin(), sides.end(), positive.data());
}

}  // namespace

void bind_example_tree(nb::module_& m) {
  const ExampleTreeOptions by_default;
  nb::class_<ExampleTreeOptions>(m, "ExampleTreeOptions", "How trees over examples are grown.")
      .def(
          "__init__",
          [](ExampleTreeOptions* self, double C, double tol, int max_iter, float bias, int64_t max_leaf,
             int64_t leaf_labels, bool normalize_gain, int n_threads) {
            new (self)
                ExampleTreeOptions{C, tol, max_iter, bias, max_leaf, leaf_labels, normalize_gain, n_threads};
          },
          nb::kw_only(), nb::arg("C") = by_default.C, nb::arg("tol") = by_default.tol,
          nb::arg("max_iter") = by_default.max_iter, nb::arg("bias") = by_default.bias,
          nb::arg("max_leaf") = by_default.max_leaf, nb::arg("leaf_labels") = by_default.leaf_labels,
          nb::arg("normalize_gain") = by_default.normalize_gain, nb::arg("n_threads") = by_default.n_threads);
  m.def("grow_example_trees", &grow, nb::arg("examples"), nb::arg("label_gain").noconvert().none(),
        nb::arg("seeds"), nb::arg("options"), nb::arg("progress"),
        "Grow a tree over the rows for each seed; returns the arrays of all.");
  m.def("label_means", &means_of_labels, nb::arg("examples"), nb::arg("n_threads"), nb::arg("progress"),
        "The mean of the rows of each label, all scaled to unit length before.");
  m.def("split_by_ranking", &split_by_ranking, nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_labels"), nb::arg("row_gain").noconvert(),
        nb::arg("label_gain").noconvert().none(), nb::arg("positive").noconvert(),
        "Alternate rankings of two sides and the sides of rows until both are stable; from `positive` on.");
}

}  // namespace labeltree
