// The features of a block and their numbers of entries, in little more than a byte for each feature.
#pragma once

#include <cstdint>
#include <vector>

#include "core/span.h"

namespace labeltree {

// A feature takes a byte. Its low four bits are the number of features that the block skips since the one
// before, or since the first of all features; its high four bits are the number of its entries. 15 stands for
// 15 and more: the rest follows, seven bits to a byte, the lowest first, with the highest bit set in every
// byte but the last. If both numbers go on, the skipped features come first.
//
// Appends the n features of a block; entry_begin has one more number, as in BlockArrays.
void pack_features(const int32_t* feature, const uint32_t* entry_begin, int64_t n, std::vector<uint8_t>& out);

// Reads the features of a block, of which there are at most as many as bytes. Throws CorruptModel unless they
// are less than n_features, and have n_entries entries in all.
void unpack_features(Span<uint8_t> packed, int64_t n_features, int64_t n_entries,
                     std::vector<int32_t>& feature, std::vector<uint32_t>& entry_begin);

}  // namespace labeltree
