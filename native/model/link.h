// How the scores of nodes become probabilities.
#pragma once

#include <cstdint>

namespace labeltree {

// How a score becomes a probability. Those named exp have their exponent for a number; sigmoid2 is the
// sigmoid of twice the score. With softmax it takes the scores of all siblings; of two, the second's is the
// negative of the first's, which alone is stored, and their probabilities are the sigmoids.
enum class Link : int {
  sigmoid = 0,
  clip = 1,
  exp2 = 2,
  exp3 = 3,
  exp4 = 4,
  exp5 = 5,
  sigmoid2 = 6,
  softmax = 7
};

// The probability of a score. Not for softmax, which needs the scores of all siblings.
float apply_link(Link link, float score);
// Replaces scores by their probabilities.
void apply_link(Link link, float* scores, int32_t n);

// Replaces the scores of siblings by their softmax.
void apply_softmax(float* scores, int32_t n);

// The probabilities of n children from the scores of codes. A code is a set of children: child c is bit c.
// The softmax of the scores gives the probabilities of the codes; out[c] is the sum over the codes with c.
void apply_joint_softmax(const float* scores, const uint8_t* code, int32_t n_codes, float* out, int32_t n);

// Scales the probabilities of siblings to sum to 1 if they sum to less.
void normalize_siblings(float* probabilities, int32_t n);

}  // namespace labeltree
