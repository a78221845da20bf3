#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sotto/core/hash.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// Noise that one agent shares with one other: its part of a covariance block of two agents.
struct NoiseLink {
    int other = 0;     ///< the other agent
    int pair = 0;      ///< index of the pair
    double own = 0;    ///< what the pair adds to the agent's own variance
    double cross = 0;  ///< what it adds to the covariance with the other
};

/// R = diag(s2_u) + sum over pairs of a block of two agents, of which every other agent knows
/// nothing and both members everything: the noise of plans along edges. Memory: linear in the
/// pairs.
class PairwiseNoise {
  public:
    /// The noise of a plan with scale 1. Nothing if the plan has another form: noise that is not
    /// Gaussian or depends on the receiver, a trusted mean, or a stream of more than two agents or
    /// whose seed others hold.
    [[nodiscard]] static std::optional<PairwiseNoise> of(const NoisePlan& plan);
    /// s2_u on every agent and b (e_i - e_j)(e_i - e_j)^T on every pair; set_values sets both.
    PairwiseNoise(int agents, std::span<const std::pair<int, int>> pairs);

    /// @param private_variance s2_u >= 0.   @param pair_variance b >= 0.
    void set_values(const Eigen::VectorXd& private_variance, const Eigen::VectorXd& pair_variance);
    /// What a coalition does not know: without its members' noise and without their pairs.
    [[nodiscard]] PairwiseNoise without(std::span<const int> coalition) const;

    [[nodiscard]] int agents() const { return static_cast<int>(private_.size()); }
    /// Whether no two agents share noise.
    [[nodiscard]] bool alone() const { return links_.empty(); }
    void add_to(Hasher& hasher) const;
    [[nodiscard]] double private_variance(int agent) const { return private_(agent); }
    /// R_uu.
    [[nodiscard]] double variance(int agent) const { return variance_(agent); }
    [[nodiscard]] std::span<const NoiseLink> links(int agent) const {
        const auto u = static_cast<std::size_t>(agent);
        return {links_.data() + starts_[u], starts_[u + 1] - starts_[u]};
    }

  private:
    struct Block {
        int first = 0, second = 0;
        double first_variance = 0, second_variance = 0, covariance = 0;
    };
    static std::vector<Block> merged(std::vector<Block> blocks);
    void set_links(std::span<const Block> blocks);
    void sum_variances();

    Eigen::VectorXd private_, variance_;
    std::vector<NoiseLink> links_;
    std::vector<std::size_t> starts_;
};

}  // namespace sotto
