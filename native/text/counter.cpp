#include "text/counter.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/parallel_for.h"

namespace labeltree {

namespace {

// Bytes of texts that a thread takes at a time.
constexpr size_t kTaskBytes = size_t{1} << 16;

}  // namespace

TextCounter::TextCounter(std::vector<TextPart> parts, bool binary, bool keep_rows, bool count_texts,
                         int n_threads)
    : parts_(std::move(parts)),
      binary_(binary),
      keep_rows_(keep_rows),
      n_threads_(std::max(n_threads, 1)),
      workers_(n_threads_),
      learned_(parts_.size()) {
  for (Worker& worker : workers_) worker.terms.resize(parts_.size());
  size_t n_hashed = 0;
  for (const TextPart& part : parts_) n_hashed += part.n_hashed;
  if (count_texts) hashed_texts_ = std::vector<std::atomic<int64_t>>(n_hashed);
}

void TextCounter::check_whole() const {
  if (is_whole_) return;
  throw std::invalid_argument("counting texts failed before: count them all again with a new counter");
}

void TextCounter::add(std::span<const TextView> pieces, const CharacterTable* characters,
                      const WordMap* word_map) {
  check_whole();
  is_whole_ = false;
  for (Worker& worker : workers_) worker.analyzer.word_map = word_map;
  struct Task {
    size_t begin, first_text;  // a piece, and the number of its text
  };
  std::vector<Task> tasks = {{0, 0}};
  size_t n_bytes = 0, n_texts = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    n_bytes += pieces[i].bytes.size() + 1;
    n_texts += pieces[i].ends_text;
    if ((n_bytes >= kTaskBytes && pieces[i].ends_text) || i + 1 == pieces.size()) {
      tasks.push_back({i + 1, n_texts});
      n_bytes = 0;
    }
  }
  const size_t n_tasks = tasks.size() - 1;
  const size_t first_chunk = chunks_.size();
  chunks_.resize(first_chunk + n_tasks);
  parallel_for(n_threads_, static_cast<int64_t>(n_tasks), [&](int64_t task, int worker) {
    RowChunk& chunk = chunks_[first_chunk + task];
    chunk.worker = worker;
    size_t begin = tasks[task].begin;
    for (size_t text = tasks[task].first_text; text < tasks[task + 1].first_text; ++text) {
      size_t end = begin + 1;
      while (!pieces[end - 1].ends_text) ++end;
      try {
        count(pieces.subspan(begin, end - begin), characters, workers_[worker], chunk);
      } catch (const std::length_error& error) {
        throw std::invalid_argument("text " + std::to_string(n_texts_ + static_cast<int64_t>(text)) + ": " +
                                    error.what());
      }
      begin = end;
    }
    chunk.features.shrink_to_fit();
  });
  n_texts_ += static_cast<int64_t>(n_texts);
  if (!keep_rows_) chunks_.clear();
  is_whole_ = true;
}

void TextCounter::count(std::span<const TextView> text, const CharacterTable* characters, Worker& worker,
                        RowChunk& chunk) {
  for (size_t part = 0; part < parts_.size(); ++part) {
    if (text.size() == 1 && text[0].weight == 1) {
      count_piece(part, text[0], characters, worker);
      end_part(part, worker.counts.features(), worker, chunk);
    } else {
      for (const TextView& piece : text) {
        count_piece(part, piece, characters, worker);
        for (const CountedFeature& one : worker.counts.features()) {
          worker.sums.add(one.feature, piece.weight * static_cast<float>(binary_ ? 1 : one.amount));
        }
        worker.counts.clear();
      }
      end_part(part, worker.sums.features(), worker, chunk);
      worker.sums.clear();
    }
    worker.counts.clear();
  }
}

void TextCounter::count_piece(size_t part, const TextView& piece, const CharacterTable* characters,
                              Worker& worker) {
  RowCounts<int32_t>& counts = worker.counts;
  if (parts_[part].learns()) {
    TermCounts& terms = worker.terms[part];
    parts_[part].visit_terms(piece, characters, worker.analyzer,
                             [&](std::string_view term) { counts.add(terms.number(term), 1); });
    terms.count_times(counts.features());
  } else {
    parts_[part].visit_columns(
        piece, characters, worker.analyzer,
        [&](std::string_view, uint32_t column, int32_t amount) { counts.add(column, amount); });
  }
}

