#include "text/analyzer.h"

#include <stdexcept>

namespace labeltree {

namespace {

// The kind of the character at a place, and how many bytes it has.
struct Found {
  uint8_t kind;
  uint32_t length;
};

inline Found character_at(const char* at, const CharacterTable* characters) {
  const auto first = static_cast<uint8_t>(*at);
  if (first < 0x80) return {kAsciiKind[first], 1};
  return {characters->kind(decode_character(at)), sequence_length(first)};
}

// Calls visit(begin, end) for every longest run of characters for which is_in(kind), and how many they are.
template <class IsIn, class Visit>
void visit_runs(const std::string& bytes, const CharacterTable* characters, const IsIn& is_in,
                const Visit& visit) {
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  for (const char* at = begin; at < end;) {
    const char* const run = at;
    size_t n = 0;
    Found found = character_at(at, characters);
    while (is_in(found.kind)) {
      at += found.length;
      ++n;
      if (at == end) break;
      found = character_at(at, characters);
    }
    if (n > 0) visit(static_cast<uint32_t>(run - begin), static_cast<uint32_t>(at - begin), n);
    if (at < end) at += found.length;
  }
}

}  // namespace

void TextAnalyzer::normalize(const TextView& text, const CharacterTable* characters,
                             AnalyzerScratch& scratch) const {
  WorkingText& out = scratch.normal;
  out.clear();
  const std::string_view bytes = text.bytes;
  uint32_t n_characters = 0;
  for (size_t at = 0; at < bytes.size();) {
    size_t end = at;  // of a run of ASCII
    if (text.ascii) {
      end = bytes.size();
    } else {
      while (end < bytes.size() && static_cast<uint8_t>(bytes[end]) < 0x80) ++end;
    }
    const size_t before = out.bytes.size();
    out.bytes.append(bytes, at, end - at);
    if (settings_.lowercase) {
      for (size_t i = before; i < out.bytes.size(); ++i) out.bytes[i] = lower_ascii(out.bytes[i]);
    }
    if (scratch.tracked) {
      for (size_t i = at; i < end; ++i) {
        out.origin_begin.push_back(n_characters++);
        out.origin_end.push_back(n_characters);
      }
    }
    for (at = end; at < bytes.size() && static_cast<uint8_t>(bytes[at]) >= 0x80;) {
      const std::string_view sequence = bytes.substr(at, sequence_length(static_cast<uint8_t>(bytes[at])));
      at += sequence.size();
      const std::string_view changed = characters->changed(sequence);
      if (scratch.tracked) {
        out.append(changed, n_characters, n_characters + 1);
        ++n_characters;
      } else {
        out.bytes += changed;
      }
    }
    if (out.bytes.size() >= INT32_MAX) {
      throw std::length_error("a text must have fewer than 2,147,483,647 bytes in lower case");
    }
  }
}

void TextAnalyzer::find_words(const CharacterTable* characters, AnalyzerScratch& scratch) const {
  const std::string& bytes = scratch.normal.bytes;
  scratch.words.clear();
  scratch.source = &scratch.normal;
  const auto add = [&](uint32_t begin, uint32_t end) {
    const Vocabulary* const stop_words = settings_.stop_words.get();
    if (stop_words != nullptr &&
        stop_words->find(std::string_view(bytes).substr(begin, end - begin)) != Vocabulary::kAbsent) {
      return;
    }
    scratch.words.push_back({begin, end});
  };
  if (settings_.kind == AnalyzerKind::kTokens) {
    for (size_t begin = 0; begin < bytes.size();) {
      const size_t end = std::min(bytes.find(kTokenEnd, begin), bytes.size());
      if (end > begin) add(static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
      begin = end + 1;
    }
    return;
  }
  if (settings_.kind == AnalyzerKind::kWhitespace) {
    visit_runs(
        bytes, characters, [](uint8_t kind) { return kind != kSpaceCharacter; },
        [&](uint32_t begin, uint32_t end, size_t) { add(begin, end); });
    return;
  }
  visit_runs(
      bytes, characters, [](uint8_t kind) { return kind == kWordCharacter; },
      [&](uint32_t begin, uint32_t end, size_t n) {
        if (n >= 2) add(begin, end);
      });
}

void TextAnalyzer::join_words(AnalyzerScratch& scratch) {
  WorkingText& joined = scratch.joined;
  joined.clear();
  for (AnalyzerScratch::Range& word : scratch.words) {
    if (!joined.bytes.empty()) joined.append_space(scratch.tracked);
    const auto begin = static_cast<uint32_t>(joined.bytes.size());
    joined.append(scratch.normal, word.begin, word.end, scratch.tracked);
    word = {begin, static_cast<uint32_t>(joined.bytes.size())};
  }
  scratch.source = &joined;
}

// As join_words, with what the words become. All of it stands for the whole word.
void TextAnalyzer::map_words(AnalyzerScratch& scratch) {
  const WorkingText& normal = scratch.normal;
  WorkingText& joined = scratch.joined;
  joined.clear();
  size_t kept = 0;
  for (const AnalyzerScratch::Range& word : scratch.words) {
    const std::string_view becomes =
        (*scratch.word_map)[std::string_view(normal.bytes).substr(word.begin, word.end - word.begin)];
    if (becomes.empty()) continue;
    if (!joined.bytes.empty()) joined.append_space(scratch.tracked);
    const auto begin = static_cast<uint32_t>(joined.bytes.size());
    if (scratch.tracked) {
      joined.append(becomes, normal.origin_begin[word.begin], normal.origin_end[word.end - 1]);
    } else {
      joined.bytes += becomes;
    }
    scratch.words[kept++] = {begin, static_cast<uint32_t>(joined.bytes.size())};
    if (joined.bytes.size() >= INT32_MAX) {
      throw std::length_error("the words of a text must become fewer than 2,147,483,647 bytes");
    }
  }
  scratch.words.resize(kept);
  scratch.source = &joined;
}

// Two spaces or more become one, as any space counts; a single one stays what it is.
void TextAnalyzer::merge_spaces(const CharacterTable* characters, AnalyzerScratch& scratch) {
  const WorkingText& normal = scratch.normal;
  WorkingText& joined = scratch.joined;
  joined.clear();
  uint32_t copied = 0;
  visit_runs(
      normal.bytes, characters, [](uint8_t kind) { return kind == kSpaceCharacter; },
      [&](uint32_t begin, uint32_t end, size_t n) {
        if (n < 2) return;
        joined.append(normal, copied, begin, scratch.tracked);
        if (scratch.tracked) {
          joined.append(" ", normal.origin_begin[begin], normal.origin_end[end - 1]);
        } else {
          joined.bytes += ' ';
        }
        copied = end;
      });
  joined.append(normal, copied, normal.bytes.size(), scratch.tracked);
  scratch.source = &joined;
}

void TextAnalyzer::pad_words(const CharacterTable* characters, AnalyzerScratch& scratch) {
  WorkingText& joined = scratch.joined;
  joined.clear();
  visit_runs(
      scratch.normal.bytes, characters, [](uint8_t kind) { return kind != kSpaceCharacter; },
      [&](uint32_t begin, uint32_t end, size_t) {
        if (joined.bytes.empty()) joined.append_space(scratch.tracked);
        joined.append(scratch.normal, begin, end, scratch.tracked);
        joined.append_space(scratch.tracked);
      });
  scratch.source = &joined;
}

void TextAnalyzer::find_starts(const std::string& bytes, std::vector<uint32_t>& starts) {
  starts.clear();
  for (size_t at = 0; at < bytes.size(); at += sequence_length(static_cast<uint8_t>(bytes[at]))) {
    starts.push_back(static_cast<uint32_t>(at));
  }
  starts.push_back(static_cast<uint32_t>(bytes.size()));
}

}  // namespace labeltree
