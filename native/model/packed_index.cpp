#include "model/packed_index.h"

#include <algorithm>
#include <limits>

#include "model/corrupt_model.h"

namespace labeltree {

namespace {

constexpr uint32_t kMost = 15;

void append_rest(uint32_t rest, std::vector<uint8_t>& out) {
  for (; rest >= 128; rest >>= 7) out.push_back(static_cast<uint8_t>(rest | 128));
  out.push_back(static_cast<uint8_t>(rest));
}

// Moves `at` behind the number. A number of more than 35 bits is no number of features or entries.
int64_t take_rest(const uint8_t*& at, const uint8_t* end) {
  int64_t rest = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (at == end) break;
    const uint8_t byte = *at++;
    rest |= int64_t{byte & 127} << shift;
    if (byte < 128) return rest;
  }
  corrupt("a number in the index of features does not end");
}

}  // namespace

void pack_features(const int32_t* feature, const uint32_t* entry_begin, int64_t n,
                   std::vector<uint8_t>& out) {
  // The smallest feature that may follow. Unsigned: the features of a damaged file need not ascend.
  uint32_t next = 0;
  for (int64_t f = 0; f < n; ++f) {
    const uint32_t skipped = static_cast<uint32_t>(feature[f]) - next;
    const uint32_t entries = entry_begin[f + 1] - entry_begin[f];
    out.push_back(static_cast<uint8_t>(std::min(skipped, kMost) | std::min(entries, kMost) << 4));
    if (skipped >= kMost) append_rest(skipped - kMost, out);
    if (entries >= kMost) append_rest(entries - kMost, out);
    next = static_cast<uint32_t>(feature[f]) + 1;
  }
}

void unpack_features(Span<uint8_t> packed, int64_t n_features, int64_t n_entries,
                     std::vector<int32_t>& feature, std::vector<uint32_t>& entry_begin) {
  if (n_entries > std::numeric_limits<uint32_t>::max()) corrupt("a block has too many entries");
  feature.clear();
  entry_begin.assign(1, 0);
  feature.reserve(packed.size);
  entry_begin.reserve(packed.size + 1);
  int64_t next = 0, total = 0;
  for (const uint8_t *at = packed.data, *end = at + packed.size; at != end;) {
    const uint8_t byte = *at++;
    int64_t skipped = byte & kMost, entries = byte >> 4;
    if (skipped == kMost) skipped += take_rest(at, end);
    if (entries == kMost) entries += take_rest(at, end);
    next += skipped;
    total += entries;
    if (next >= n_features) corrupt("a feature is out of range");
    if (total > n_entries) corrupt("features have more entries than their block");
    feature.push_back(static_cast<int32_t>(next++));
    entry_begin.push_back(static_cast<uint32_t>(total));
  }
  if (total != n_entries) corrupt("features have fewer entries than their block");
}

}  // namespace labeltree
