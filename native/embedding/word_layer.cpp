#include "embedding/word_layer.h"

#include <algorithm>

#include "core/random.h"

namespace labeltree {

namespace {

// What random numbers are drawn for, so that none is used twice; see also vector_trainer.cpp.
enum : uint64_t { kInitialVectors = 0, kDropout = 2 };

// Words lie anywhere in memory: that of the word after the next is asked for in time.
constexpr int64_t kWordsAhead = 2;

}  // namespace

WordLayer::WordLayer(int64_t n_words, const VectorOptions& options)
    : options_(options), table_(n_words, options.dimension, options.rule) {
  const uint64_t seed = mix_seed(options.seed, kInitialVectors);
  for (int64_t word = 0; word < n_words; ++word) {
    Random random(mix_seed(seed, static_cast<uint64_t>(word)));
    float* vector = table_.vector(word);
    for (int64_t d = 0; d < options.dimension; ++d) {
      vector[d] = static_cast<float>((2 * unit_number(random.next()) - 1) * options.initial_range);
    }
  }
}

void WordLayer::set(int64_t word, const float* vector, bool frozen) {
  std::copy_n(vector, options_.dimension, table_.vector(word));
  if (!frozen) return;
  frozen_.resize(table_.n_vectors(), 0);
  frozen_[word] = 1;
}

template <class Visit>
void WordLayer::visit_dropped(int64_t visit, const Visit& dropped) const {
  if (options_.dropout <= 0) return;
  Random random(mix_seed(mix_seed(options_.seed, kDropout), static_cast<uint64_t>(visit)));
  const uint32_t bound = static_cast<uint32_t>(options_.dropout * 65536.0f);
  uint64_t number = 0;
  for (int64_t d = 0; d < options_.dimension; ++d) {
    number = d % 4 == 0 ? random.next() : number >> 16;
    if ((number & 0xffff) < bound) dropped(d);
  }
}

void WordLayer::make_hidden(const ExampleBatch& batch, int row, int64_t visit, HiddenRows& hidden) const {
  const WordEntries& words = batch.words();
  const int64_t begin = words.row_begin[row], n = words.row_begin[row + 1] - begin;
  float* h = hidden.vector(row);
  vector_kernels().sum(table_.matrix(0, table_.n_vectors()), words.word.data() + begin,
                       words.value.data() + begin, n, h);
  if (options_.dropout > 0) {
    const float scale = 1 / (1 - options_.dropout);
    for (int64_t d = 0; d < options_.dimension; ++d) h[d] *= scale;
    visit_dropped(visit, [&](int64_t d) { h[d] = 0; });
  }
  if (options_.bias) h[options_.dimension] = 1;
}

void WordLayer::drop_gradient(int row, int64_t visit, HiddenRows& hidden) const {
  float* gradient = hidden.gradient(row);
  gradient[options_.dimension] = 0;  // the bias has no words
  if (options_.dropout <= 0) return;
  const float scale = 1 / (1 - options_.dropout);
  for (int64_t d = 0; d < options_.dimension; ++d) gradient[d] *= scale;
  visit_dropped(visit, [&](int64_t d) { gradient[d] = 0; });
}

void WordLayer::learn(const ExampleBatch& batch, int64_t i, const HiddenRows& hidden, float rate,
                      AlignedFloats& scratch) {
  const WordEntries& words = batch.words();
  const int32_t word = words.by_word.item(i);
  if (i + kWordsAhead < words.by_word.n_items()) table_.prefetch(words.by_word.item(i + kWordsAhead));
  if (!frozen_.empty() && frozen_[word]) return;
  const int64_t begin = words.by_word.begin(i), n = words.by_word.size(i);
  const VectorMatrix gradients{VectorType::float32, hidden.gradient(0), nullptr,
                               batch.n_rows(),      table_.stride(),    hidden.stride()};
  vector_kernels().sum(gradients, words.by_word.rows() + begin, words.value_by_word.data() + begin, n,
                       scratch.data());
  table_.step(word, scratch.data(), rate, n);
}

}  // namespace labeltree
