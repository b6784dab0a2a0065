#include "bindings/model/label_columns.h"

#include <nanobind/stl/pair.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/model/blocks.h"
#include "bindings/model/stored_arrays.h"
#include "core/parallel_for.h"

namespace labeltree {

namespace {

BoundColumns make_columns(nb::dict arrays, int64_t n_features, std::pair<int64_t, int64_t> dense_features) {
  BoundColumns bound;
  const auto array = [&]<class T>(const char* name, T) {
    return stored_array<T>(arrays, name, bound.owners);
  };
  LabelColumnViews views;
  views.n_features = n_features;
  views.begin = array("begin", int64_t{});
  views.feature = array("feature", int32_t{});
  views.weight = stored_variant<float, uint16_t, int8_t>(arrays, "weight", bound.owners);
  views.bias = array("bias", float{});
  if (arrays.contains("scale")) views.scale = array("scale", float{});
  views.dense = {dense_features.first, dense_features.second};
  if (arrays.contains("dense")) views.dense_weight = array("dense", float{});
  bound.columns = std::make_shared<LabelColumns>(views);
  return bound;
}

// The pairs of a row are together: the row is spread out once.
void fill_scores(const BoundColumns& bound, const BoundFeatures& features, Array<int64_t> rows,
                 Array<int32_t> labels, int n_threads, OutArray<float> scores) {
  const LabelColumns& columns = *bound.columns;
  const FeatureMatrix& matrix = features.matrix;
  check_features(matrix, columns);
  require(rows.size() == labels.size() && rows.size() == scores.size(),
          "rows, labels and scores must be of one length");
  for (size_t i = 0; i < rows.size(); ++i) {
    require(rows.data()[i] >= 0 && rows.data()[i] < matrix.n_rows(), "a row is out of range");
    require(labels.data()[i] >= 0 && labels.data()[i] < columns.n_labels(), "a label is out of range");
  }
  const nb::gil_scoped_release release;
  std::vector<SpreadRow> spread(std::max(n_threads, 1));
  parallel_ranges(n_threads, static_cast<int64_t>(rows.size()), 4096,
                  [&](int64_t begin, int64_t end, int worker) {
                    for (int64_t i = begin; i < end; ++i) {
                      const int64_t row = rows.data()[i];
                      if (i == begin || row != rows.data()[i - 1]) spread[worker].set(matrix, row);
                      scores.data()[i] = columns.score(spread[worker], labels.data()[i]);
                    }
                  });
}

nb::tuple column_of(const BoundColumns& bound, int32_t label) {
  require(label >= 0 && label < bound.columns->n_labels(), "the label is out of range");
  std::vector<int32_t> features;
  std::vector<float> weights;
  bound.columns->visit_column(label, [&](int32_t feature, float weight) {
    features.push_back(feature);
    weights.push_back(weight);
  });
  return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(weights)));
}

}  // namespace

void bind_label_columns(nb::module_& m) {
  nb::class_<BoundColumns>(m, "LabelColumns", nb::type_slots(reference_slots<BoundColumns>),
                           "One linear classifier for each label. The arrays are not copied.")
      .def(
          "__init__",
          [](BoundColumns* self, nb::dict arrays, int64_t n_features,
             std::pair<int64_t, int64_t> dense_features) {
            new (self) BoundColumns(make_columns(arrays, n_features, dense_features));
          },
          nb::arg("arrays"), nb::arg("n_features"), nb::arg("dense_features"))
      .def("scores", &fill_scores, nb::arg("features"), nb::arg("rows").noconvert(),
           nb::arg("labels").noconvert(), nb::arg("n_threads"), nb::arg("scores").noconvert(),
           "Fill the scores of (row, label) pairs.")
      .def("column", &column_of, nb::arg("label"), "Return the features of a label and their weights.")
      .def(
          "verify", [](const BoundColumns& bound) { bound.columns->verify(); },
          nb::call_guard<nb::gil_scoped_release>(), "Check the inside of every column.");
}

}  // namespace labeltree
