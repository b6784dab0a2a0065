// The weights of trees across the boundary.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bindings/core/arrays.h"
#include "model/block_arrays.h"
#include "model/block_store.h"

namespace labeltree {

// A BlockStore and the arrays it looks into.
struct BoundStore {
  std::vector<nb::object> owners;
  std::shared_ptr<const BlockStore> store;
};

// By the names that model files use; those that most models do not have are left out where they are empty.
inline nb::dict to_numpy(BlockArrays&& arrays) {
  nb::dict result;
  result["block_begin"] = to_numpy(std::move(arrays.block_begin));
  result["block_entry_begin"] = to_numpy(std::move(arrays.block_entry_begin));
  result["feature"] = to_numpy(std::move(arrays.feature));
  result["entry_begin"] = to_numpy(std::move(arrays.entry_begin));
  result["column"] = to_numpy(std::move(arrays.column));
  result["weight"] = to_numpy(std::move(arrays.weight));
  result["bias"] = to_numpy(std::move(arrays.bias));
  if (!arrays.code.empty()) {
    result["code_begin"] = to_numpy(std::move(arrays.code_begin));
    result["code"] = to_numpy(std::move(arrays.code));
    result["code_bias"] = to_numpy(std::move(arrays.code_bias));
  }
  return result;
}

}  // namespace labeltree
