// The rows of nodes across the boundary: a dict of row_begin, rows and, where labels have weights, weight.
#pragma once

#include <optional>
#include <utility>

#include "bindings/core/views.h"
#include "training/assignment_check.h"
#include "training/node_assignment.h"
#include "training/sibling_blocks.h"

namespace labeltree {

inline nb::dict to_numpy(NodeAssignment&& assignment, bool has_weight) {
  nb::dict result;
  result["row_begin"] = to_numpy(std::move(assignment.row_begin));
  result["rows"] = to_numpy(std::move(assignment.rows));
  if (has_weight) result["weight"] = to_numpy(std::move(assignment.weight));
  return result;
}

// The rows of nodes that were given, or that are found now. It is made and ended with the GIL, and finds rows
// without it.
class Assignment {
 public:
  explicit Assignment(const std::optional<nb::dict>& given) {
    if (!given) return;
    const auto array = [&]<class T>(const char* name, const char* type, T) {
      if (!given->contains(name)) {
        throw nb::type_error((std::string("assignment has no array ") + name).c_str());
      }
      return array_of<T>((*given)[name], name, type);
    };
    row_begin_ = array("row_begin", "int64", int64_t{});
    rows_ = array("rows", "int32", int32_t{});
    if (given->contains("weight")) weight_ = array("weight", "float32", float{});
    is_given_ = true;
  }

  // The rows of the nodes in these blocks, checked.
  NodeRows find(const LabelTreeView& tree, const Examples& examples, const BlockRange& range, int n_threads,
                const Progress& progress) {
    if (!is_given_) {
      found_ = assign_to_nodes(tree, examples.labels, examples.label_weight, n_threads, progress);
      return found_.view();
    }
    const auto size = [](const auto& array) { return array.is_valid() ? int64_t(array.size()) : 0; };
    const GivenAssignment given{
        {row_begin_.data(), rows_.data(), weight_.is_valid() ? weight_.data() : nullptr},
        size(row_begin_),
        size(rows_),
        size(weight_)};
    check_assignment(given, tree, examples, range, n_threads, progress);
    return given.view;
  }

 private:
  bool is_given_ = false;
  Array<int64_t> row_begin_;
  Array<int32_t> rows_;
  Array<float> weight_;
  NodeAssignment found_;
};

// The blocks from `first` to `last`, which is -1 for the end.
inline BlockRange block_range(const LabelTreeView& tree, int64_t first, int64_t last) {
  const int64_t n_blocks = all_blocks(tree).size();
  const BlockRange range{first, last == -1 ? n_blocks : last};
  if (range.first >= 0 && range.first <= range.last && range.last <= n_blocks) return range;
  throw std::invalid_argument("expected first_block and last_block in ascending order from 0 to " +
                              std::to_string(n_blocks) + ", or -1 for the last one, got " +
                              std::to_string(first) + " and " + std::to_string(last));
}

}  // namespace labeltree
