// The words of texts that a map does not have yet.
#pragma once

#include <span>

#include "text/analyzer.h"
#include "text/term_counts.h"

namespace labeltree {

// Every word of the texts that is missing from the map, once; whoever calls it holds the mutex of the map.
TermCounts unknown_words(const TextAnalyzer& analyzer, std::span<const TextView> pieces,
                         const CharacterTable* characters, const WordMap& word_map, int n_threads);

}  // namespace labeltree
