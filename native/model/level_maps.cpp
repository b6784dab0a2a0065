#include "model/level_maps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/corrupt_model.h"

namespace labeltree {

void LevelMaps::check(int64_t n_levels) const {
  const auto fail = [](const std::string& what) { throw CorruptModel("calibration: " + what); };
  const auto n = static_cast<size_t>(n_levels);
  if (knot_begin.empty()) {
    if (slope.size() != n || intercept.size() != n) fail("there is not one map for each level");
    for (size_t level = 0; level < n; ++level) {
      if (!std::isfinite(slope[level]) || !std::isfinite(intercept[level]) || slope[level] < 0) {
        fail("the map of level " + std::to_string(level) + " is not monotone");
      }
    }
    return;
  }
  if (!slope.empty() || !intercept.empty()) fail("the maps are of two kinds");
  if (knot_begin.size() != n + 1) fail("there is not one map for each level");
  const auto n_knots = static_cast<int64_t>(knot_score.size());
  if (knot_probability.size() != knot_score.size() || knot_begin.front() != 0 ||
      knot_begin.back() != n_knots) {
    fail("knot_begin does not span the knots");
  }
  for (size_t level = 0; level < n; ++level) {
    const int64_t begin = knot_begin[level], end = knot_begin[level + 1];
    // Before any knot is looked at: those of this level need not be within bounds.
    if (begin >= end || end > n_knots) fail("level " + std::to_string(level) + " has no knots");
    for (int64_t k = begin; k < end; ++k) {
      const float p = knot_probability[k];
      const bool ascends = k == begin || (knot_score[k] > knot_score[k - 1] && p >= knot_probability[k - 1]);
      if (!std::isfinite(knot_score[k]) || !(p >= 0 && p <= 1) || !ascends) {
        fail("the map of level " + std::to_string(level) + " is not monotone");
      }
    }
  }
}

float LevelMaps::sigmoid(int32_t level, float score) const {
  // An infinite score times 0 is not a number.
  const float product = slope[level] == 0 ? 0.0f : slope[level] * score;
  return 1 / (1 + std::exp(-(product + intercept[level])));
}

float LevelMaps::interpolate(int32_t level, float score) const {
  const float* begin = knot_score.data() + knot_begin[level];
  const float* last = knot_score.data() + knot_begin[level + 1] - 1;
  const float* p = knot_probability.data() + knot_begin[level];
  if (score < *begin) return p[0];
  // The last knot that is not above the score, without branches that nobody could foretell.
  const float* knot = begin;
  for (auto n = last - begin + 1; n > 1;) {
    const auto half = n / 2;
    knot += knot[half] <= score ? half : 0;
    n -= half;
  }
  p += knot - begin;
  if (knot == last) return p[0];
  const float share = (score - knot[0]) / (knot[1] - knot[0]);
  return std::min(p[0] + (p[1] - p[0]) * share, p[1]);
}

void LevelMaps::apply(int32_t level, float* scores, int32_t n) const {
  const bool has_knots = !knot_begin.empty();
  for (int32_t c = 0; c < n; ++c) {
    const bool is_number = scores[c] == scores[c];
    const float p = has_knots ? interpolate(level, scores[c]) : sigmoid(level, scores[c]);
    scores[c] = is_number && p >= 0 ? p : 0.0f;
  }
}

float LevelMaps::cut(int32_t level, float parent, float least) const {
  constexpr float everything = -std::numeric_limits<float>::infinity();
  if (knot_begin.empty()) return everything;  // rounding may make the sigmoid not quite monotone
  const float* begin = knot_probability.data() + knot_begin[level];
  const float* end = knot_probability.data() + knot_begin[level + 1];
  const float* reaches = std::partition_point(begin, end, [&](float p) { return parent * p < least; });
  // No score up to the knot before has a larger probability than that knot.
  return reaches == begin ? everything : knot_score[reaches - 1 - knot_probability.data()];
}

float log_odds(float probability) {
  constexpr float least = 1e-6f;
  const float p = std::clamp(probability, least, 1 - least);
  return std::log(p / (1 - p));
}

}  // namespace labeltree
