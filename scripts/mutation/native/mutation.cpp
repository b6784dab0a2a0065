#include "mutation.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace mutation {
namespace {

// The file that LABELTREE_MUTANTS_REACHED names: a hash table of identities, shared by all processes of a test.
constexpr uint64_t kSlots = 1 << 17;

std::atomic<uint64_t>* open_table() {
  const char* path = std::getenv("LABELTREE_MUTANTS_REACHED");
  if (path == nullptr) return nullptr;
  const int file = open(path, O_RDWR);
  if (file < 0) std::abort();
  void* table = mmap(nullptr, kSlots * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (table == MAP_FAILED) std::abort();
  return static_cast<std::atomic<uint64_t>*>(table);
}

std::atomic<uint64_t>* const table = open_table();

uint64_t read_chosen() {
  const char* text = std::getenv("LABELTREE_MUTANT");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 16);
}

}  // namespace

const uint64_t chosen = read_chosen();
const bool recording = table != nullptr;

bool note(uint64_t id) {
  for (uint64_t slot = id % kSlots;; slot = (slot + 1) % kSlots) {
    uint64_t there = table[slot].load(std::memory_order_relaxed);
    if (there == id) return false;
    if (there == 0 && (table[slot].compare_exchange_strong(there, id) || there == id)) return false;
  }
}

}  // namespace mutation
