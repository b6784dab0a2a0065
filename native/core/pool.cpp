#include "core/pool.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define LABELTREE_FORKS 1
#endif

namespace labeltree {

namespace {

std::mutex all_pools;

#if defined(LABELTREE_FORKS)
// Pools are locked for a few instructions at a time, by threads that a child does not have.
[[maybe_unused]] const int registered =
    pthread_atfork([] { all_pools.lock(); }, [] { all_pools.unlock(); }, [] { all_pools.unlock(); });
#endif

}  // namespace

std::mutex& pool_mutex() { return all_pools; }

}  // namespace labeltree
