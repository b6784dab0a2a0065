// The weights of trees across the boundary.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/arrays.h"
#include "bindings/core/references.h"
#include "bindings/core/views.h"
#include "model/block_arrays.h"
#include "model/block_store.h"

namespace labeltree {

// A BlockStore and the arrays it looks into.
struct BoundStore {
  std::vector<nb::object> owners;
  std::shared_ptr<const BlockStore> store;

  template <class Visit>
  void visit_references(const Visit& visit) {
    for (nb::object& owner : owners) visit(owner);
  }
};

// Throws std::invalid_argument unless the rows have the features that a model knows.
template <class Model>
void check_features(const FeatureMatrix& features, const Model& model) {
  if (features.n_features() != model.n_features()) {
    throw std::invalid_argument("X has the wrong number of features: expected " +
                                std::to_string(model.n_features()) + ", got " +
                                std::to_string(features.n_features()));
  }
  require(features.dense() == model.dense(), "X has other dense features than the model");
}

// By the names that model files use; arrays that most models do not have are left out where they are empty.
inline nb::dict to_numpy(BlockArrays&& arrays, bool has_dense = false, bool has_codes = false) {
  nb::dict result;
  result["block_begin"] = to_numpy(std::move(arrays.block_begin));
  result["block_entry_begin"] = to_numpy(std::move(arrays.block_entry_begin));
  result["feature"] = to_numpy(std::move(arrays.feature));
  result["entry_begin"] = to_numpy(std::move(arrays.entry_begin));
  result["column"] = to_numpy(std::move(arrays.column));
  result["weight"] = to_numpy(std::move(arrays.weight));
  result["bias"] = to_numpy(std::move(arrays.bias));
  if (has_dense) result["dense_weight"] = to_numpy(std::move(arrays.dense_weight));
  if (has_codes || !arrays.code.empty()) {
    result["code_begin"] = to_numpy(std::move(arrays.code_begin));
    result["code"] = to_numpy(std::move(arrays.code));
    result["code_bias"] = to_numpy(std::move(arrays.code_bias));
  }
  return result;
}

}  // namespace labeltree
