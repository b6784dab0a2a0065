#include "text/characters.h"

#include <stdexcept>

namespace labeltree {

namespace {

constexpr std::array<uint8_t, 128> ascii_kinds() {
  std::array<uint8_t, 128> kinds{};
  for (int c = '0'; c <= '9'; ++c) kinds[c] = kWordCharacter;
  for (int c = 'A'; c <= 'Z'; ++c) kinds[c] = kWordCharacter;
  for (int c = 'a'; c <= 'z'; ++c) kinds[c] = kWordCharacter;
  kinds['_'] = kWordCharacter;
  for (int c = '\t'; c <= '\r'; ++c) kinds[c] = kSpaceCharacter;
  for (int c = 0x1c; c <= 0x20; ++c) kinds[c] = kSpaceCharacter;  // Python counts the separators to 0x1f
  return kinds;
}

void mark_ranges(std::span<const int32_t> ranges, uint8_t kind, std::vector<uint8_t>& kinds) {
  int64_t last = 0;
  if (ranges.size() % 2 != 0) throw std::invalid_argument("ranges of characters must come in pairs");
  for (size_t i = 0; i < ranges.size(); i += 2) {
    if (ranges[i] < last || ranges[i + 1] < ranges[i] || ranges[i + 1] > int64_t{kNCharacters}) {
      throw std::invalid_argument("ranges of characters must ascend and lie within Unicode");
    }
    for (int32_t c = ranges[i]; c < ranges[i + 1]; ++c) kinds[c] = kind;
    last = ranges[i + 1];
  }
}

}  // namespace

const std::array<uint8_t, 128> kAsciiKind = ascii_kinds();

bool is_utf8(std::string_view bytes) {
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  for (size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<uint8_t>(bytes[i]);
    const uint32_t length = sequence_length(first);
    if ((first >= 0x80 && first < 0xc0) || first >= 0xf8 || length > bytes.size() - i) return false;
    for (uint32_t j = 1; j < length; ++j) {
      if ((static_cast<uint8_t>(bytes[i + j]) & 0xc0) != 0x80) return false;
    }
    const uint32_t character = decode_character(bytes.data() + i);
    if (character < kSmallest[length] || character >= kNCharacters) return false;
    i += length;
  }
  return true;
}

CharacterTable::CharacterTable(std::span<const int32_t> word_ranges, std::span<const int32_t> space_ranges,
                               std::span<const int32_t> changed, std::string_view text,
                               std::span<const int64_t> begin)
    : kinds_(kNCharacters, kOtherCharacter), pages_(kNCharacters / kPageSize, 0), text_(text) {
  mark_ranges(word_ranges, kWordCharacter, kinds_);
  mark_ranges(space_ranges, kSpaceCharacter, kinds_);
  if (begin.size() != changed.size() + 1 || begin[0] != 0 ||
      begin[changed.size()] != static_cast<int64_t>(text.size())) {
    throw std::invalid_argument("the offsets of changed characters must span their text");
  }
  uint32_t n_pages = 0;
  for (size_t i = 0; i < changed.size(); ++i) {
    if (changed[i] < 0 || changed[i] >= int64_t{kNCharacters} || begin[i] > begin[i + 1] ||
        begin[i + 1] > static_cast<int64_t>(text.size()) ||
        !is_utf8(text.substr(begin[i], begin[i + 1] - begin[i]))) {
      throw std::invalid_argument("changed characters must lie within Unicode and become UTF-8");
    }
    uint32_t& page = pages_[changed[i] / kPageSize];
    if (page == 0) {
      page = ++n_pages;
      changes_.resize(n_pages * kPageSize);
    }
    changes_[(page - 1) * kPageSize + changed[i] % kPageSize] = {
        static_cast<uint32_t>(begin[i]), static_cast<uint32_t>(begin[i + 1] - begin[i])};
  }
}

}  // namespace labeltree
