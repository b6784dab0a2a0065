// What a forest is asked for: how many labels, which ones, and how to look for them.
#pragma once

#include <cstdint>

namespace labeltree {

// The arrays have an entry per label and belong to the caller. Every forest reads the fields that concern it.
struct Search {
  int64_t k = 1;                           // the largest number of labels per row
  float threshold = 0;                     // labels with a smaller probability are left out
  const float* label_threshold = nullptr;  // of above(): a threshold per label in place of `threshold`
  const double* label_weight = nullptr;    // of top_k(): rank by weight times probability; see ranking.h
  const uint8_t* allowed = nullptr;        // 0 for labels that must not be found
  int beam = 0;                            // of top_k(): nodes of a level that go on; 0 for exact search
  bool missing_as_zero = false;            // of top_k() with several trees; see search/forest.h
  bool normalize_siblings = false;         // scale probabilities of siblings that sum to less than 1
  int n_threads = 1;

  bool allows(int32_t label) const { return allowed == nullptr || allowed[label] != 0; }
  float threshold_of(int32_t label) const {
    return label_threshold != nullptr ? label_threshold[label] : threshold;
  }
};

}  // namespace labeltree
