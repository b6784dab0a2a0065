// Texts of Python, as the kernel looks at them.
#pragma once

#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "text/analyzer.h"

namespace labeltree {

// What the running Python knows of characters: asked only when a text is not ASCII, because it takes a
// moment.
struct Characters {
  nb::object table;        // a function that returns the CharacterTable
  nb::object small_sigma;  // a function that makes every capital sigma the small one it becomes, or None
};

// The name of a field of texts, and the weight of its terms.
struct TextField {
  nb::str name;
  float weight;
};

// Texts and what keeps them where they are while Python goes on.
class TextBatch {
 public:
  // Fields are a mapping of names to weights, or None.
  TextBatch(Characters characters, const nb::object& fields)
      : characters_(std::move(characters)),
        is_ascii_(nb::handle(reinterpret_cast<PyObject*>(&PyUnicode_Type)).attr("isascii")) {
    if (fields.is_none()) return;
    for (const auto& [name, weight] : nb::cast<nb::dict>(fields)) {
      fields_.push_back({nb::cast<nb::str>(name), nb::cast<float>(weight)});
    }
  }

  void clear() {
    n_counted_ += n_texts_;
    n_texts_ = 0;
    n_bytes_ = 0;
    views_.clear();
    owners_.clear();
  }

  // Adds a string, or a mapping of fields to strings or None.
  void add(const nb::object& text) {
    if (PyUnicode_Check(text.ptr())) {
      add_piece(text, 1);
    } else if (!fields_.empty() && PyMapping_Check(text.ptr()) && nb::hasattr(text, "keys")) {
      add_fields(text);
    } else {
      refuse(text, "", fields_.empty() ? "a string" : "a string or a mapping of fields to strings");
    }
    views_.back().ends_text = true;
    ++n_texts_;
  }

  const std::vector<TextView>& views() const { return views_; }
  const CharacterTable* table() const { return table_; }
  size_t n_texts() const { return n_texts_; }
  size_t n_bytes() const { return n_bytes_; }

 private:
  void add_fields(const nb::object& text) {
    nb::dict row;
    if (PyDict_Check(text.ptr())) {
      row = nb::borrow<nb::dict>(text);
    } else if (PyDict_Update(row.ptr(), text.ptr()) != 0) {
      throw nb::python_error();
    }
    const size_t before = views_.size();
    bool has_one = false;
    for (const TextField& field : fields_) {
      PyObject* const found = PyDict_GetItemWithError(row.ptr(), field.name.ptr());
      if (found == nullptr) {
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        continue;
      }
      has_one = true;
      if (found == Py_None) continue;
      const nb::object piece = nb::borrow(found);
      if (!PyUnicode_Check(found)) refuse(piece, ", field " + quoted(field), "a string or None");
      add_piece(piece, field.weight);
      views_.back().ends_text = false;
    }
    if (!has_one) {
      std::string names;
      for (const TextField& field : fields_) names += (names.empty() ? "" : ", ") + quoted(field);
      throw nb::value_error(
          (place() + ": expected at least one of the fields " + names + ", got none").c_str());
    }
    if (views_.size() == before) views_.push_back({});  // all fields are None
  }

  void add_piece(nb::object text, float weight) {
    const bool ascii = nb::cast<bool>(is_ascii_(text));
    Py_ssize_t size = 0;
    const char* bytes = nullptr;
    if (ascii) {
      bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);  // its own bytes
      if (bytes == nullptr) throw nb::python_error();
    } else {
      if (!table_) table_ = nb::cast<const CharacterTable*>(table_owner_ = characters_.table());
      if (!characters_.small_sigma.is_none()) text = characters_.small_sigma(text);
      // Bytes of our own: asked for its UTF-8, a string would keep it for as long as it lives.
      text = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
      char* encoded = nullptr;
      if (!text.is_valid() || PyBytes_AsStringAndSize(text.ptr(), &encoded, &size) != 0) {
        throw nb::python_error();
      }
      bytes = encoded;
    }
    views_.push_back({{bytes, static_cast<size_t>(size)}, ascii, true, weight});
    owners_.push_back(std::move(text));
    n_bytes_ += static_cast<size_t>(size);
  }

  std::string place() const { return "text " + std::to_string(n_counted_ + n_texts_); }
  static std::string quoted(const TextField& field) { return "'" + nb::cast<std::string>(field.name) + "'"; }

  [[noreturn]] void refuse(const nb::object& found, const std::string& field, const char* expected) const {
    const nb::str type(found.type().attr("__name__"));
    std::string message = place() + field + ": expected " + expected + ", got " + type.c_str();
    if (fields_.empty() && PyDict_Check(found.ptr())) {
      message +=
          ": only a vectorizer with fields, such as fields={'title': 2, 'abstract': 1}, takes mappings";
    }
    throw nb::value_error(message.c_str());
  }

  Characters characters_;
  nb::object is_ascii_, table_owner_;
  const CharacterTable* table_ = nullptr;
  std::vector<TextField> fields_;
  std::vector<TextView> views_;
  std::vector<nb::object> owners_;
  size_t n_texts_ = 0;    // in this batch
  size_t n_counted_ = 0;  // before it
  size_t n_bytes_ = 0;
};

}  // namespace labeltree
