#include "bindings.h"

namespace labeltree {

void bind_text_format(nanobind::module_&) {}

}  // namespace labeltree
