// Splits texts into terms: words, sequences of words, or sequences of characters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/characters.h"
#include "text/vocabulary.h"
#include "text/word_map.h"

namespace labeltree {

// A text in UTF-8, or a piece of one, looked at where it lies.
struct TextView {
  std::string_view bytes;
  bool ascii = true;
  bool ends_text = true;  // whether it is the last piece of its text
  float weight = 1;       // by which the counts of its terms are multiplied
};

enum class AnalyzerKind {
  kWord,        // sequences of words of two letters, digits or underscores, or more
  kWhitespace,  // sequences of words of any characters but white space
  kChar,        // sequences of characters
  kCharWb,      // sequences of characters within words, which have a space before and after
  kTokens,      // sequences of words that are there already, separated by kTokenEnd
};

inline constexpr char kTokenEnd = '\0';

struct AnalyzerSettings {
  AnalyzerKind kind = AnalyzerKind::kWord;
  int32_t min_n = 1;  // the minimum number of words or characters of a term
  int32_t max_n = 1;  // the maximum
  bool lowercase = true;
  std::shared_ptr<const Vocabulary> stop_words;  // left out before words are joined; may be null
  bool maps_words = false;                       // whether a WordMap tells what words become

  bool has_words() const { return kind != AnalyzerKind::kChar && kind != AnalyzerKind::kCharWb; }
};

// A text on its way to terms. Where it is tracked, every byte knows which characters of the original it
// stands for; a byte that was put in stands for none.
struct WorkingText {
  std::string bytes;
  std::vector<uint32_t> origin_begin, origin_end;  // as long as bytes where tracked, else empty

  void clear() {
    bytes.clear();
    origin_begin.clear();
    origin_end.clear();
  }
  void append(std::string_view added, uint32_t begin, uint32_t end) {
    bytes += added;
    origin_begin.resize(bytes.size(), begin);
    origin_end.resize(bytes.size(), end);
  }
  // A part of another text, which is tracked if this one is.
  void append(const WorkingText& other, size_t begin, size_t end, bool tracked) {
    bytes.append(other.bytes, begin, end - begin);
    if (!tracked) return;
    origin_begin.insert(origin_begin.end(), other.origin_begin.begin() + begin,
                        other.origin_begin.begin() + end);
    origin_end.insert(origin_end.end(), other.origin_end.begin() + begin, other.origin_end.begin() + end);
  }
  void append_space(bool tracked) {
    bytes += ' ';
    if (!tracked) return;
    origin_begin.push_back(0);
    origin_end.push_back(0);
  }
};

// What a thread needs to analyze one text after the other.
struct AnalyzerScratch {
  struct Range {
    uint32_t begin, end;
  };
  WorkingText normal;            // after lower case and accents
  WorkingText joined;            // with the spaces that terms have; unused where terms are parts of `normal`
  std::vector<Range> words;      // in bytes
  std::vector<uint32_t> starts;  // of characters, in bytes, and the end; empty for ASCII
  bool tracked = false;          // whether the origin of terms will be asked for
  const WordMap* word_map = nullptr;  // needed by analyzers that map words; its mutex is held

  const WorkingText* source = nullptr;  // what the terms are parts of
};

class TextAnalyzer {
 public:
  explicit TextAnalyzer(AnalyzerSettings settings) : settings_(std::move(settings)) {}

  const AnalyzerSettings& settings() const { return settings_; }

  // Calls visit(word) for every word of a text that is not a stop word, before it is mapped.
  template <class Visit>
  void visit_plain_words(const TextView& text, const CharacterTable* characters, AnalyzerScratch& scratch,
                         const Visit& visit) const {
    normalize(text, characters, scratch);
    find_words(characters, scratch);
    const std::string_view bytes = scratch.source->bytes;
    for (const auto& [begin, end] : scratch.words) visit(bytes.substr(begin, end - begin));
  }

  // Calls visit(term) for every term, as often as it occurs. `characters` may be null for ASCII. A term is
  // valid during the call only.
  template <class Visit>
  void visit_terms(const TextView& text, const CharacterTable* characters, AnalyzerScratch& scratch,
                   const Visit& visit) const {
    normalize(text, characters, scratch);
    if (settings_.has_words()) {
      visit_words(characters, scratch, visit);
      return;
    }
    if (settings_.kind == AnalyzerKind::kChar) {
      merge_spaces(characters, scratch);
    } else {
      pad_words(characters, scratch);
    }
    const std::string& bytes = scratch.joined.bytes;
    if (text.ascii) {
      visit_characters(scratch, bytes.size(), [](size_t i) { return i; }, visit);
    } else {
      find_starts(bytes, scratch.starts);
      visit_characters(
          scratch, scratch.starts.size() - 1, [&](size_t i) { return size_t{scratch.starts[i]}; }, visit);
    }
  }

 private:
  void normalize(const TextView& text, const CharacterTable* characters, AnalyzerScratch& scratch) const;
  void find_words(const CharacterTable* characters, AnalyzerScratch& scratch) const;
  static void join_words(AnalyzerScratch& scratch);
  static void map_words(AnalyzerScratch& scratch);
  static void merge_spaces(const CharacterTable* characters, AnalyzerScratch& scratch);
  static void pad_words(const CharacterTable* characters, AnalyzerScratch& scratch);
  static void find_starts(const std::string& bytes, std::vector<uint32_t>& starts);

  template <class Visit>
  void visit_words(const CharacterTable* characters, AnalyzerScratch& scratch, const Visit& visit) const {
    find_words(characters, scratch);
    if (settings_.maps_words) {
      map_words(scratch);
    } else if (settings_.max_n > 1) {
      join_words(scratch);
    }
    const std::string_view bytes = scratch.source->bytes;
    const std::vector<AnalyzerScratch::Range>& words = scratch.words;
    const size_t longest = std::min(static_cast<size_t>(settings_.max_n), words.size());
    for (size_t n = settings_.min_n; n <= longest; ++n) {
      for (size_t i = 0; i + n <= words.size(); ++i) {
        visit(bytes.substr(words[i].begin, words[i + n - 1].end - words[i].begin));
      }
    }
  }

  // The i-th character begins at start(i); characters are `n_characters`.
  template <class Start, class Visit>
  void visit_characters(AnalyzerScratch& scratch, size_t n_characters, const Start& start,
                        const Visit& visit) const {
    const std::string_view bytes = scratch.joined.bytes;
    const auto visit_range = [&](size_t first, size_t last) {
      visit(bytes.substr(start(first), start(last) - start(first)));
    };
    const size_t shortest = settings_.min_n, longest = settings_.max_n;
    if (settings_.kind == AnalyzerKind::kChar) {
      for (size_t n = shortest; n <= std::min(longest, n_characters); ++n) {
        for (size_t i = 0; i + n <= n_characters; ++i) visit_range(i, i + n);
      }
      return;
    }
    // Words with their spaces, each of which is the end of one word and the beginning of the next.
    size_t first = 0;
    while (first + 1 < n_characters) {
      size_t end = first + 1;
      while (bytes[start(end)] != ' ') ++end;
      ++end;
      for (size_t n = shortest; n <= longest; ++n) {
        if (n >= end - first) {
          visit_range(first, end);  // a word that is too short is its own term, once
          break;
        }
        for (size_t i = first; i + n <= end; ++i) visit_range(i, i + n);
      }
      first = end - 1;
    }
  }

  AnalyzerSettings settings_;
};

}  // namespace labeltree
