#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <span>
#include <string>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "formats/xmlc_reader.h"
#include "formats/xmlc_writer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace labeltree {
namespace {

// Hands the items to NumPy without a copy.
template <class T>
auto hand_over(OwnedArray<T> array) {
  T* const items = array.items.release();
  const nb::capsule owner(items, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(items, {static_cast<size_t>(array.size)}, owner);
}

auto read(const Array<uint8_t>& text, HeaderRule header, int64_t first_feature, int64_t first_label,
          std::optional<int64_t> n_features, std::optional<int64_t> n_labels, bool comments, int n_threads,
          int64_t chunk_bytes) {
  LabelledRows rows;
  {
    const nb::gil_scoped_release release;
    const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
    rows = read_text_format(
        view, {header, first_feature, first_label, n_features, n_labels, comments, chunk_bytes}, n_threads);
  }
  return nb::make_tuple(rows.n_features, rows.n_labels, hand_over(std::move(rows.feature_indptr)),
                        hand_over(std::move(rows.feature_ids)), hand_over(std::move(rows.values)),
                        hand_over(std::move(rows.label_indptr)), hand_over(std::move(rows.label_ids)));
}

nb::bytes format(const Array<int64_t>& feature_indptr, const Array<int32_t>& feature_ids,
                 const Array<float>& values, const Array<int64_t>& label_indptr,
                 const Array<int32_t>& label_ids) {
  std::string text;
  {
    const nb::gil_scoped_release release;
    text = format_text_rows(as_span(feature_indptr), as_span(feature_ids), as_span(values),
                            as_span(label_indptr), as_span(label_ids));
  }
  return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_xmlc(nb::module_& m) {
  nb::enum_<HeaderRule>(m, "HeaderRule", "Whether the first line is a header.")
      .value("ABSENT", HeaderRule::kAbsent)
      .value("OPTIONAL", HeaderRule::kOptional)
      .value("REQUIRED", HeaderRule::kRequired);

  // Raised with two arguments: the line number and what is wrong with the line.
  PyObject* const error_type =
      PyErr_NewException("labeltree._native.TextFormatError", PyExc_ValueError, nullptr);
  if (error_type == nullptr) throw nb::python_error();
  m.attr("TextFormatError") = nb::handle(error_type);
  nb::register_exception_translator(
      [](const std::exception_ptr& failure, void* type) {
        try {
          std::rethrow_exception(failure);
        } catch (const TextFormatError& error) {
          PyErr_SetObject(static_cast<PyObject*>(type), nb::make_tuple(error.line, error.what()).ptr());
        }
      },
      error_type);

  m.def("read_text_format", &read, "text"_a.noconvert(), nb::kw_only(), "header"_a, "first_feature"_a,
        "first_label"_a, "n_features"_a.none(), "n_labels"_a.none(), "comments"_a, "n_threads"_a,
        "chunk_bytes"_a = 1 << 20,
        "Parse lines into n_features, n_labels, features (indptr, ids, values), labels (indptr, ids).");
  m.def("format_text_rows", &format, "feature_indptr"_a.noconvert(), "feature_ids"_a.noconvert(),
        "values"_a.noconvert(), "label_indptr"_a.noconvert(), "label_ids"_a.noconvert(),
        "Format rows of two CSR matrices as lines of text.");
}

}  // namespace labeltree
