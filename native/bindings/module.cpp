#include "bindings.h"

NB_MODULE(_native, m) {
  m.doc() = "The compiled kernel of labeltree. Private: everything public is re-exported by the package.";
  labeltree::bind_text_format(m);
}
