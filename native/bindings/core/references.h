// The Python objects that a bound struct keeps alive, shown to the garbage collector: without this, nobody
// could collect a cycle that goes through the struct.
#pragma once

#include <nanobind/nanobind.h>

#include <new>
#include <utility>
#include <vector>

namespace labeltree {

namespace nb = nanobind;

// `T` has a member `visit_references(visit)` that calls visit(nb::object&) for all the objects that it holds.
// The collector must see all of them at any time, also when there is no memory: nothing is allocated here.
template <class T>
int traverse_references(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  int stopped = 0;
  nb::inst_ptr<T>(self)->visit_references([&](const nb::object& held) {
    if (stopped == 0 && held.is_valid()) stopped = visit(held.ptr(), arg);
  });
  return stopped;
}

// The collector calls this for objects that no Python code can reach any more.
template <class T>
int clear_references(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  size_t n = 0;
  nb::inst_ptr<T>(self)->visit_references([&](nb::object&) { ++n; });
  try {
    std::vector<nb::object> released;  // when nothing looks into them any more
    released.reserve(n);
    nb::inst_ptr<T>(self)->visit_references(
        [&](nb::object& held) { released.push_back(std::exchange(held, {})); });
  } catch (const std::bad_alloc&) {  // the collector comes again
  }
  return 0;
}

template <class T>
inline PyType_Slot reference_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse_references<T>)},
    {Py_tp_clear, reinterpret_cast<void*>(&clear_references<T>)},
    {0, nullptr},
};

}  // namespace labeltree
