#include "text/vocabulary.h"

#include <stdexcept>
#include <string>

#include "text/characters.h"

namespace labeltree {

Vocabulary::Vocabulary(std::string_view text, std::span<const int64_t> begin) : text_(text), begin_(begin) {
  if (begin.empty() || begin.front() != 0 || begin.back() != static_cast<int64_t>(text.size())) {
    throw std::invalid_argument("vocabulary: the offsets of the terms do not span their bytes");
  }
  if (begin.size() > INT32_MAX) {
    throw std::invalid_argument("vocabulary: expected fewer than 2,147,483,647 terms, got " +
                                std::to_string(size()));
  }
  const auto refuse = [](size_t i, const char* why) {
    throw std::invalid_argument("vocabulary: term " + std::to_string(i) + why);
  };
  // All offsets first: only then may terms be looked at.
  for (size_t i = 0; i < size(); ++i) {
    if (begin[i] >= begin[i + 1]) refuse(i, " is empty or its offsets decrease");
  }
  index_.reserve(size());
  for (size_t i = 0; i < size(); ++i) {
    if (!is_utf8(term(i))) refuse(i, " is not UTF-8");
    if (i > 0 && term(i - 1) >= term(i)) refuse(i, " does not come after the one before");
    index_.insert(table_hash(term(i)), static_cast<uint32_t>(i));
  }
}

}  // namespace labeltree
