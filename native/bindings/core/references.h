// The Python objects that a bound struct keeps alive, shown to the garbage collector: without this, nobody
// could collect a cycle that goes through the struct.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

namespace labeltree {

namespace nb = nanobind;

// `T` has a member `references()` that returns pointers to all the nb::object it holds.
template <class T>
int traverse_references(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const nb::object* held : nb::inst_ptr<T>(self)->references()) Py_VISIT(held->ptr());
  return 0;
}

// The collector calls this for objects that no Python code can reach any more.
template <class T>
int clear_references(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  std::vector<nb::object> released;  // when nothing looks into them any more
  for (nb::object* held : nb::inst_ptr<T>(self)->references()) released.push_back(std::exchange(*held, {}));
  return 0;
}

template <class T>
inline PyType_Slot reference_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse_references<T>)},
    {Py_tp_clear, reinterpret_cast<void*>(&clear_references<T>)},
    {0, nullptr},
};

// Pointers to all the objects in a list.
inline std::vector<nb::object*> pointers_to(std::vector<nb::object>& objects) {
  std::vector<nb::object*> pointers;
  for (nb::object& object : objects) pointers.push_back(&object);
  return pointers;
}

}  // namespace labeltree
