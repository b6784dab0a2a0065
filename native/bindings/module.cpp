#include "bindings/bindings.h"

NB_MODULE(_native, m) {
  m.doc() = "The compiled kernel of labeltree. Private: everything public is re-exported by the package.";
  labeltree::bind_features(m);
  labeltree::bind_kernels(m);
  labeltree::bind_prediction(m);
  labeltree::bind_exchange(m);
  labeltree::bind_text_format(m);
  labeltree::bind_texts(m);
  labeltree::bind_vectorizer(m);
  labeltree::bind_training(m);
  labeltree::bind_max_margin(m);
  labeltree::bind_one_vs_rest(m);
  labeltree::bind_online(m);
  labeltree::bind_clustering(m);
  labeltree::bind_fastxml(m);
}
