// One function per part of the kernel; each adds its names to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace labeltree {

void bind_text_format(nanobind::module_& m);

}  // namespace labeltree
