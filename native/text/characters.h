// What characters are, and what they become before a text is split: as the running Python has it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace labeltree {

inline constexpr uint32_t kNCharacters = 0x110000;

// The length of a UTF-8 sequence by its first byte. Texts are valid UTF-8 (lone surrogates included) when
// they come here: whoever makes one sees to that.
inline uint32_t sequence_length(uint8_t first) {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// The character at a place that holds a whole sequence.
inline uint32_t decode_character(const char* at) {
  const auto byte = [at](int i) { return static_cast<uint32_t>(static_cast<uint8_t>(at[i])); };
  switch (sequence_length(static_cast<uint8_t>(*at))) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3:
      return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
  }
}

// Whether bytes are UTF-8, with characters in the fewest bytes; lone surrogates may be among them.
bool is_utf8(std::string_view bytes);

// What the ASCII characters are, needed by every text.
enum CharacterKind : uint8_t { kOtherCharacter = 0, kWordCharacter = 1, kSpaceCharacter = 2 };
extern const std::array<uint8_t, 128> kAsciiKind;

inline char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// The kinds of all characters, and what each becomes by lower case and without accents.
class CharacterTable {
 public:
  // Ranges are begin, end, begin, end, ... ascending. The character changed[i] becomes
  // text[begin[i] .. begin[i + 1]).
  CharacterTable(std::span<const int32_t> word_ranges, std::span<const int32_t> space_ranges,
                 std::span<const int32_t> changed, std::string_view text, std::span<const int64_t> begin);

  uint8_t kind(uint32_t character) const { return kinds_[character]; }

  // What a sequence of several bytes becomes.
  std::string_view changed(std::string_view sequence) const {
    const uint32_t character = decode_character(sequence.data());
    const uint32_t page = pages_[character / kPageSize];
    if (page == 0) return sequence;
    const Change& change = changes_[(page - 1) * kPageSize + character % kPageSize];
    return change.length == kUnchanged ? sequence
                                       : std::string_view(text_).substr(change.begin, change.length);
  }

 private:
  static constexpr uint32_t kPageSize = 256;
  static constexpr uint32_t kUnchanged = UINT32_MAX;
  struct Change {
    uint32_t begin = 0;
    uint32_t length = kUnchanged;
  };

  std::vector<uint8_t> kinds_;
  std::vector<uint32_t> pages_;  // 0: no character of the page changes
  std::vector<Change> changes_;
  std::string text_;
};

}  // namespace labeltree
