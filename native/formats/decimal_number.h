// Reads decimal numbers as the nearest float32.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace labeltree {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// parse_decimal for numbers of any length and exponent.
const char* parse_long_decimal(const char* p, float& value);

// Parses [+-]digits[.digits][e[+-]digits] at `p` and returns the end of it, or nullptr where no such number
// begins. The value is the float32 nearest to what is written, infinite when that is too large. The text must
// go on with a byte that cannot be part of a number, such as a newline.
inline const char* parse_decimal(const char* p, float& value) {
  constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char* const begin = p;
  const bool negative = *p == '-';
  p += negative;
  uint64_t digits = 0;
  const char* const whole = p;
  for (; is_digit(*p); ++p) digits = digits * 10 + static_cast<uint64_t>(*p - '0');
  int64_t n_digits = p - whole;
  int64_t n_decimals = 0;
  if (*p == '.') {
    const char* const decimals = ++p;
    for (; is_digit(*p); ++p) digits = digits * 10 + static_cast<uint64_t>(*p - '0');
    n_decimals = p - decimals;
    n_digits += n_decimals;
  }
  // Up to 19 digits do not overflow, and up to 2^53 are exact in a double, as are the powers of ten.
  if (n_digits == 0 || n_digits > 19 || digits > (uint64_t{1} << 53) || (*p | 0x20) == 'e') [[unlikely]] {
    return parse_long_decimal(begin, value);
  }
  // The quotient is the double nearest to the number. Rounding it again gives the nearest float, unless it
  // lies exactly between two floats (29 bits are dropped): only the number itself then says which is nearer.
  const double quotient = static_cast<double>(digits) / kPowersOfTen[n_decimals];
  const bool halfway = (std::bit_cast<uint64_t>(quotient) & 0x1fffffff) == 0x10000000;
  if (halfway || (quotient < std::numeric_limits<float>::min() && digits != 0)) [[unlikely]]
    return parse_long_decimal(begin, value);
  value = static_cast<float>(negative ? -quotient : quotient);
  return p;
}

}  // namespace labeltree
