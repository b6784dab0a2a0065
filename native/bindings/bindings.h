// One function per part of the kernel; each adds its names to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace labeltree {

void bind_clustering(nanobind::module_& m);
void bind_exchange(nanobind::module_& m);
void bind_features(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);
void bind_max_margin(nanobind::module_& m);
void bind_one_vs_rest(nanobind::module_& m);
void bind_online(nanobind::module_& m);
void bind_prediction(nanobind::module_& m);
void bind_text_format(nanobind::module_& m);
void bind_texts(nanobind::module_& m);
void bind_training(nanobind::module_& m);
void bind_vectorizer(nanobind::module_& m);

}  // namespace labeltree
