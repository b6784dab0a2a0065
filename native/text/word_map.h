// What words become before they are terms: their stems, for instance.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "text/term_hash.h"
#include "text/term_index.h"

namespace labeltree {

// Grows while texts are read. Threads may share it: whoever looks words up holds the mutex shared, whoever
// inserts one holds it alone.
class WordMap {
 public:
  std::shared_mutex& mutex() const { return mutex_; }

  size_t size() const { return entries_.size(); }

  bool contains(std::string_view word) const { return find(word) != TermIndex::kAbsent; }

  // What a word becomes; valid until the next insertion. Nothing if the word is left out.
  std::string_view operator[](std::string_view word) const {
    const uint32_t found = find(word);
    if (found == TermIndex::kAbsent) throw std::invalid_argument("a word is missing from the map of words");
    const Entry& entry = entries_[found];
    return std::string_view(text_).substr(entry.begin + entry.n_word, entry.n_becomes);
  }

  // A word that is there stays as it is.
  void insert(std::string_view word, std::string_view becomes) {
    if (contains(word)) return;
    if (entries_.size() >= INT32_MAX) throw std::invalid_argument("expected fewer than 2,147,483,647 words");
    index_.insert(table_hash(word), static_cast<uint32_t>(entries_.size()));
    entries_.push_back(
        {text_.size(), static_cast<uint32_t>(word.size()), static_cast<uint32_t>(becomes.size())});
    text_ += word;
    text_ += becomes;
  }

 private:
  struct Entry {
    uint64_t begin;
    uint32_t n_word, n_becomes;  // bytes
  };

  uint32_t find(std::string_view word) const {
    return index_.find(table_hash(word), [&](uint32_t i) {
      return std::string_view(text_).substr(entries_[i].begin, entries_[i].n_word) == word;
    });
  }

  mutable std::shared_mutex mutex_;
  std::string text_;
  std::vector<Entry> entries_;
  TermIndex index_;
};

}  // namespace labeltree
