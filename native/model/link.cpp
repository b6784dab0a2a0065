#include "model/link.h"

#include <algorithm>
#include <cmath>

namespace labeltree {

float apply_link(Link link, float score) {
  float p;
  switch (link) {
    case Link::sigmoid:
      p = 1 / (1 + std::exp(-score));
      break;
    case Link::sigmoid2:
      p = 1 / (1 + std::exp(-2 * score));
      break;
    case Link::clip:
      p = (1 + score) / 2;
      break;
    default: {
      const float h = std::max(1 - score, 0.0f);  // in this order NaN stays NaN
      float power = h * h;
      for (int n = 2; n < static_cast<int>(link); ++n) power *= h;
      // Beyond this the exponential is 0 in float32; the library takes long to say so.
      p = power > 104 ? 0.0f : std::exp(-power);
    }
  }
  return p >= 0 ? std::min(p, 1.0f) : 0.0f;  // not a number, from a hostile file, becomes 0 too
}

void apply_link(Link link, float* scores, int32_t n) {
  for (int32_t c = 0; c < n; ++c) scores[c] = apply_link(link, scores[c]);
}

void apply_softmax(float* scores, int32_t n) {
  if (n == 2) {
    apply_link(Link::sigmoid, scores, n);
    return;
  }
  const float largest = *std::max_element(scores, scores + n);
  float sum = 0;
  for (int32_t c = 0; c < n; ++c) {
    // Huge features may make infinite scores, whose difference is not a number.
    scores[c] = scores[c] == largest ? 1.0f : std::exp(scores[c] - largest);
    sum += scores[c];
  }
  // Nor may a score itself be one, from such features or a hostile file: then no child is better than
  // another.
  const bool known = sum >= 1;
  for (int32_t c = 0; c < n; ++c) scores[c] = known ? scores[c] / sum : 1.0f / static_cast<float>(n);
}

void apply_joint_softmax(const float* scores, const uint8_t* code, int32_t n_codes, float* out, int32_t n) {
  const float largest = *std::max_element(scores, scores + n_codes);
  float sum = 0;
  const auto add_up = [&](const auto& power) {
    sum = 0;
    std::fill(out, out + n, 0.0f);
    for (int32_t k = 0; k < n_codes; ++k) {
      const float p = power(scores[k]);
      sum += p;
      for (int32_t c = 0; c < n; ++c) out[c] += code[k] >> c & 1 ? p : 0.0f;
    }
  };
  // Huge features may make infinite scores, whose difference is not a number.
  add_up([&](float score) { return score == largest ? 1.0f : std::exp(score - largest); });
  // Nor may a score itself be one, from such features or a hostile file: then no code is better than another.
  if (!(sum >= 1)) add_up([](float) { return 1.0f; });
  for (int32_t c = 0; c < n; ++c) out[c] = std::min(out[c] / sum, 1.0f);
}

void normalize_siblings(float* probabilities, int32_t n) {
  float sum = 0;
  for (int32_t c = 0; c < n; ++c) sum += probabilities[c];
  if (sum >= 1) return;
  for (int32_t c = 0; c < n; ++c) {
    probabilities[c] = sum > 0 ? std::min(probabilities[c] / sum, 1.0f) : 1.0f / static_cast<float>(n);
  }
}

}  // namespace labeltree
