#include "design/changing_utility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/parallel.hpp"
#include "design/mixing_search.hpp"
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
            if (t > s)
                utility.block(t * n, s * n, n, n) = utility.block(s * n, t * n, n, n).transpose();
            rounds.mix(t, reached);
        }
    }
    return utility;
}

namespace {

/// W = 1 - sum_e a_e b_e^T over links e = {u, v}, a_e = w_uv e_u - w_vu e_v and b_e = e_u - e_v; a
/// link counts in a round if both ends are present.
class LossyMixing {
  public:
    LossyMixing(const MixingMatrix& mixing, double probability)
        : lost_(probability),
          kept_(1 - probability),
          difference_(-mixing.sparse()),
          links_(static_cast<std::size_t>(mixing.agents())) {
        for (int u = 0; u < mixing.agents(); ++u) difference_.coeffRef(u, u) += 1;
        for (int u = 0; u < mixing.agents(); ++u)
            for (const int v : mixing.members(u))
                if (v != u) add_link(mixing, u, v);
    }

    /// E[W_S^T X W_S] of a symmetric X, exactly symmetric: an antisymmetric part would grow from
    /// step to step.
    [[nodiscard]] MatrixXd mixed(const MatrixXd& x) const {
        const MatrixXd product = x * difference_;
        MatrixXd result = x - kept_ * kept_ * (product + product.transpose());
        add_squares(result, x, product);
        return 0.5 * (result + result.transpose());
    }

    /// E[D W_S^T X W_S D]; W_S D = D - L_S.
    [[nodiscard]] MatrixXd sent(const MatrixXd& x) const {
        const MatrixXd product = x * difference_;
        MatrixXd cross = kept_ * kept_ * kept_ * product;
        add_own_rows(cross, x);
        MatrixXd result = kept_ * kept_ * x - cross - cross.transpose();
        result.diagonal() += kept_ * lost_ * x.diagonal();
        add_squares(result, x, product);
        return result;
    }

    /// E[1{holders present} |W_S f|^2_X], f zero except at the holders: with x = f - sum over links
    /// of holders, those to an outside agent v count together with probability q.
    [[nodiscard]] double recovered(const MatrixXd& x,
                                   const VectorXd& stream,
                                   const std::vector<int>& holders) const {
        VectorXd mean = stream;
        double scatter = 0, all_there = 1;
        MatrixXd outside = MatrixXd::Zero(x.rows(), x.cols());  // by the agent that may be missing
        std::vector<bool> reached(static_cast<std::size_t>(x.rows()), false);
        for (const int u : holders) {
            all_there *= kept_;
            for (const Link& e : links_[static_cast<std::size_t>(u)]) {
                const bool inside = std::ranges::binary_search(holders, e.other);
                if (inside && !e.counted) continue;
                const double slope = stream(u) - stream(e.other);
                const double share = inside ? 1 : kept_;
                mean(u) -= share * slope * e.own;
                mean(e.other) += share * slope * e.back;
                if (inside) continue;
                outside(u, e.other) += slope * e.own;
                outside(e.other, e.other) -= slope * e.back;
                reached[static_cast<std::size_t>(e.other)] = true;
            }
        }
        for (Index v = 0; v < x.rows(); ++v)
            if (reached[static_cast<std::size_t>(v)])
                scatter += outside.col(v).dot(x * outside.col(v));
        return all_there * (mean.dot(x * mean) + kept_ * lost_ * scatter);
    }

  private:
    struct Link {
        int other;
        double own;    // w_uv
        double back;   // w_vu
        bool counted;  // once per link: by the end with the smaller number
    };

    void add_link(const MixingMatrix& mixing, int u, int v) {
        const double own = mixing.weight(u, v), back = mixing.weight(v, u);
        links_[static_cast<std::size_t>(u)].push_back({v, own, back, u < v});
        // On directed graphs v may not hear u, and then does not list the link.
        bool named = false;
        for (const int w : mixing.members(v)) named = named || w == u;
        if (!named) links_[static_cast<std::size_t>(v)].push_back({u, back, own, v < u});
    }

