#include "clustering/label_clustering.h"

#include "bindings/bindings.h"
#include "bindings/core/views.h"
#include "clustering/label_vectors.h"

namespace labeltree {

namespace {

nb::tuple cluster(const FeatureMatrix& vectors, const BoundExamples& examples,
                  const ClusteringOptions& options, Progress& progress) {
  require_length(vectors.n_rows(), examples.view.n_labels, "vectors", "label");
  TreeArrays tree;
  {
    nb::gil_scoped_release release;
    tree = cluster_labels(vectors, examples.view.labels, options, progress);
  }
  return nb::make_tuple(to_numpy(std::move(tree.child_begin)), to_numpy(std::move(tree.label)));
}

template <class Vectors, class MatrixOf>
void def_cluster_labels(nb::module_& m, MatrixOf matrix_of) {
  m.def(
      "cluster_labels",
      [matrix_of](const Vectors& vectors, const BoundExamples& examples, const ClusteringOptions& options,
                  Progress& progress) { return cluster(matrix_of(vectors), examples, options, progress); },
      nb::arg("vectors"), nb::arg("examples"), nb::arg("options"), nb::arg("progress"),
      "Cluster the labels into a tree by vectors of unit length; returns child_begin and label.");
}

}  // namespace

void bind_label_clustering(nb::module_& m) {
  const ClusteringOptions by_default;
  const KMeansOptions& kmeans = by_default.kmeans;
  nb::class_<ClusteringOptions>(m, "ClusteringOptions", "How labels are clustered into a tree.")
      .def(
          "__init__",
          [](ClusteringOptions* self, int arity, int max_leaves, int max_depth, double frequent_share,
             bool balanced, int first_sample, int sample, int max_iter, float eps, uint64_t seed,
             int n_threads) {
            const KMeansOptions kmeans{balanced, first_sample, sample, max_iter, eps};
            new (self)
                ClusteringOptions{arity, max_leaves, max_depth, frequent_share, kmeans, seed, n_threads};
          },
          nb::kw_only(), nb::arg("arity") = by_default.arity, nb::arg("max_leaves") = by_default.max_leaves,
          nb::arg("max_depth") = by_default.max_depth, nb::arg("frequent_share") = by_default.frequent_share,
          nb::arg("balanced") = kmeans.balanced, nb::arg("first_sample") = kmeans.first_sample,
          nb::arg("sample") = kmeans.sample, nb::arg("max_iter") = kmeans.max_iter,
          nb::arg("eps") = kmeans.eps, nb::arg("seed") = by_default.seed,
          nb::arg("n_threads") = by_default.n_threads);
  def_cluster_labels<LabelVectors>(m, [](const LabelVectors& vectors) { return vectors.matrix(); });
  def_cluster_labels<BoundFeatures>(m, [](const BoundFeatures& vectors) { return vectors.matrix; });
}

}  // namespace labeltree
