#include "search/forest.h"

#include "search/forest_answers.h"

namespace labeltree {

void check_alike(const BlockStore& one, const BlockStore& other) {
  if (one.tree().n_labels != other.tree().n_labels || one.n_features() != other.n_features() ||
      one.dense() != other.dense()) {
    throw CorruptModel("the trees of a model differ in their number of labels or features");
  }
}

template class ForestOf<BlockStore>;

}  // namespace labeltree
