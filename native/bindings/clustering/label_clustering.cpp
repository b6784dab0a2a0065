#include "clustering/label_clustering.h"

#include <nanobind/stl/optional.h>

#include <optional>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "clustering/label_vectors.h"

namespace labeltree {

namespace {

LabelVectors vectors_of_features(const BoundFeatures& features, Array<int64_t> label_indptr,
                                 Array<int32_t> label_indices, int32_t n_labels,
                                 std::optional<Array<float>> sample_weight, float prune, int n_threads,
                                 Progress& progress) {
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  const float* weight = optional_weights(sample_weight, labels.n_rows);
  nb::gil_scoped_release release;
  return label_vectors(features.matrix, LabelExamples(labels, n_labels), weight, prune, n_threads, progress);
}

LabelVectors vectors_of_labels(Array<int64_t> label_indptr, Array<int32_t> label_indices, int32_t n_labels,
                               std::optional<Array<float>> sample_weight, float prune, int n_threads,
                               Progress& progress) {
  const LabelMatrixView labels =
      label_view(label_indptr, label_indices, static_cast<int64_t>(label_indptr.size()) - 1);
  const float* weight = optional_weights(sample_weight, labels.n_rows);
  nb::gil_scoped_release release;
  return cooccurrence_vectors(labels, LabelExamples(labels, n_labels), weight, prune, n_threads, progress);
}

LabelVectors join(const LabelVectors& first, const LabelVectors& second) {
  require(first.n_labels() == second.n_labels(), "both must be vectors of the same labels");
  require(first.n_features + second.n_features < INT32_MAX,
          "features and labels together must be fewer than 2,147,483,647");
  nb::gil_scoped_release release;
  return join_vectors(first, second);
}

nb::tuple cluster(const FeatureMatrix& vectors, const Array<int64_t>& label_indptr,
                  const Array<int32_t>& label_indices, const ClusteringOptions& options, Progress& progress) {
  const LabelMatrixView labels =
      label_view(label_indptr, label_indices, static_cast<int64_t>(label_indptr.size()) - 1);
  require(options.kmeans.first_sample > 0 && options.kmeans.sample > 0 && options.kmeans.max_iter > 0,
          "k-means needs a sample and a step");
  TreeArrays tree;
  {
    nb::gil_scoped_release release;
    const LabelExamples examples(labels, static_cast<int32_t>(vectors.n_rows()));
    tree = cluster_labels(vectors, examples, labels.n_rows, options, progress);
  }
  return nb::make_tuple(to_numpy(std::move(tree.child_begin)), to_numpy(std::move(tree.label)));
}

template <class Vectors, class MatrixOf>
void def_cluster_labels(nb::module_& m, MatrixOf matrix_of) {
  m.def(
      "cluster_labels",
      [matrix_of](const Vectors& vectors, Array<int64_t> label_indptr, Array<int32_t> label_indices,
                  const ClusteringOptions& options, Progress& progress) {
        return cluster(matrix_of(vectors), label_indptr, label_indices, options, progress);
      },
      nb::arg("vectors"), nb::arg("label_indptr").noconvert(), nb::arg("label_indices").noconvert(),
      nb::arg("options"), nb::arg("progress"),
      "Cluster the labels into a tree by vectors of unit length; returns child_begin and label.");
}

}  // namespace

void bind_clustering(nb::module_& m) {
  nb::class_<KMeansOptions>(m, "KMeansOptions")
      .def(nb::init<>())
      .def_rw("balanced", &KMeansOptions::balanced)
      .def_rw("first_sample", &KMeansOptions::first_sample)
      .def_rw("sample", &KMeansOptions::sample)
      .def_rw("max_iter", &KMeansOptions::max_iter)
      .def_rw("eps", &KMeansOptions::eps);
  nb::class_<ClusteringOptions>(m, "ClusteringOptions")
      .def(nb::init<>())
      .def_rw("arity", &ClusteringOptions::arity)
      .def_rw("max_leaves", &ClusteringOptions::max_leaves)
      .def_rw("max_depth", &ClusteringOptions::max_depth)
      .def_rw("frequent_share", &ClusteringOptions::frequent_share)
      .def_rw("kmeans", &ClusteringOptions::kmeans)
      .def_rw("seed", &ClusteringOptions::seed)
      .def_rw("n_threads", &ClusteringOptions::n_threads);
  nb::class_<LabelVectors>(m, "LabelVectors", "A vector of unit length for every label that has examples.")
      .def_ro("n_features", &LabelVectors::n_features)
      .def(
          "arrays",
          [](const LabelVectors& vectors) {
            return nb::make_tuple(to_numpy(std::vector(vectors.begin)), to_numpy(std::vector(vectors.index)),
                                  to_numpy(std::vector(vectors.value)));
          },
          "Copies of the arrays of a CSR matrix with a row per label: indptr, indices and data.");

  m.def("label_vectors", &vectors_of_features, nb::arg("features"), nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_labels"),
        nb::arg("sample_weight").noconvert().none(), nb::arg("prune"), nb::arg("n_threads"),
        nb::arg("progress"), "The sums of the labels' examples.");
  m.def("cooccurrence_vectors", &vectors_of_labels, nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_labels"),
        nb::arg("sample_weight").noconvert().none(), nb::arg("prune"), nb::arg("n_threads"),
        nb::arg("progress"), "The sums of the label sets of the labels' examples.");
  m.def("join_vectors", &join, nb::arg("first"), nb::arg("second"),
        "Vectors of two kinds side by side, of the same weight.");
  def_cluster_labels<LabelVectors>(m, [](const LabelVectors& vectors) { return vectors.matrix(); });
  def_cluster_labels<BoundFeatures>(m, [](const BoundFeatures& vectors) { return vectors.matrix; });
}

}  // namespace labeltree
