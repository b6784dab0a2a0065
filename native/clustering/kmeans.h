// Spherical k-means over sparse rows of unit length, clusters as vector lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned_floats.h"
#include "core/feature_matrix.h"
#include "core/progress.h"
#include "training/local_block.h"

namespace labeltree {

struct KMeansOptions {
  bool balanced = true;  // clusters of equal size (give or take one), or as they come
  // Centroids are found on a sample: first_sample rows per cluster, then twice as many, up to `sample`;
  // then all rows are assigned. At each size there are at most max_iter steps, and no more once the mean
  // similarity of rows and centroids gains less than eps.
  int first_sample = 128;
  int sample = 2048;
  int max_iter = 8;
  float eps = 1e-4f;
};

class KMeans {
 public:
  // `makers` has one for every thread that may be used.
  KMeans(const FeatureMatrix& matrix, const KMeansOptions& options,
         const std::vector<LocalBlockMaker*>& makers)
      : matrix_(matrix), options_(options), makers_(makers) {}

  // The cluster, in [0, k), of each of n > k rows of the matrix. Balanced clusters need 4 bytes for each row
  // and each of the k clusters; others need that for a chunk of the rows per thread.
  std::vector<int32_t> run(const int32_t* rows, int32_t n, int k, uint64_t seed, const Progress& progress);

 private:
  int n_threads() const { return static_cast<int>(makers_.size()); }
  std::vector<int32_t> assign(const AlignedFloats& similarity, int32_t n) const;
  std::vector<int32_t> assign_nearest(const AlignedFloats& similarity, int32_t n) const;
  void find_nearest(const float* similarity, int64_t n, int32_t* cluster) const;
  void place_strangers(std::vector<int32_t>& cluster) const;
  std::vector<int32_t> assign_balanced(const AlignedFloats& similarity, int32_t n) const;
  double mean_similarity(const AlignedFloats& similarity, const std::vector<int32_t>& cluster) const;
  void compare(const LocalBlock& block, int64_t begin, int64_t end, float* similarity) const;
  void start_from_first_rows(const LocalBlock& block);
  void move_centroids(const LocalBlock& block, const std::vector<int32_t>& cluster);
  void add_row(const LocalBlock& block, size_t row, int32_t cluster, float sign);

  const FeatureMatrix& matrix_;
  const KMeansOptions& options_;
  const std::vector<LocalBlockMaker*>& makers_;
  int k_ = 0, lanes_ = 0;
  AlignedFloats centroids_;         // [feature of the sample][lane], to be multiplied by
  std::vector<float> scale_;        // [lane]
  std::vector<double> squares_;     // [lane], of the sums that the centroids are
  std::vector<int32_t> n_members_;  // [lane]
  std::vector<int32_t> member_;     // per row: the sum it is in, or -1
};

}  // namespace labeltree
