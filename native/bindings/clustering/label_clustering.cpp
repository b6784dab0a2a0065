#include "clustering/label_clustering.h"

#include "bindings/bindings.h"
#include "bindings/core/items.h"
#include "bindings/core/views.h"
#include "clustering/joined_tree.h"
#include "clustering/label_vectors.h"

namespace labeltree {

namespace {

FeatureMatrix matrix_of(const LabelVectors& vectors) { return vectors.matrix(); }
FeatureMatrix matrix_of(const BoundFeatures& vectors) { return vectors.matrix; }

nb::tuple tree_arrays(TreeArrays&& tree) {
  return nb::make_tuple(to_numpy(std::move(tree.child_begin)), to_numpy(std::move(tree.label)));
}

template <class Vectors>
TreeTop top_of(const Vectors& vectors, const BoundExamples& examples, const ClusteringOptions& options,
               Progress& progress, int64_t most_labels) {
  const FeatureMatrix matrix = matrix_of(vectors);
  require_length(matrix.n_rows(), examples.view.n_labels, "vectors", "label");
  nb::gil_scoped_release release;
  return cluster_top(matrix, examples.view.labels, options, most_labels, progress);
}

template <class Vectors>
nb::tuple cluster_all(const Vectors& vectors, const BoundExamples& examples, const ClusteringOptions& options,
                      Progress& progress) {
  return tree_arrays(top_of(vectors, examples, options, progress, 0).tree);
}

template <class Vectors>
nb::dict cluster_first(const Vectors& vectors, const BoundExamples& examples,
                       const ClusteringOptions& options, Progress& progress, int64_t most_labels) {
  TreeTop top = top_of(vectors, examples, options, progress, most_labels);
  nb::dict result;
  result["child_begin"] = to_numpy(std::move(top.tree.child_begin));
  result["label"] = to_numpy(std::move(top.tree.label));
  result["open_node"] = to_numpy(std::move(top.open.node));
  result["open_begin"] = to_numpy(std::move(top.open.begin));
  result["open_label"] = to_numpy(std::move(top.open.label));
  result["open_n_seen"] = to_numpy(std::move(top.open.n_seen));
  result["open_depth"] = to_numpy(std::move(top.open.depth));
  result["open_seed"] = to_numpy(std::move(top.open.seed));
  return result;
}

nb::tuple cluster_below(const BoundFeatures& vectors, const BoundExamples& examples,
                        const ClusteringOptions& options, Array<int32_t> labels, int64_t n_seen, int depth,
                        uint64_t seed, Progress& progress) {
  const OpenNode node{{labels.data(), static_cast<int64_t>(labels.size())}, n_seen, depth, seed};
  require_length(vectors.matrix.n_rows(), node.label.size, "vectors", "label");
  TreeArrays tree;
  {
    nb::gil_scoped_release release;
    tree = cluster_subtree(vectors.matrix, examples.view.labels, examples.view.n_labels, options, node,
                           progress);
  }
  return tree_arrays(std::move(tree));
}

nb::tuple join_trees(Array<int32_t> child_begin, Array<int32_t> label, Array<int32_t> open_node,
                     const Items<nb::tuple>& subtrees) {
  const auto span = [](const Array<int32_t>& array) {
    return Span<int32_t>{array.data(), static_cast<int64_t>(array.size())};
  };
  std::vector<Array<int32_t>> owners;
  std::vector<TreeSpans> parts;
  for (nb::handle item : subtrees) {
    nb::tuple pair;
    if (!nb::try_cast(item, pair) || pair.size() != 2) {
      throw nb::type_error("a subtree must be a tuple of child_begin and label");
    }
    owners.push_back(array_of<int32_t>(pair[0], "child_begin", "int32"));
    owners.push_back(array_of<int32_t>(pair[1], "label", "int32"));
    parts.push_back({span(owners[owners.size() - 2]), span(owners.back())});
  }
  TreeArrays tree;
  {
    nb::gil_scoped_release release;
    tree = join_subtrees({span(child_begin), span(label)}, span(open_node), parts);
  }
  return tree_arrays(std::move(tree));
}

template <class Vectors>
void def_clustering(nb::module_& m) {
  m.def("cluster_labels", &cluster_all<Vectors>, nb::arg("vectors"), nb::arg("examples"), nb::arg("options"),
        nb::arg("progress"),
        "Cluster the labels into a tree by vectors of unit length; returns child_begin and label.");
  m.def("cluster_top", &cluster_first<Vectors>, nb::arg("vectors"), nb::arg("examples"), nb::arg("options"),
        nb::arg("progress"), nb::arg("most_labels"),
        "The upper part of the tree of cluster_labels; nodes with at most most_labels labels are left open. "
        "Returns child_begin, label, and open_node, open_begin, open_label, open_n_seen, open_depth and "
        "open_seed: the arguments of cluster_subtree.");
}

}  // namespace

void bind_label_clustering(nb::module_& m) {
  const ClusteringOptions by_default;
  const KMeansOptions& kmeans = by_default.kmeans;
  nb::class_<ClusteringOptions>(m, "ClusteringOptions", "How labels are clustered into a tree.")
      .def(
          "__init__",
          [](ClusteringOptions* self, int arity, bool even_levels, int max_leaves, int max_depth,
             double frequent_share, bool balanced, int first_sample, int sample, int max_iter, float eps,
             uint64_t seed, int n_threads) {
            const KMeansOptions kmeans{balanced, first_sample, sample, max_iter, eps};
            new (self) ClusteringOptions{arity,          even_levels, max_leaves, max_depth,
                                         frequent_share, kmeans,      seed,       n_threads};
          },
          nb::kw_only(), nb::arg("arity") = by_default.arity, nb::arg("even_levels") = by_default.even_levels,
          nb::arg("max_leaves") = by_default.max_leaves, nb::arg("max_depth") = by_default.max_depth,
          nb::arg("frequent_share") = by_default.frequent_share, nb::arg("balanced") = kmeans.balanced,
          nb::arg("first_sample") = kmeans.first_sample, nb::arg("sample") = kmeans.sample,
          nb::arg("max_iter") = kmeans.max_iter, nb::arg("eps") = kmeans.eps,
          nb::arg("seed") = by_default.seed, nb::arg("n_threads") = by_default.n_threads);
  def_clustering<LabelVectors>(m);
  def_clustering<BoundFeatures>(m);
  m.def("cluster_subtree", &cluster_below, nb::arg("vectors"), nb::arg("examples"), nb::arg("options"),
        nb::arg("labels").noconvert(), nb::arg("n_seen"), nb::arg("depth"), nb::arg("seed"),
        nb::arg("progress"),
        "The tree below an open node of cluster_top, which is its root: child_begin and label. The vectors "
        "are those "
        "of its labels, in their order.");
  m.def("join_subtrees", &join_trees, nb::arg("child_begin").noconvert(), nb::arg("label").noconvert(),
        nb::arg("open_node").noconvert(), nb::arg("subtrees"),
        "The tree of cluster_labels, given the top and what cluster_subtree found for each open node: "
        "child_begin and label.");
}

}  // namespace labeltree
