#include "rivals/one_vs_rest/one_vs_rest.h"

#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/core/items.h"
#include "bindings/model/blocks.h"
#include "core/feature_fingerprint.h"
#include "rivals/one_vs_rest/column_merge.h"

namespace labeltree {

namespace {

std::vector<int64_t> report_numbers(const TrainingReport& report) {
  return {report.n_columns, report.n_unconverged, report.n_row_visits, report.n_pruned, report.n_passes};
}

// By the names that checkpoints use. A chunk is one block, so where blocks begin goes without saying.
nb::dict chunk_arrays(ColumnChunk&& chunk) {
  nb::dict result;
  result["feature"] = to_numpy(std::move(chunk.arrays.feature));
  result["entry_begin"] = to_numpy(std::move(chunk.arrays.entry_begin));
  result["column"] = to_numpy(std::move(chunk.arrays.column));
  result["weight"] = to_numpy(std::move(chunk.arrays.weight));
  result["bias"] = to_numpy(std::move(chunk.arrays.bias));
  result["dense_weight"] = to_numpy(std::move(chunk.arrays.dense_weight));
  result["report"] = to_numpy(report_numbers(chunk.report));
  return result;
}

// A ColumnPlan and its arrays.
struct BoundPlan {
  ColumnPlan plan;
  nb::object label, group_begin, chunks;

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(label);
    visit(group_begin);
    visit(chunks);
  }
};

void make_plan(BoundPlan* self, nb::object label, nb::object group_begin, int64_t chunk_groups,
               nb::object chunks) {
  const auto labels = array_of<int32_t>(label, "label", "int32");
  const auto begin = array_of<int64_t>(group_begin, "group_begin", "int64");
  const auto numbers = array_of<int64_t>(chunks, "chunks", "int64");
  require(begin.size() > 0 && chunk_groups > 0, "there must be groups, and chunks of them");
  const ColumnPlan plan{labels.data(), begin.data(),   static_cast<int64_t>(begin.size()) - 1,
                        chunk_groups,  numbers.data(), static_cast<int64_t>(numbers.size())};
  require(plan.group_begin[0] == 0 && plan.group_begin[plan.n_groups] == static_cast<int64_t>(labels.size()),
          "group_begin must span the labels");
  for (int64_t g = 0; g < plan.n_groups; ++g) {
    const int64_t n = plan.group_begin[g + 1] - plan.group_begin[g];
    require(n >= 0 && n <= kMaxLanes, "a group has at most as many labels as there are lanes");
  }
  const int64_t n_chunks = (plan.n_groups + chunk_groups - 1) / chunk_groups;
  for (int64_t i = 0; i < plan.n_chunks; ++i) {
    require(plan.chunks[i] >= 0 && plan.chunks[i] < n_chunks, "a chunk is out of range");
  }
  new (self) BoundPlan{plan, label, group_begin, chunks};
}

// Negatives and their arrays.
struct BoundNegatives {
  Negatives negatives;
  size_t n_indices;
  nb::object label_indptr, label_indices;

