#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/core/arrays.h"
#include "bindings/core/csr_check.h"
#include "bindings/core/items.h"
#include "bindings/core/views.h"
#include "bindings/text/text_batch.h"
#include "text/counter.h"
#include "text/spans.h"
#include "text/unknown_words.h"

namespace labeltree {

namespace {

// UTF-8 bytes of terms one after another, and where each begins.
using TermArrays = std::pair<Array<uint8_t>, Array<int64_t>>;

std::string_view as_text(const Array<uint8_t>& array) {
  return {reinterpret_cast<const char*>(array.data()), array.size()};
}

// A vocabulary and the arrays it looks into.
std::shared_ptr<const Vocabulary> vocabulary_of(const std::optional<TermArrays>& terms) {
  if (!terms) return nullptr;
  struct Owner {
    TermArrays arrays;
    Vocabulary vocabulary;
  };
  const auto owner =
      std::make_shared<const Owner>(Owner{*terms, Vocabulary(as_text(terms->first), as_span(terms->second))});
  return {owner, &owner->vocabulary};
}

// What words become, and the function of Python that tells it: from a list of words to a list of strings.
struct LearnedWords {
  nb::object function;
  WordMap map;
};

std::string utf8_of(nb::handle text) {
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (!bytes.is_valid() || PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw nb::python_error();
  return {data, static_cast<size_t>(size)};
}

// Asks Python for the words of texts that are not known yet. Each word is asked for once.
void learn_words(LearnedWords& learned, const TextAnalyzer& analyzer, const TextBatch& batch, int n_threads) {
  TermCounts unknown;
  {
    const nb::gil_scoped_release release;
    const std::shared_lock lock(learned.map.mutex());
    unknown = unknown_words(analyzer, batch.views(), batch.table(), learned.map, n_threads);
  }
  if (unknown.size() == 0) return;
  nb::list words;
  for (uint32_t i = 0; i < unknown.size(); ++i) {
    const std::string_view word = unknown.term(i);
    nb::object text =
        nb::steal(PyUnicode_DecodeUTF8(word.data(), static_cast<Py_ssize_t>(word.size()), "surrogatepass"));
    if (!text.is_valid()) throw nb::python_error();
    words.append(std::move(text));
  }
  std::vector<std::string> become;
  for (nb::handle one : learned.function(words)) become.push_back(utf8_of(one));
  require(become.size() == unknown.size(), "expected what every word becomes");
  const nb::gil_scoped_release release;
  const std::unique_lock lock(learned.map.mutex());
  for (uint32_t i = 0; i < unknown.size(); ++i) learned.map.insert(unknown.term(i), become[i]);
}

// So much is taken from a stream of texts at a time.
constexpr size_t kBatchBytes = size_t{1} << 23;
constexpr size_t kBatchTexts = size_t{1} << 16;

void add_texts(TextCounter& counter, const nb::object& texts, const nb::object& character_table,
               const nb::object& small_sigma, const nb::object& fields, LearnedWords* words) {
  TextBatch batch({character_table, small_sigma}, fields);
  const auto count = [&] {
    if (words != nullptr) {
      learn_words(*words, counter.first_analyzer(), batch, counter.n_threads());
      const nb::gil_scoped_release release;
      const std::shared_lock lock(words->map.mutex());
      counter.add(batch.views(), batch.table(), &words->map);
    } else {
      const nb::gil_scoped_release release;
      counter.add(batch.views(), batch.table());
    }
  };
  for (nb::handle text : texts) {
    batch.add(nb::borrow(text));
    if (batch.n_bytes() >= kBatchBytes || batch.n_texts() >= kBatchTexts) {
      count();
      batch.clear();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
  }
  count();
}

auto weighted_rows(TextCounter& counter, bool sublinear_tf, RowNorm norm,
                   const std::optional<Array<double>>& idf) {
  WeightedRows rows;
  {
    const nb::gil_scoped_release release;
    rows = counter.rows({sublinear_tf, norm, idf ? idf->data() : nullptr});
  }
  const auto n = static_cast<size_t>(rows.indptr.back());
  int32_t* const indices = rows.indices.release();
  const nb::capsule own_indices(indices, [](void* p) noexcept { delete[] static_cast<int32_t*>(p); });
  float* const data = rows.data.release();
  const nb::capsule own_data(data, [](void* p) noexcept { delete[] static_cast<float*>(p); });
  return nb::make_tuple(to_numpy(std::move(rows.indptr)),
                        nb::ndarray<nb::numpy, int32_t, nb::ndim<1>>(indices, {n}, own_indices),
                        nb::ndarray<nb::numpy, float, nb::ndim<1>>(data, {n}, own_data));
}

// Turns texts into features by terms that are known or hashed.
struct TextReader {
  std::vector<TextPart> parts;
  bool binary;
  TermWeights weights;
  std::optional<Array<double>> idf;
  int64_t n_columns;
};

void make_reader(TextReader* self, const Items<TextPart>& parts, bool binary, bool sublinear_tf, RowNorm norm,
                 const std::optional<Array<double>>& idf, int64_t n_columns) {
  TextReader reader{{}, binary, {sublinear_tf, norm, idf ? idf->data() : nullptr}, idf, n_columns};
  for (const TextPart* part : to_vector<TextPart, const TextPart*>(parts)) {
    require(!part->learns(), "expected terms that are known or hashed");
    reader.parts.push_back(*part);
  }
  require(n_columns >= 0 && n_columns < INT32_MAX, "expected fewer than 2,147,483,647 columns");
  if (idf) require_length(idf->size(), n_columns, "idf", "column");
  new (self) TextReader(std::move(reader));
}

BoundFeatures read_features(const TextReader& reader, const nb::object& texts,
                            const nb::object& character_table, const nb::object& small_sigma,
                            const nb::object& fields, LearnedWords* words, bool normalize,
                            const std::pair<int64_t, int64_t>& dense_features, int n_threads) {
  const FeatureRange dense = checked_range(dense_features, reader.n_columns);
  TextCounter counter(reader.parts, reader.binary, true, false, n_threads);
  add_texts(counter, texts, character_table, small_sigma, fields, words);
  auto rows = std::make_shared<WeightedRows>();
  const nb::gil_scoped_release release;
  *rows = counter.rows(reader.weights);
  const auto n_rows = static_cast<int64_t>(rows->indptr.size()) - 1;
  check_csr(rows->indptr.data(), n_rows, rows->indices.get(), rows->indptr.back(), rows->data.get(),
            reader.n_columns);
  return {FeatureMatrix::csr(n_rows, reader.n_columns, rows->indptr.data(), rows->indices.get(),
                             rows->data.get(), normalize, dense),
          {},
          true,
          rows};
}

// Feature, begin and end of every known term of a text, by where they are.
std::vector<TextSpan> text_spans(const Items<TextPart>& parts, const nb::object& text,
                                 const nb::object& character_table, const nb::object& small_sigma,
                                 LearnedWords* words) {
  TextBatch batch({character_table, small_sigma}, nb::none());
  batch.add(text);
  const std::vector<const TextPart*> pointers = to_vector<TextPart, const TextPart*>(parts);
  std::vector<TextSpan> spans;
  if (words != nullptr) {
    learn_words(*words, pointers[0]->analyzers[0], batch, 1);
    const nb::gil_scoped_release release;
    const std::shared_lock lock(words->map.mutex());
    spans = find_spans(pointers, batch.views()[0], batch.table(), &words->map);
  } else {
    const nb::gil_scoped_release release;
    spans = find_spans(pointers, batch.views()[0], batch.table());
  }
  return spans;
}

}  // namespace

void bind_vectorizer(nb::module_& m) {
  nb::class_<CharacterTable>(m, "CharacterTable", "What characters are, and what they become in terms.")
      .def(
          "__init__",
          [](CharacterTable* self, Array<int32_t> word_ranges, Array<int32_t> space_ranges,
             Array<int32_t> changed, Array<uint8_t> text, Array<int64_t> begin) {
            new (self) CharacterTable(as_span(word_ranges), as_span(space_ranges), as_span(changed),
                                      as_text(text), as_span(begin));
          },
          nb::arg("word_ranges").noconvert(), nb::arg("space_ranges").noconvert(),
          nb::arg("changed").noconvert(), nb::arg("text").noconvert(), nb::arg("begin").noconvert());

  nb::enum_<AnalyzerKind>(m, "AnalyzerKind", "What terms are made of.")
      .value("WORD", AnalyzerKind::kWord)
      .value("WHITESPACE", AnalyzerKind::kWhitespace)
      .value("CHAR", AnalyzerKind::kChar)
      .value("CHAR_WB", AnalyzerKind::kCharWb)
      .value("TOKENS", AnalyzerKind::kTokens);
  nb::enum_<RowNorm>(m, "RowNorm", "What the values of a row are divided by.")
      .value("NONE", RowNorm::kNone)
      .value("L1", RowNorm::kL1)
      .value("L2", RowNorm::kL2);

  nb::class_<TextAnalyzer>(m, "TextAnalyzer", "Splits texts into terms.")
      .def(
          "__init__",
          [](TextAnalyzer* self, AnalyzerKind kind, int32_t min_n, int32_t max_n, bool lowercase,
             const std::optional<TermArrays>& stop_words, bool maps_words) {
            require(1 <= min_n && min_n <= max_n, "n-grams must be of one or more");
            new (self) TextAnalyzer(
                AnalyzerSettings{kind, min_n, max_n, lowercase, vocabulary_of(stop_words), maps_words});
          },
          nb::arg("kind"), nb::arg("min_n"), nb::arg("max_n"), nb::arg("lowercase"),
          nb::arg("stop_words").none(), nb::arg("maps_words"));

  nb::class_<TextPart>(m, "TextPart", "Columns that share their analyzers: known, hashed or to be learned.")
      .def(
          "__init__",
          [](TextPart* self, const Items<TextAnalyzer>& analyzers,
             const std::optional<TermArrays>& vocabulary, uint32_t n_hashed, bool alternate_sign,
             uint32_t first_column) {
            std::vector<TextAnalyzer> copies;
            for (const TextAnalyzer* one : to_vector<TextAnalyzer, const TextAnalyzer*>(analyzers)) {
              copies.push_back(*one);
            }
            require(!copies.empty(), "expected at least one analyzer");
            new (self) TextPart{std::move(copies), vocabulary_of(vocabulary), n_hashed, alternate_sign,
                                first_column};
          },
          nb::arg("analyzers"), nb::arg("vocabulary").none(), nb::arg("n_hashed"), nb::arg("alternate_sign"),
          nb::arg("first_column"));

  nb::class_<LearnedWords>(m, "LearnedWords",
                           "What words become, as a function tells it: once for every word.")
      .def(
          "__init__",
          [](LearnedWords* self, nb::object function) { new (self) LearnedWords{std::move(function), {}}; },
          nb::arg("function"))
      .def("__len__", [](const LearnedWords& self) {
        const nb::gil_scoped_release release;
        const std::shared_lock lock(self.map.mutex());
        return self.map.size();
      });

  nb::class_<TextCounter>(m, "TextCounter", "Counts the terms of texts.")
      .def(
          "__init__",
          [](TextCounter* self, const Items<TextPart>& parts, bool binary, bool keep_rows, bool count_texts,
             int n_threads) {
            std::vector<TextPart> copies;
            for (const TextPart* part : to_vector<TextPart, const TextPart*>(parts)) copies.push_back(*part);
            new (self) TextCounter(std::move(copies), binary, keep_rows, count_texts, n_threads);
          },
          nb::arg("parts"), nb::arg("binary"), nb::arg("keep_rows"), nb::arg("count_texts"),
          nb::arg("n_threads"))
      .def("add", &add_texts, nb::arg("texts"), nb::arg("character_table"), nb::arg("small_sigma").none(),
           nb::arg("fields").none(), nb::arg("words").none(),
           "Count the terms of texts, from any iterable. With fields, texts may be mappings of these.")
      .def_prop_ro("n_texts", &TextCounter::n_texts)
      .def(
          "hashed_texts", [](const TextCounter& c) { return to_numpy(c.hashed_texts()); },
          "How many texts have each hashed column.")
      .def(
          "finish",
          [](TextCounter& c, size_t part, int64_t fewest_texts, int64_t most_texts) {
            TextCounter::Terms terms;
            {
              const nb::gil_scoped_release release;
              terms = c.finish(part, fewest_texts, most_texts);
            }
            return nb::make_tuple(to_numpy(std::move(terms.n_texts)), to_numpy(std::move(terms.n_times)));
          },
          nb::arg("part"), nb::arg("fewest_texts"), nb::arg("most_texts"),
          "Return the numbers of texts and of occurrences of the terms that fewest_texts to most_texts texts "
          "have, in the order of the terms.")
      .def(
          "select", [](TextCounter& c, size_t part, Array<uint8_t> keep) { c.select(part, as_span(keep)); },
          nb::arg("part"), nb::arg("keep").noconvert(), "Keep only some of the terms.")
      .def(
          "terms",
          [](const TextCounter& c, size_t part) {
            auto [text, begin] = c.terms(part);
            return nb::make_tuple(to_numpy(std::move(text)), to_numpy(std::move(begin)));
          },
          nb::arg("part"), "The bytes of the terms, and where each begins.")
      .def("rows", &weighted_rows, nb::arg("sublinear_tf"), nb::arg("norm"),
           nb::arg("idf").noconvert().none(), "indptr, indices and data of the texts' rows.");

  nb::class_<TextReader>(m, "TextReader", "Turns texts into features by terms that are known or hashed.")
      .def("__init__", &make_reader, nb::arg("parts"), nb::arg("binary"), nb::arg("sublinear_tf"),
           nb::arg("norm"), nb::arg("idf").noconvert().none(), nb::arg("n_columns"))
      .def("read", &read_features, nb::arg("texts"), nb::arg("character_table"),
           nb::arg("small_sigma").none(), nb::arg("fields").none(), nb::arg("words").none(),
           nb::arg("normalize"), nb::arg("dense_features"), nb::arg("n_threads"),
           "The features of texts, from any iterable. With fields, texts may be mappings of these.");

  m.def("text_spans", &text_spans, nb::arg("parts"), nb::arg("text"), nb::arg("character_table"),
        nb::arg("small_sigma").none(), nb::arg("words").none(),
        "Column, begin and end of every known term of a text.");
}

}  // namespace labeltree
