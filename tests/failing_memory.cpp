// Preloaded by tests/failing_memory.py: makes one allocation of the kernel fail, as if memory had run out.
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<int64_t> n_allocations{0}, failing{0};  // the number of the one that fails; 0 for none
std::atomic<uintptr_t> kernel_begin{0}, kernel_end{0};

int find_kernel(dl_phdr_info* object, size_t, void*) {
  if (std::strstr(object->dlpi_name, "/labeltree/_native.") == nullptr) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    kernel_begin = object->dlpi_addr + part.p_vaddr;
    kernel_end = kernel_begin + part.p_memsz;
  }
  return 1;
}

// Null if this is the one that fails.
void* allocate(size_t size, size_t alignment, void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (failing != 0 && address >= kernel_begin && address < kernel_end && ++n_allocations == failing) {
    return nullptr;
  }
  size = size == 0 ? 1 : size;
  if (alignment == 0) return std::malloc(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(size_t size, size_t alignment, void* caller) {
  void* memory = allocate(size, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Makes the n-th allocation from now on fail; 0: none. Returns how many there were since the last call.
extern "C" int64_t fail_allocation(int64_t n) {
  dl_iterate_phdr(&find_kernel, nullptr);
  failing = 0;
  const int64_t before = n_allocations.exchange(0);
  failing = n;
  return before;
}

#define CALLER __builtin_return_address(0)
void* operator new(size_t n) { return allocate_or_throw(n, 0, CALLER); }
void* operator new[](size_t n) { return allocate_or_throw(n, 0, CALLER); }
void* operator new(size_t n, std::align_val_t a) { return allocate_or_throw(n, size_t(a), CALLER); }
void* operator new[](size_t n, std::align_val_t a) { return allocate_or_throw(n, size_t(a), CALLER); }
void* operator new(size_t n, const std::nothrow_t&) noexcept { return allocate(n, 0, CALLER); }
void* operator new[](size_t n, const std::nothrow_t&) noexcept { return allocate(n, 0, CALLER); }
void* operator new(size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, size_t(a), CALLER);
}
void* operator new[](size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, size_t(a), CALLER);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
