#include "text/unknown_words.h"

#include <algorithm>
#include <vector>

#include "core/parallel_for.h"

namespace labeltree {

namespace {
constexpr size_t kTaskPieces = 64;
}  // namespace

TermCounts unknown_words(const TextAnalyzer& analyzer, std::span<const TextView> pieces,
                         const CharacterTable* characters, const WordMap& word_map, int n_threads) {
  struct Worker {
    AnalyzerScratch scratch;
    TermCounts words;
  };
  std::vector<Worker> workers(std::max(n_threads, 1));
  const size_t n_tasks = (pieces.size() + kTaskPieces - 1) / kTaskPieces;
  parallel_for(n_threads, static_cast<int64_t>(n_tasks), [&](int64_t task, int worker) {
    auto& [scratch, words] = workers[worker];
    const size_t begin = static_cast<size_t>(task) * kTaskPieces;
    for (const TextView& piece : pieces.subspan(begin, std::min(kTaskPieces, pieces.size() - begin))) {
      analyzer.visit_plain_words(piece, characters, scratch, [&](std::string_view word) {
        if (!word_map.contains(word)) words.number(word);
      });
    }
  });
  for (size_t w = 1; w < workers.size(); ++w) workers[0].words.absorb(workers[w].words);
  return std::move(workers[0].words);
}

}  // namespace labeltree
