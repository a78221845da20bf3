#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <vector>

#include "sotto/plan/noise_plan.hpp"
#include "sotto/trust/key_ring.hpp"

namespace sotto {

/// Rounds every value to the nearest multiple of `grid_step` (a power of two). Exact; values must
/// be below 2^50 grid steps.
void round_to_grid(std::span<double> values, double grid_step);
/// Rounds every value toward zero to a multiple of `grid_step`: norms never grow.
void truncate_to_grid(std::span<double> values, double grid_step);

/// Draws the noise v_u(t) of the agents of one process, as the plan says.
///
/// Streams shared by several of these agents are generated once; coordinates are worked off in
/// tiles, so memory stays at a few megabytes beside the result, whatever the dimension and the
/// number of rounds. The value of a coordinate depends only on the seeds, the epoch, the round and
/// the plan.
class NoiseSource {
  public:
    /// @param rings one per local agent, holding the seeds the plan entitles it to.
    /// @throws CryptoError if a seed is missing.
    NoiseSource(const NoisePlan& plan, std::span<const KeyRing> rings, int threads);

    /// noise (dimension x local agents) of one round, rounded to the plan's grid.
    /// Cost: streams of the process * dimension normals, and one multiplication and addition for
    /// every coefficient and coordinate.
    void draw(std::uint32_t epoch, std::uint64_t round, Eigen::Ref<Eigen::MatrixXd> noise);

    [[nodiscard]] int streams() const { return static_cast<int>(streams_.size()); }
    /// Bytes kept beside the result, at most, for vectors of this dimension.
    [[nodiscard]] static std::int64_t scratch_bytes(std::int64_t streams, std::int64_t dimension);

  private:
    struct Combination {
        std::vector<int> columns;     // into streams_
        std::vector<double> weights;  // coefficient * scale
    };
    std::vector<NormalStream> streams_;
    std::vector<Combination> combinations_;  // one per local agent
    double grid_step_;
    int threads_;
    Eigen::MatrixXd bank_;                                  // tile x streams
    std::vector<std::vector<const double*>> column_lists_;  // one per local agent
};

}  // namespace sotto
