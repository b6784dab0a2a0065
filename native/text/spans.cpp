#include "text/spans.h"

#include <algorithm>

namespace labeltree {

std::vector<TextSpan> find_spans(const std::vector<const TextPart*>& parts, const TextView& text,
                                 const CharacterTable* characters, const WordMap* word_map) {
  std::vector<TextSpan> spans;
  AnalyzerScratch scratch;
  scratch.tracked = true;
  scratch.word_map = word_map;
  for (const TextPart* part : parts) {
    part->visit_columns(text, characters, scratch, [&](std::string_view term, uint32_t column, int32_t) {
      const WorkingText& source = *scratch.source;
      size_t first = term.data() - source.bytes.data();
      size_t last = first + term.size() - 1;
      const auto stands_for_none = [&](size_t i) { return source.origin_begin[i] == source.origin_end[i]; };
      while (first < last && stands_for_none(first)) ++first;
      while (first < last && stands_for_none(last)) --last;
      if (!stands_for_none(first)) {
        spans.emplace_back(column, source.origin_begin[first], source.origin_end[last]);
      }
    });
  }
  std::sort(spans.begin(), spans.end(), [](const TextSpan& a, const TextSpan& b) {
    return std::tuple(std::get<1>(a), std::get<2>(a), std::get<0>(a)) <
           std::tuple(std::get<1>(b), std::get<2>(b), std::get<0>(b));
  });
  return spans;
}

}  // namespace labeltree
