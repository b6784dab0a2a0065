#include "rivals/one_vs_rest/one_vs_rest.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
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

void check_plan(const Array<int32_t>& label, const Array<int64_t>& group_begin, int64_t chunk_groups,
                const Array<int64_t>& chunks, int32_t n_labels) {
  const int64_t* begin = group_begin.data();
  const int64_t n_groups = static_cast<int64_t>(group_begin.size()) - 1;
  require(begin[0] == 0 && begin[n_groups] == static_cast<int64_t>(label.size()),
          "group_begin must span the labels");
  for (int64_t g = 0; g < n_groups; ++g) {
    require(begin[g] <= begin[g + 1] && begin[g + 1] - begin[g] <= kMaxLanes,
            "a group has at most as many labels as there are lanes");
  }
  for (size_t i = 0; i < label.size(); ++i) {
    require(label.data()[i] >= 0 && label.data()[i] < n_labels, "a label is out of range");
  }
  const int64_t n_chunks = (n_groups + chunk_groups - 1) / chunk_groups;
  for (size_t i = 0; i < chunks.size(); ++i) {
    require(chunks.data()[i] >= 0 && chunks.data()[i] < n_chunks, "a chunk is out of range");
  }
}

void train(const BoundFeatures& features, Array<int64_t> label_indptr, Array<int32_t> label_indices,
           int32_t n_labels, std::optional<Array<float>> sample_weight,
           std::optional<Array<int64_t>> negative_indptr, std::optional<Array<int32_t>> negative_indices,
           int64_t n_random, Array<int32_t> label, Array<int64_t> group_begin, int64_t chunk_groups,
           Array<int64_t> chunks, const SolverOptions& options, nb::callable finished, Progress& progress) {
  const LabelMatrixView labels = label_view(label_indptr, label_indices, features.matrix.n_rows());
  const float* weight = optional_weights(sample_weight, labels.n_rows);
  check_labels(labels, label_indices.size(), n_labels);
  require(group_begin.size() > 0 && chunk_groups > 0, "there must be groups, and chunks of them");
  check_plan(label, group_begin, chunk_groups, chunks, n_labels);
  std::optional<Negatives> negatives;
  if (negative_indptr) {
    require(negative_indices.has_value(), "negatives have both indptr and indices");
    negatives = {label_view(*negative_indptr, *negative_indices, labels.n_rows), n_random};
    check_labels(negatives->labels, negative_indices->size(), n_labels);
  }
  const ColumnPlan plan{label.data(), group_begin.data(), static_cast<int64_t>(group_begin.size()) - 1,
                        chunk_groups, chunks.data(),      static_cast<int64_t>(chunks.size())};
  const ChunkSink hand_over = [&](int64_t chunk, ColumnChunk&& trained) {
    const nb::gil_scoped_acquire acquire;
    finished(chunk, chunk_arrays(std::move(trained)));
  };
  const nb::gil_scoped_release release;
  train_columns(features.matrix, labels, n_labels, weight, negatives ? &*negatives : nullptr, plan, options,
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
  AlignedVector dense_weight = std::move(arrays.dense_weight);
  nb::dict result = to_numpy(std::move(arrays));
  result["column"] = to_numpy(std::move(column));
  if (n_dense > 0) result["dense_weight"] = to_numpy(std::move(dense_weight));
  return result;
}

nb::dict merge(const std::vector<nb::dict>& chunks, const std::vector<int32_t>& always, int32_t n_labels,
               int64_t n_features, int64_t n_dense) {
  for (const int32_t label : always) require(label >= 0 && label < n_labels, "a label is out of range");
  std::vector<ColumnChunkView> views;
  for (const nb::dict& chunk : chunks) {
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
  m.def("train_columns", &train, nb::arg("features"), nb::arg("label_indptr").noconvert(),
        nb::arg("label_indices").noconvert(), nb::arg("n_labels"),
        nb::arg("sample_weight").noconvert().none(), nb::arg("negative_indptr").noconvert().none(),
        nb::arg("negative_indices").noconvert().none(), nb::arg("n_random"), nb::arg("label").noconvert(),
        nb::arg("group_begin").noconvert(), nb::arg("chunk_groups"), nb::arg("chunks").noconvert(),
        nb::arg("options"), nb::arg("finished"), nb::arg("progress"),
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
