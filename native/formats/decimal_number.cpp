#include "formats/decimal_number.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace labeltree {
namespace {

// The float32 nearest to a number that is known to be well-formed, unsigned and not far out of range.
float nearest_float(std::string_view number, float if_out_of_range) {
#if defined(__APPLE__)  // whose std::from_chars knows no floating point; a null locale is the "C" locale
  (void)if_out_of_range;
  return strtof_l(std::string(number).c_str(), nullptr, nullptr);
#else
  float value = 0;
  const auto result = std::from_chars(number.data(), number.data() + number.size(), value);
  return result.ec == std::errc::result_out_of_range ? if_out_of_range : value;
#endif
}

}  // namespace

const char* parse_long_decimal(const char* p, float& value) {
  constexpr int64_t kLargestExponent = int64_t{1} << 40;  // beyond what any number of digits can make up for
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  const char* const number = p;
  bool any_digit = false;
  bool nonzero = false;
  int64_t magnitude = 0;  // the number is below 10^magnitude, and not below a tenth of it
  for (; is_digit(*p); ++p) {
    any_digit = true;
    nonzero |= *p != '0';
    magnitude += nonzero;
  }
  if (*p == '.') {
    for (++p; is_digit(*p); ++p) {
      any_digit = true;
      nonzero |= *p != '0';
      magnitude -= !nonzero;
    }
  }
  if (!any_digit) return nullptr;
  if (*p == 'e' || *p == 'E') {
    ++p;
    const bool negative_exponent = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    if (!is_digit(*p)) return nullptr;
    int64_t exponent = 0;
    for (; is_digit(*p); ++p) exponent = std::min(exponent * 10 + (*p - '0'), kLargestExponent);
    magnitude += negative_exponent ? -exponent : exponent;
  }
  if (!nonzero || magnitude < -50) {
    value = 0;
  } else if (magnitude > 40) {
    value = kInfinity;
  } else {
    value = nearest_float({number, static_cast<size_t>(p - number)}, magnitude > 0 ? kInfinity : 0.0f);
  }
  if (negative) value = -value;
  return p;
}

}  // namespace labeltree
