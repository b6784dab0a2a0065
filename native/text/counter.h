// Counts the terms of many texts, of a vocabulary that is there or that is learned from them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "text/analyzer.h"
#include "text/term_counts.h"
#include "text/vocabulary.h"
#include "text/weighted_rows.h"

namespace labeltree {

// Columns beside each other that share their analyzers: a vocabulary's, hashed ones, or those of a vocabulary
// that is to be learned.
struct TextPart {
  std::vector<TextAnalyzer> analyzers;           // at least one
  std::shared_ptr<const Vocabulary> vocabulary;  // null if features are hashed or terms learned
  uint32_t n_hashed = 0;                         // 0 if features are not hashed
  bool alternate_sign = false;                   // whether half of the hashed terms count -1
  uint32_t first_column = 0;  // after vocabularies that are learned: counted from their end

  bool learns() const { return vocabulary == nullptr && n_hashed == 0; }

  // Calls visit(term) for every term of every analyzer.
  template <class Visit>
  void visit_terms(const TextView& text, const CharacterTable* characters, AnalyzerScratch& scratch,
                   const Visit& visit) const {
    for (const TextAnalyzer& analyzer : analyzers) analyzer.visit_terms(text, characters, scratch, visit);
  }

  // Calls visit(term, column, amount) for every term of a text that has a column.
  template <class Visit>
  void visit_columns(const TextView& text, const CharacterTable* characters, AnalyzerScratch& scratch,
                     const Visit& visit) const {
    if (vocabulary != nullptr) {
      visit_terms(text, characters, scratch, [&](std::string_view term) {
        const uint32_t found = vocabulary->find(term);
        if (found != Vocabulary::kAbsent) visit(term, first_column + found, 1);
      });
    } else {
      visit_terms(text, characters, scratch, [&](std::string_view term) {
        const int32_t hash = murmur_hash(term);
        const uint32_t distance = hash < 0 ? 0u - static_cast<uint32_t>(hash) : static_cast<uint32_t>(hash);
        visit(term, first_column + distance % n_hashed, alternate_sign && hash < 0 ? -1 : 1);
      });
    }
  }
};

class TextCounter {
 public:
  // With keep_rows the counts of every text are kept for `rows`, with count_texts how many texts have each
  // hashed column. If binary, a term counts once in every piece of a text.
  TextCounter(std::vector<TextPart> parts, bool binary, bool keep_rows, bool count_texts, int n_threads);
  TextCounter(const TextCounter&) = delete;  // its counts are of all threads, and large

  // Counts the terms of whole texts, which may be forgotten afterwards. If it throws, some of them are
  // counted and others are not: from then on every call throws.
  // Analyzers that map words need a map with all words of the texts.
  void add(std::span<const TextView> pieces, const CharacterTable* characters,
           const WordMap* word_map = nullptr);

  int64_t n_texts() const { return n_texts_; }
  int n_threads() const { return n_threads_; }
  const TextAnalyzer& first_analyzer() const { return parts_[0].analyzers[0]; }
  std::vector<int64_t> hashed_texts() const;

  // The terms that were learned.
  struct Terms {
    std::vector<int64_t> n_texts, n_times;
  };
  // Sorts the terms of a part that from fewest_texts to most_texts texts have; call it once, after the last
  // text.
  Terms finish(size_t part, int64_t fewest_texts, int64_t most_texts);
  // Keeps only those terms of a finished part for which keep is not 0.
  void select(size_t part, std::span<const uint8_t> keep);
  // The terms of a finished part, one after the other, and where each begins.
  std::pair<std::vector<uint8_t>, std::vector<int64_t>> terms(size_t part) const;

  // The rows of the texts as a matrix; call it once, when all parts are finished.
  WeightedRows rows(const TermWeights& weights);

 private:
  struct Worker {
    AnalyzerScratch analyzer;
    RowCounts<int32_t> counts;      // of a piece
    RowCounts<float> sums;          // of a text with weighted pieces
    std::vector<TermCounts> terms;  // of the parts that learn
  };
  struct Learned {
    std::vector<std::vector<uint32_t>> numbers;  // of the workers' terms among those of worker 0
    std::vector<uint32_t> order;                 // the numbers of the kept terms, by column
  };

  void check_whole() const;
  void count(std::span<const TextView> text, const CharacterTable* characters, Worker& worker,
             RowChunk& chunk);
  void count_piece(size_t part, const TextView& piece, const CharacterTable* characters, Worker& worker);
  template <class Amount>
  void end_part(size_t part, const std::vector<RowFeature<Amount>>& row, Worker& worker, RowChunk& chunk);
  std::vector<std::vector<uint32_t>> columns(size_t part) const;

  std::vector<TextPart> parts_;
  bool binary_;
  bool keep_rows_;
  int n_threads_;
  int64_t n_texts_ = 0;
  bool is_whole_ = true;
  std::vector<Worker> workers_;
  std::vector<Learned> learned_;
  std::vector<std::atomic<int64_t>> hashed_texts_;
  std::vector<RowChunk> chunks_;
};

}  // namespace labeltree
