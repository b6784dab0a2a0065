#include "bindings/bindings.h"

NB_MODULE(_native, m) {
  nanobind::set_leak_warnings(false);  // torch and other packages keep objects alive until Python is gone
  m.doc() = "The compiled kernel of labeltree. Private: everything public is re-exported by the package.";
  // A type is bound before the functions that take it.
  labeltree::bind_progress(m);
  labeltree::bind_feature_matrix(m);
  labeltree::bind_label_tree(m);
  labeltree::bind_examples(m);
  labeltree::bind_kernels(m);
  labeltree::bind_link(m);
  labeltree::bind_score_bins(m);
  labeltree::bind_solver_options(m);
  labeltree::bind_example_order(m);
  labeltree::bind_block_store(m);
  labeltree::bind_label_columns(m);
  labeltree::bind_quantization(m);
  labeltree::bind_search(m);
  labeltree::bind_forest(m);
  labeltree::bind_reranked_forest(m);
  labeltree::bind_example_forest(m);
  labeltree::bind_tree_policy(m);
  labeltree::bind_online_tree(m);
  labeltree::bind_online_forest(m);
  labeltree::bind_enumeration(m);
  labeltree::bind_guided_search(m);
  labeltree::bind_node_assignment(m);
  labeltree::bind_block_solver(m);
  labeltree::bind_block_groups(m);
  labeltree::bind_block_costs(m);
  labeltree::bind_held_out_blocks(m);
  labeltree::bind_softmax_trainer(m);
  labeltree::bind_vector_trainer(m);
  labeltree::bind_max_margin(m);
  labeltree::bind_one_vs_rest(m);
  labeltree::bind_label_vectors(m);
  labeltree::bind_label_clustering(m);
  labeltree::bind_example_tree(m);
  labeltree::bind_xmlc(m);
  labeltree::bind_decoding(m);
  labeltree::bind_vectorizer(m);
}
