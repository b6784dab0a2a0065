#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "model/block_store.h"

namespace labeltree {

namespace {

// Python strings from UTF-8: the i-th is text[begin[i] .. begin[i + 1]). A loop in Python takes four times as
// long, which is felt when a model of a million labels is opened.
nb::list decode_texts(Array<uint8_t> text, Array<int64_t> begin) {
  const int64_t* at = begin.data();
  const int64_t n = static_cast<int64_t>(begin.size()) - 1;
  if (n < 0 || at[0] != 0 || at[n] != static_cast<int64_t>(text.size())) {
    throw CorruptModel("the offsets of the texts do not span their bytes");
  }
  for (int64_t i = 0; i < n; ++i) {
    if (at[i] > at[i + 1]) throw CorruptModel("the offsets of the texts decrease at " + std::to_string(i));
  }
  nb::list texts = nb::steal<nb::list>(PyList_New(n));
  if (!texts.is_valid()) throw nb::python_error();
  for (int64_t i = 0; i < n; ++i) {
    const char* bytes = reinterpret_cast<const char*>(text.data()) + at[i];
    PyObject* item = PyUnicode_DecodeUTF8(bytes, at[i + 1] - at[i], nullptr);
    if (item == nullptr || PyList_SetItem(texts.ptr(), i, item) != 0) throw nb::python_error();
  }
  return texts;
}

}  // namespace

void bind_decoding(nb::module_& m) {
  m.def(
      "decode_texts", &decode_texts, nb::arg("text").noconvert(), nb::arg("begin").noconvert(),
      "The strings whose UTF-8 bytes are one after another in text, the i-th from begin[i] to begin[i + 1].");
}

}  // namespace labeltree