  template <class Visit>
  void visit_references(const Visit& visit) {
    visit(label_indptr);
    visit(label_indices);
  }
};

void make_negatives(BoundNegatives* self, nb::object label_indptr, nb::object label_indices,
                    int64_t n_random) {
  const auto indptr = array_of<int64_t>(label_indptr, "label_indptr", "int64");
  const auto indices = array_of<int32_t>(label_indices, "label_indices", "int32");
  require(indptr.size() > 0, "label_indptr must have an entry");
  const LabelMatrixView labels = label_view(indptr, indices, static_cast<int64_t>(indptr.size()) - 1);
  new (self) BoundNegatives{{labels, n_random}, indices.size(), label_indptr, label_indices};
}

void bound_train_columns(const BoundExamples& examples, const BoundPlan& plan,
                         const BoundNegatives* negatives, const SolverOptions& options, nb::callable finished,
                         Progress& progress) {
  const int32_t n_labels = examples.view.n_labels;
  for (int64_t i = 0; i < plan.plan.group_begin[plan.plan.n_groups]; ++i) {
    require(plan.plan.label[i] >= 0 && plan.plan.label[i] < n_labels, "a label is out of range");
  }
  if (negatives != nullptr) {
    require(negatives->negatives.labels.n_rows == examples.view.n_rows(),
            "X and the negatives must have the same number of rows");
    check_labels(negatives->negatives.labels, negatives->n_indices, n_labels);
  }
  const ChunkSink hand_over = [&](int64_t chunk, ColumnChunk&& trained) {
    const nb::gil_scoped_acquire acquire;
    finished(chunk, chunk_arrays(std::move(trained)));
  };
  const nb::gil_scoped_release release;
  train_columns(examples.view, plan.plan, negatives != nullptr ? &negatives->negatives : nullptr, options,
                hand_over, progress);
}

template <class T>
Span<T> span(nb::handle chunk, const char* name) {
  const auto array = nb::cast<Array<T>>(chunk[name], false);  // the dictionary keeps it alive
  return {array.data(), static_cast<int64_t>(array.size())};
}

template <class Column>
nb::dict merge_into(const std::vector<ColumnChunkView>& chunks, const std::vector<int32_t>& always,
                    int32_t n_labels, int64_t n_features, int64_t n_dense) {
  BlockArrays arrays;
  std::vector<Column> column;
  {
    const nb::gil_scoped_release release;
    arrays = merge_columns(chunks, always, n_labels, n_features, n_dense, column);
  }
  nb::dict result = to_numpy(std::move(arrays), n_dense > 0);
  result["column"] = to_numpy(std::move(column));
  return result;
}

nb::dict merge(const Items<nb::dict>& chunks, const Items<int32_t>& labels_always, int32_t n_labels,
               int64_t n_features, int64_t n_dense) {
  const std::vector<int32_t> always = to_vector<int32_t>(labels_always);
  require(n_labels >= 0 && n_features >= 0 && n_dense >= 0,
          "n_labels, n_features and n_dense must not be negative");
  for (const int32_t label : always) require(label >= 0 && label < n_labels, "a label is out of range");
  std::vector<ColumnChunkView> views;
  const std::vector<nb::dict> dictionaries = to_vector<nb::dict>(chunks);
  for (const nb::dict& chunk : dictionaries) {
    views.push_back({span<int32_t>(chunk, "label"), span<int32_t>(chunk, "feature"),
                     span<uint32_t>(chunk, "entry_begin"), span<uint32_t>(chunk, "column"),
                     span<float>(chunk, "weight"), span<float>(chunk, "bias"),
                     span<float>(chunk, "dense_weight")});
  }
  if (n_labels <= 1 << 8) return merge_into<uint8_t>(views, always, n_labels, n_features, n_dense);
  if (n_labels <= 1 << 16) return merge_into<uint16_t>(views, always, n_labels, n_features, n_dense);
  return merge_into<uint32_t>(views, always, n_labels, n_features, n_dense);
}

}  // namespace

void bind_one_vs_rest(nb::module_& m) {
  nb::class_<BoundPlan>(m, "ColumnPlan", nb::type_slots(reference_slots<BoundPlan>),
                        "Which labels are learned, in which groups and chunks, and which chunks.")
      .def("__init__", &make_plan, nb::arg("label"), nb::arg("group_begin"), nb::arg("chunk_groups"),
           nb::arg("chunks"),
           nb::sig("def __init__(self, label: NDArray[numpy.int32], group_begin: NDArray[numpy.int64], "
                   "chunk_groups: int, chunks: NDArray[numpy.int64]) -> None"));
  nb::class_<BoundNegatives>(m, "Negatives", nb::type_slots(reference_slots<BoundNegatives>),
                             "Rows that labels learn from besides their own: proposed and random ones.")
      .def("__init__", &make_negatives, nb::arg("label_indptr"), nb::arg("label_indices"),
           nb::arg("n_random"),
           nb::sig("def __init__(self, label_indptr: NDArray[numpy.int64], label_indices: "
                   "NDArray[numpy.int32], n_random: int) -> None"));
  m.def("train_columns", &bound_train_columns, nb::arg("examples"), nb::arg("plan"),
        nb::arg("negatives").none(), nb::arg("options"), nb::arg("finished"), nb::arg("progress"),
        "Train the columns of labels against all rows, or some; finished(number, arrays) is called for every "
        "chunk.");
  m.def("merge_columns", &merge, nb::arg("chunks"), nb::arg("always"), nb::arg("n_labels"),
        nb::arg("n_features"), nb::arg("n_dense"),
        "The arrays of the flat tree whose columns were trained in chunks.");
  m.def(
      "fingerprint",
      [](const BoundFeatures& features, const Progress& progress) {
        const nb::gil_scoped_release release;
        return fingerprint(features.matrix, progress);
      },
      nb::arg("features"), nb::arg("progress"), "A number that tells matrices apart.");
}

}  // namespace labeltree
