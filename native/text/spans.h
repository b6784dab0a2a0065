// Where the features of a text are in it.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "text/counter.h"

namespace labeltree {

// Column, begin and end: characters of the original text, from begin to before end.
using TextSpan = std::tuple<uint32_t, uint32_t, uint32_t>;

// Every occurrence of a term that has a column, by where it begins, where it ends, and column. Terms that
// stand for no character of the text, such as the space before a word, are left out.
std::vector<TextSpan> find_spans(const std::vector<const TextPart*>& parts, const TextView& text,
                                 const CharacterTable* characters, const WordMap* word_map = nullptr);

}  // namespace labeltree