    /// a_e^T X a_f of two links of u.
    static double between(const MatrixXd& x, int u, const Link& e, const Link& f) {
        return e.own * f.own * x(u, u) - e.own * f.back * x(u, f.other) -
               e.back * f.own * x(e.other, u) + e.back * f.back * x(e.other, f.other);
    }

    /// Adds q^2 p to rows u of D X L_S for links of u, which count whenever u's row does.
    void add_own_rows(MatrixXd& cross, const MatrixXd& x) const {
        const double factor = kept_ * kept_ * lost_;
        for (Index u = 0; u < x.rows(); ++u)
            for (const Link& e : links_[static_cast<std::size_t>(u)]) {
                const double value = factor * (e.own * x(u, u) - e.back * x(u, e.other));
                cross(u, u) += value;
                cross(u, e.other) -= value;
            }
    }

    /// Adds E[L_S^T X L_S]: two links have q^4, q^3 with one common end, q^2 if they are the same.
    void add_squares(MatrixXd& result, const MatrixXd& x, const MatrixXd& product) const {
        const double two = kept_ * kept_;
        result += two * two * (difference_.transpose() * product);
        for (Index u = 0; u < x.rows(); ++u) add_squares_at(result, x, static_cast<int>(u));
    }

    void add_squares_at(MatrixXd& result, const MatrixXd& x, int u) const {
        const double common = kept_ * kept_ * kept_ * lost_;
        const double same = kept_ * kept_ * lost_ * lost_;
        const auto& links = links_[static_cast<std::size_t>(u)];
        for (const Link& e : links)
            for (const Link& f : links) {
                const bool one = e.other == f.other && e.counted;
                const double value = between(x, u, e, f) * (common + (one ? same : 0));
                result(u, u) += value;
                result(u, f.other) -= value;
                result(e.other, u) -= value;
                result(e.other, f.other) += value;
            }
    }

    double lost_, kept_;
    SparseRows difference_;  // 1 - W
    std::vector<std::vector<Link>> links_;
};

void require_lossy(const MixingMatrix& mixing, double probability) {
    if (!(probability >= 0 && probability < 1))
        throw ConfigError(
            fmt::format("dropout-probability: {} (allowed: from 0 to below 1)", probability));
    if (mixing.push_sum())
        throw ConfigError(
            "dropout-probability: not with push-sum, which would lose the sums of messages that do "
            "not arrive (allowed: mixing whose rows sum to 1)");
}

/// Y_1: the weight of models after the first round.
MatrixXd later_utility(const LossyMixing& lossy, const UtilityWeights& weights, Index agents) {
    MatrixXd later = MatrixXd::Zero(agents, agents);
    for (long age = weights.length; age >= 1; --age) {
        if (age < weights.length) later = lossy.mixed(later);
        later.diagonal().array() += weights.at(age);
    }
    return later;
}

}  // namespace

MatrixXd dropout_utility(const MixingMatrix& mixing,
                         const Utility& utility,
                         long rounds,
                         double probability) {
    require_lossy(mixing, probability);
    const LossyMixing lossy(mixing, probability);
    const MatrixXd result =
        lossy.sent(later_utility(lossy, utility_weights(utility, rounds), mixing.agents()));
    return 0.5 * (result + result.transpose());
}

double recovered_noise(const NoisePlan& plan,
                       const MixingMatrix& mixing,
                       const Utility& utility,
                       long rounds,
                       double probability) {
    require_lossy(mixing, probability);
    const LossyMixing lossy(mixing, probability);
    const MatrixXd later = later_utility(lossy, utility_weights(utility, rounds), mixing.agents());
    const MatrixXd streams = plan.scale * plan.coefficient_matrix();
    double sum = 0;
    for (std::size_t k = 0; k < plan.streams.size(); ++k)
        sum +=
            lossy.recovered(later,
                            streams.col(static_cast<Index>(k)),
                            plan.groups[static_cast<std::size_t>(plan.streams[k].group)].members);
    return sum;
}

}  // namespace sotto
