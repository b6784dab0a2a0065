// Writes rows in the XMLC repository's text format.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace labeltree {

// Rows of two CSR matrices as lines "label,label feature:value feature:value". A value is the shortest
// decimal number that is read back as the same float32. A row with neither labels nor features is a single
// space, which survives tools that drop blank lines. indptr need not begin with 0: offsets count from
// indptr[0].
std::string format_text_rows(std::span<const int64_t> feature_indptr, std::span<const int32_t> feature_ids,
                             std::span<const float> values, std::span<const int64_t> label_indptr,
                             std::span<const int32_t> label_ids);

}  // namespace labeltree
