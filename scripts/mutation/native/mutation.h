// Which mutant a process runs: the environment variable LABELTREE_MUTANT has its identity.
#pragma once

#include <cstdint>

namespace mutation {

// Constants, so that loops need not look them up again.
extern const uint64_t chosen;
extern const bool recording;
bool note(uint64_t id);  // false

// Internal linkage: code for wide vectors must not be shared with other files.
[[gnu::always_inline]] static inline bool is(uint64_t id) {
  if (__builtin_expect(recording, 0)) return note(id);
  return __builtin_expect(id == chosen, 0);
}

}  // namespace mutation