// The features of a part of a text are all there.
template <class Amount>
void TextCounter::end_part(size_t part, const std::vector<RowFeature<Amount>>& row, Worker& worker,
                           RowChunk& chunk) {
  if (parts_[part].learns()) worker.terms[part].count_text(row);
  if (parts_[part].n_hashed > 0 && !hashed_texts_.empty()) {
    for (const RowFeature<Amount>& one : row) {
      hashed_texts_[one.feature].fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (!keep_rows_) return;
  const bool ones = binary_ && std::is_same_v<Amount, int32_t>;  // pieces with weights have seen to it
  const size_t before = chunk.features.size();
  chunk.features.resize(before + row.size());
  std::transform(row.begin(), row.end(), chunk.features.begin() + static_cast<std::ptrdiff_t>(before),
                 [ones](const RowFeature<Amount>& one) {
                   return WeighedFeature{one.feature, ones ? 1.0F : static_cast<float>(one.amount)};
                 });
  chunk.end.push_back(chunk.features.size());
}

std::vector<int64_t> TextCounter::hashed_texts() const {
  return std::vector<int64_t>(hashed_texts_.begin(), hashed_texts_.end());
}

TextCounter::Terms TextCounter::finish(size_t part, int64_t fewest_texts, int64_t most_texts) {
  check_whole();
  is_whole_ = false;
  TermCounts& all = workers_[0].terms[part];
  Learned& learned = learned_[part];
  learned.numbers.resize(workers_.size());
  for (size_t w = 1; w < workers_.size(); ++w) {
    learned.numbers[w] = all.absorb(workers_[w].terms[part]);
    workers_[w].terms[part] = {};
  }
  learned.order = all.sorted(fewest_texts, most_texts, n_threads_);
  Terms terms;
  for (const uint32_t number : learned.order) {
    terms.n_texts.push_back(all.n_texts(number));
    terms.n_times.push_back(all.n_times(number));
  }
  is_whole_ = true;
  return terms;
}

void TextCounter::select(size_t part, std::span<const uint8_t> keep) {
  std::vector<uint32_t>& order = learned_[part].order;
  if (keep.size() != order.size()) throw std::invalid_argument("keep must have one entry per term");
  size_t kept = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (keep[i] != 0) order[kept++] = order[i];
  }
  order.resize(kept);
}

std::pair<std::vector<uint8_t>, std::vector<int64_t>> TextCounter::terms(size_t part) const {
  const TermCounts& all = workers_[0].terms[part];
  std::pair<std::vector<uint8_t>, std::vector<int64_t>> out;
  auto& [text, begin] = out;
  begin.push_back(0);
  for (const uint32_t number : learned_[part].order) {
    const std::string_view term = all.term(number);
    text.insert(text.end(), term.begin(), term.end());
    begin.push_back(static_cast<int64_t>(text.size()));
  }
  return out;
}

// For every worker the columns of its terms.
std::vector<std::vector<uint32_t>> TextCounter::columns(size_t part) const {
  const Learned& learned = learned_[part];
  std::vector<std::vector<uint32_t>> columns(workers_.size());
  columns[0].assign(workers_[0].terms[part].size(), UINT32_MAX);
  for (size_t i = 0; i < learned.order.size(); ++i) columns[0][learned.order[i]] = static_cast<uint32_t>(i);
  for (size_t w = 1; w < workers_.size(); ++w) {
    columns[w] = learned.numbers[w];
    for (uint32_t& number : columns[w]) number = columns[0][number];
  }
  return columns;
}

WeightedRows TextCounter::rows(const TermWeights& weights) {
  check_whole();
  is_whole_ = false;  // it uses the counts up
  std::vector<std::vector<std::vector<uint32_t>>> columns(parts_.size());
  std::vector<uint32_t> first_column(parts_.size(), 0);
  bool learns = false;
  for (size_t p = 0; p < parts_.size(); ++p) {
    if (p > 0) {
      first_column[p] = first_column[p - 1] + static_cast<uint32_t>(learned_[p - 1].order.size());
    }
    if (!parts_[p].learns()) continue;
    learns = true;
    columns[p] = this->columns(p);
  }
  if (learns) {
    parallel_for(n_threads_, static_cast<int64_t>(chunks_.size()), [&](int64_t i, int) {
      RowChunk& chunk = chunks_[i];
      find_columns(chunk, parts_.size(), [&](size_t part, uint32_t number) {
        const uint32_t column = columns[part].empty() ? number : columns[part][chunk.worker][number];
        return column == UINT32_MAX ? column : first_column[part] + column;
      });
    });
  }
  return weigh_rows(chunks_, parts_.size(), weights, n_threads_);
}

}  // namespace labeltree
