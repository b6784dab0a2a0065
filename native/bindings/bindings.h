// One function per part of the kernel; each adds its names to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace labeltree {

void bind_block_costs(nanobind::module_& m);
void bind_block_groups(nanobind::module_& m);
void bind_block_solver(nanobind::module_& m);
void bind_block_store(nanobind::module_& m);
void bind_decoding(nanobind::module_& m);
void bind_enumeration(nanobind::module_& m);
void bind_example_forest(nanobind::module_& m);
void bind_example_tree(nanobind::module_& m);
void bind_example_order(nanobind::module_& m);
void bind_examples(nanobind::module_& m);
void bind_feature_matrix(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_guided_search(nanobind::module_& m);
void bind_held_out_blocks(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);
void bind_label_clustering(nanobind::module_& m);
void bind_label_columns(nanobind::module_& m);
void bind_label_tree(nanobind::module_& m);
void bind_label_vectors(nanobind::module_& m);
void bind_link(nanobind::module_& m);
void bind_score_bins(nanobind::module_& m);
void bind_max_margin(nanobind::module_& m);
void bind_node_assignment(nanobind::module_& m);
void bind_one_vs_rest(nanobind::module_& m);
void bind_online_tree(nanobind::module_& m);
void bind_online_forest(nanobind::module_& m);
void bind_progress(nanobind::module_& m);
void bind_quantization(nanobind::module_& m);
void bind_reranked_forest(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_softmax_trainer(nanobind::module_& m);
void bind_solver_options(nanobind::module_& m);
void bind_tree_policy(nanobind::module_& m);
void bind_vector_trainer(nanobind::module_& m);
void bind_vectorizer(nanobind::module_& m);
void bind_xmlc(nanobind::module_& m);

}  // namespace labeltree
