#include "design/scheduled_utility.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/linear_algebra.hpp"
#include "core/parallel.hpp"
#include "design/temporal_utility.hpp"
#include "plan/lagged_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double most_numbers = 1e8;

/// The rounds of a schedule, and the effect of each round's noise on all later models.
class ScheduledRounds {
  public:
    ScheduledRounds(const MixingSchedule& schedule, long rounds, int gossip_steps)
        : schedule_(schedule), gossip_steps_(gossip_steps) {
        const double n = schedule.agents();
        if (rounds > most_dense_rounds || static_cast<double>(rounds) * n * n > most_numbers)
            throw ConfigError(
                fmt::format("rounds: {} of {} agents are too many where mixing changes and rounds "
                            "are correlated (at most {} rounds, and rounds * agents^2 up to {:g})",
                            rounds,
                            schedule.agents(),
                            most_dense_rounds,
                            most_numbers));
        transposed_.resize(static_cast<std::size_t>(schedule.period()));
        for (long t = 0; t < schedule.period(); ++t)
            transposed_[static_cast<std::size_t>(t)] = schedule.at(t).sparse().transpose();
        remain(rounds);
    }
    [[nodiscard]] Index count() const { return static_cast<Index>(left_.size()); }
    /// Q_t.
    [[nodiscard]] const MatrixXd& left(Index round) const {
        return left_[static_cast<std::size_t>(round)];
    }
    /// Applies a round's exchanges to columns.
    void mix(Index round, MatrixXd& columns) const {
        multiply(schedule_.at(round).sparse(), columns);
    }
    /// The adjoint of mix().
    void mix_back(Index round, MatrixXd& columns) const {
        multiply(transposed_[static_cast<std::size_t>(round % schedule_.period())], columns);
    }

  private:
    void multiply(const SparseRows& by, MatrixXd& columns) const {
        for (int step = 0; step < gossip_steps_; ++step) columns = (by * columns).eval();
    }
    /// The diagonal of D^-2 after every round.
    [[nodiscard]] std::vector<VectorXd> squared_factors(long rounds) const {
        PushSumWeights weights(schedule_.agents());
        std::vector<VectorXd> factors;
        for (long t = 0; t < rounds; ++t) {
            for (int step = 0; schedule_.push_sum() && step < gossip_steps_; ++step)
                weights.mix(schedule_.at(t));
            factors.emplace_back(weights.values().array().square().inverse());
        }
        return factors;
    }
    void remain(long rounds) {
        const std::vector<VectorXd> factors = squared_factors(rounds);
        left_.resize(static_cast<std::size_t>(rounds));
        MatrixXd later = MatrixXd::Zero(schedule_.agents(), schedule_.agents());
        for (long t = rounds - 1; t >= 0; --t) {
            const auto at = static_cast<std::size_t>(t);
            later.diagonal() += factors[at];
            mix_back(t, later);  // W^T X, then (W^T X)^T = X W
            later.transposeInPlace();
            mix_back(t, later);
            left_[at] = later;
        }
    }

    const MixingSchedule& schedule_;
    int gossip_steps_;
    std::vector<SparseRows> transposed_;
    std::vector<MatrixXd> left_;
};

}  // namespace

MatrixXd temporal_utility(const MixingSchedule& schedule,
                          const MatrixXd& spatial_covariance,
                          std::span<const double> step_sizes,
                          int gossip_steps) {
    const ScheduledRounds rounds(schedule, std::ssize(step_sizes), gossip_steps);
    MatrixXd utility(rounds.count(), rounds.count());
    parallel_for(rounds.count(), linear_algebra_threads(), [&](long s) {
        MatrixXd noise = spatial_covariance;
        for (Index t = s; t < rounds.count(); ++t) {
            const double both = rounds.left(t).cwiseProduct(noise).sum();
            utility(s, t) = utility(t, s) = step_sizes[static_cast<std::size_t>(s)] *
                                            step_sizes[static_cast<std::size_t>(t)] * both;
            rounds.mix(t, noise);
        }
    });
    return utility;
}

MatrixXd spatial_utility(const MixingSchedule& schedule,
                         const TemporalFactor& factor,
                         std::span<const double> step_sizes,
                         int gossip_steps) {
    const ScheduledRounds rounds(schedule, std::ssize(step_sizes), gossip_steps);
    const Index count = rounds.count();
    const Eigen::Map<const VectorXd> steps(step_sizes.data(), count);
    MatrixXd result = MatrixXd::Zero(schedule.agents(), schedule.agents());
    if (factor.kind == TemporalFactor::Kind::identity) {
        for (Index s = 0; s < count; ++s) result += steps(s) * steps(s) * rounds.left(s);
        return result;
    }
    // Row s: response to unit noise of round s.
    const MatrixXd inverse = steps.asDiagonal() * dense_factor(factor, static_cast<long>(count))
                                                      .triangularView<Eigen::Lower>()
                                                      .solve(MatrixXd::Identity(count, count));
    const MatrixXd weights = inverse * inverse.transpose();
    for (Index s = 0; s < count; ++s) {
        // sum_{t > s} w_st (W_(t-1) ... W_s)^T Q_t, from the last round back.
        MatrixXd later = MatrixXd::Zero(result.rows(), result.cols());
        for (Index t = count - 1; t > s; --t) {
            later += weights(s, t) * rounds.left(t);
            rounds.mix_back(t - 1, later);
        }
        result += weights(s, s) * rounds.left(s) + later + later.transpose();
    }
    return result;
}

MatrixXd joint_utility(const MixingSchedule& schedule,
                       std::span<const double> step_sizes,
                       int gossip_steps) {
    const Index n = schedule.agents();
    require_joint_rows(n, std::ssize(step_sizes));
    const ScheduledRounds rounds(schedule, std::ssize(step_sizes), gossip_steps);
    MatrixXd utility(n * rounds.count(), n * rounds.count());
    for (Index s = 0; s < rounds.count(); ++s) {
        MatrixXd reached = MatrixXd::Identity(n, n);  // W_(t-1) ... W_s
        for (Index t = s; t < rounds.count(); ++t) {
            utility.block(s * n, t * n, n, n) = step_sizes[static_cast<std::size_t>(s)] *
                                                step_sizes[static_cast<std::size_t>(t)] *
                                                reached.transpose() * rounds.left(t);
            utility.block(t * n, s * n, n, n) = utility.block(s * n, t * n, n, n).transpose();
            rounds.mix(t, reached);
        }
    }
    return utility;
}

}  // namespace sotto
