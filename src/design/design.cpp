#include "sotto/design/design.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/parallel.hpp"
#include "design/changing_utility.hpp"
#include "design/mixing_search.hpp"
#include "design/temporal_utility.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {

TemporalShape parse_temporal(std::string_view option,
                             std::string_view text,
                             std::string_view also) {
    constexpr std::string_view banded = "banded:";
    TemporalShape shape;
    if (text == "dense") return shape;
    if (text == "one-lag") {
        shape.kind = TemporalShape::Kind::one_lag;
        return shape;
    }
    if (text.starts_with(banded)) {
        shape.kind = TemporalShape::Kind::banded;
        const long long band = parse_integer(option, text.substr(banded.size()));
        require_in_range(option, static_cast<double>(band), 0, 1e6);
        shape.band = static_cast<long>(band);
        return shape;
    }
    std::vector<std::string> allowed{"dense", "banded:B", "one-lag"};
    if (!also.empty()) allowed.emplace_back(also);
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const TemporalShape& shape) {
    std::string name = "dense";
    if (shape.kind == TemporalShape::Kind::banded) name = fmt::format("banded:{}", shape.band);
    if (shape.kind == TemporalShape::Kind::one_lag) name = "one-lag";
    return shape.restart > 0 ? fmt::format("{}, begun anew every {} rounds", name, shape.restart)
                             : name;
}

std::string temporal_text(TemporalShape shape) {
    shape.restart = 0;
    return name_of(shape);
}

long ModelAverage::tail_rounds(long rounds) const {
    return std::clamp(std::lround(std::ceil(value * static_cast<double>(rounds))), 1L, rounds);
}

ModelAverage parse_average(std::string_view option, std::string_view text) {
    constexpr std::string_view tail = "tail:", exponential = "ema:";
    if (text == "none") return {};
    if (text.starts_with(tail)) {
        const double share = parse_real(option, text.substr(tail.size()));
        if (!(share > 0 && share <= 1))
            throw ConfigError(fmt::format(
                "{}: {} is not allowed (tail:F with F above 0, at most 1)", option, text));
        return {ModelAverage::Kind::tail, share};
    }
    if (text.starts_with(exponential)) {
        const double decay = parse_real(option, text.substr(exponential.size()));
        if (!(decay >= 0 && decay < 1))
            throw ConfigError(fmt::format(
                "{}: {} is not allowed (ema:B with B from 0 to below 1)", option, text));
        return {ModelAverage::Kind::exponential, decay};
    }
    const std::vector<std::string> allowed{"none", "tail:F", "ema:B"};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const ModelAverage& average) {
    switch (average.kind) {
        case ModelAverage::Kind::tail:
            return fmt::format("tail:{}", average.value);
        case ModelAverage::Kind::exponential:
            return fmt::format("ema:{}", average.value);
        case ModelAverage::Kind::none:
            break;
    }
    return "none";
}

void Smoothing::set_average(const ModelAverage& average, long rounds) {
    tail_rounds = average.kind == ModelAverage::Kind::tail ? average.tail_rounds(rounds) : 1;
    decay = average.kind == ModelAverage::Kind::exponential ? average.value : 0;
}

namespace {

Eigen::MatrixXd symmetric_utility(const MixingMatrix& mixing, const UtilityGain& gain) {
    const SymmetricEigen eigen = symmetric_eigen(mixing.dense());
    Eigen::VectorXd gains(eigen.values.size());
    parallel_for(gains.size(), linear_algebra_threads(), [&](long i) {
        gains(i) = gain.at(eigen.values(i));
    });
    return multiply(eigen.vectors * gains.asDiagonal(), eigen.vectors.transpose());
}

/// X^T D^-2 X.
Eigen::MatrixXd gram_of_estimates(const Eigen::VectorXd& factors, const Eigen::MatrixXd& mixed) {
    const Eigen::MatrixXd estimates = factors.asDiagonal() * mixed;
    return estimates.transpose() * estimates;
}

/// Sums over k <= m by doubling. With P = W^m, A_m = sum (W^k)^T W^k and B_m = sum k (W^k)^T W^k:
/// A_2m = A_m + P^T A_m P,  B_2m = B_m + P^T (B_m + m A_m) P; one more step appends P W. Every
/// leftmost W^k is multiplied by D^-1.
/// @param factors the diagonal of D^-1.
Eigen::MatrixXd mixing_utility(const Eigen::MatrixXd& step,
                               const Eigen::VectorXd& factors,
                               const UtilityWeights& weights) {
    Eigen::MatrixXd reached = step;
    Eigen::MatrixXd plain = gram_of_estimates(factors, step);
    Eigen::MatrixXd ramped = plain;
    long m = 1;
    int bit = 0;
    while ((weights.length >> (bit + 1)) > 0) ++bit;
    for (--bit; bit >= 0; --bit) {
        const Eigen::MatrixXd later = ramped + static_cast<double>(m) * plain;
        ramped += reached.transpose() * later * reached;
        plain += (reached.transpose() * plain * reached).eval();
        reached = (reached * reached).eval();
        m *= 2;
        if ((weights.length >> bit) % 2 == 1) {
            reached = (reached * step).eval();
            ++m;
            const Eigen::MatrixXd term = gram_of_estimates(factors, reached);
            plain += term;
            ramped += static_cast<double>(m) * term;
        }
    }
    if (!weights.decreasing) return plain;
    return static_cast<double>(weights.length + 1) * plain - ramped;
}

/// The same with a correction, momentum or an average, age by age.
Eigen::MatrixXd smoothed_utility(const Eigen::MatrixXd& step,
                                 const Eigen::VectorXd& factors,
                                 const UtilityWeights& weights,
                                 const Smoothing& smoothing) {
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(step.rows(), step.cols());
    ImpulseResponse<Eigen::MatrixXd> response(smoothing, step, one);
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(step.rows(), step.cols());
    for (long age = 1; age <= weights.length; ++age) {
        sum += weights.at(age) * gram_of_estimates(factors, response.next());
    }
    return sum;
}

Eigen::MatrixXd general_utility(const MixingMatrix& mixing,
                                const UtilityWeights& weights,
                                const GossipPolynomial& gossip,
                                const Smoothing& smoothing) {
    const Eigen::MatrixXd dense = mixing.dense();
    const Eigen::MatrixXd step = gossip.of(dense);
    const Eigen::VectorXd factors = estimate_factors(mixing);
    Eigen::MatrixXd result = smoothing.last_models_of_plain_steps()
                                 ? mixing_utility(step, factors, weights)
                                 : smoothed_utility(step, factors, weights, smoothing);
    if (smoothing.final_gossip.steps() == 0) return result;
    // Polynomials of one matrix commute.
    const Eigen::MatrixXd after = smoothing.final_gossip.of(dense);
    return after.transpose() * result * after;
}

/// Estimates under changing mixing: models divided by w with push-sum.
class Estimates {
  public:
    Estimates(const MixingSchedule& schedule, int gossip_steps, long rounds) {
        if (!schedule.push_sum()) return;
        PushSumWeights weights(schedule.agents());
        for (long round = 0; round < rounds; ++round) {
            for (int step = 0; step < gossip_steps; ++step) weights.mix(schedule.at(round));
            after_round_.push_back(weights.values());
        }
    }
    /// Adds factor * D^-2, with D of the models after a round.
    void add_to(Eigen::MatrixXd& sum, double factor, long round) const {
        if (after_round_.empty())
            sum.diagonal().array() += factor;
        else
            sum.diagonal().array() +=
                factor / after_round_[static_cast<std::size_t>(round)].array().square();
    }

  private:
    std::vector<Eigen::VectorXd> after_round_;
};

/// sum_k w_k P^T P for noise of round `first`, by S_k = W^T (w_k D^-2 + S_{k+1}) W, from the last
/// mixing back to the first.
Eigen::MatrixXd utility_from(const MixingSchedule& schedule,
                             const UtilityWeights& weights,
                             const Estimates& estimates,
                             long first,
                             int gossip_steps) {
    const int n = schedule.agents();
    Eigen::MatrixXd later = Eigen::MatrixXd::Zero(n, n);
    for (long k = weights.length; k >= 1; --k) {
        estimates.add_to(later, weights.at(k), first + k - 1);
        const auto& mixing = schedule.at(first + k - 1).sparse();
        for (int step = 0; step < gossip_steps; ++step) {
            const Eigen::MatrixXd right = later * mixing;
            later = mixing.transpose() * right;
        }
    }
    return later;
}

/// The same with tracking, from the first mixing on.
Eigen::MatrixXd tracking_utility_from(const MixingSchedule& schedule,
                                      const UtilityWeights& weights,
                                      long first,
                                      int gossip_steps) {
    const int n = schedule.agents();
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n), models = sum, tracked = sum;
    for (long k = 1; k <= weights.length; ++k) {
        const auto& mixing = schedule.at(first + k - 1).sparse();
        const auto mix = [&](Eigen::MatrixXd& columns) {
            for (int step = 0; step < gossip_steps; ++step) columns = (mixing * columns).eval();
        };
        if (k <= 2) tracked.diagonal().array() += k == 1 ? 1 : -1;
        mix(tracked);
        models += tracked;
        mix(models);
        sum += weights.at(k) * (models.transpose() * models);
    }
    return sum;
}

}  // namespace

Utility parse_utility(std::string_view option, std::string_view text) {
    if (text == "one-step") return {Utility::Kind::one_step, 1};
    if (text == "trajectory") return {Utility::Kind::trajectory, 0};
    if (text == "final") return {Utility::Kind::final_model, 0};
    constexpr std::string_view prefix = "horizon:";
    if (text.starts_with(prefix)) {
        const long long horizon = parse_integer(option, text.substr(prefix.size()));
        require_in_range(option, static_cast<double>(horizon), 1, 1e9);
        return {Utility::Kind::horizon, static_cast<long>(horizon)};
    }
    const std::vector<std::string> allowed{"one-step", "horizon:H", "trajectory", "final"};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const Utility& utility) {
    switch (utility.kind) {
        case Utility::Kind::one_step:
            return "one-step";
        case Utility::Kind::trajectory:
            return "trajectory";
        case Utility::Kind::final_model:
            return "final";
        case Utility::Kind::horizon:
            break;
    }
    return "horizon:" + std::to_string(utility.horizon);
}

Eigen::MatrixXd utility_matrix(const MixingMatrix& mixing,
                               const Utility& utility,
                               long rounds,
                               const GossipPolynomial& gossip,
                               const Smoothing& used) {
    const UtilityWeights weights = utility_weights(utility, rounds);
    const Smoothing smoothing = counted_smoothing(utility, used);
    if (weights.length == 1 && gossip.steps() == 1 && gossip.plain() &&
        smoothing.none()) {  // no decomposition
        const Eigen::SparseMatrix<double> estimates =
            estimate_factors(mixing).asDiagonal() * mixing.sparse();
        return Eigen::MatrixXd(Eigen::SparseMatrix<double>(estimates.transpose()) * estimates);
    }
    Eigen::MatrixXd result =
        mixing.symmetric()
            ? symmetric_utility(mixing, UtilityGain(utility, rounds, gossip, smoothing))
            : general_utility(mixing, weights, gossip, smoothing);
    return 0.5 * (result + result.transpose());
}

Eigen::MatrixXd utility_matrix(const MixingSchedule& schedule,
                               const Utility& utility,
                               long rounds,
                               int gossip_steps,
                               Correction correction) {
    if (schedule.fixed())
        return utility_matrix(
            schedule.at(0), utility, rounds, gossip_steps, {.correction = correction});
    if (correction == Correction::exact_diffusion ||
        (correction == Correction::tracking && schedule.push_sum()))
        throw Error(ExitCode::other,
                    fmt::format("utility of {} with changing mixing", name_of(correction)));
    constexpr long most_starts = 20;
    const UtilityWeights weights = utility_weights(utility, rounds);
    const long starts = std::min(schedule.period(), most_starts);
    const Estimates estimates(schedule, gossip_steps, schedule.period() + weights.length);
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(schedule.agents(), schedule.agents());
    for (long i = 0; i < starts; ++i) {
        const long first = i * schedule.period() / starts;
        sum += correction == Correction::tracking
                   ? tracking_utility_from(schedule, weights, first, gossip_steps)
                   : utility_from(schedule, weights, estimates, first, gossip_steps);
    }
    sum /= static_cast<double>(starts);
    return 0.5 * (sum + sum.transpose());
}

Eigen::MatrixXd design_utility(const DesignInput& input) {
    if (input.given_utility) return *input.given_utility;
    if (input.schedule)
        return spatial_utility(*input.schedule, {}, design_steps(input), input.gossip.steps());
    return utility_matrix(
        *input.mixing, input.utility, input.rounds, input.gossip, input.smoothing);
}

double default_gap(int agents) { return agents <= 200 ? 0.01 : 0.05; }

std::vector<double> design_steps(const DesignInput& input) {
    std::vector<double> steps;
    for (long t = 0; t < input.rounds; ++t) steps.push_back(input.steps.at(t) / input.steps.at(0));
    return steps;
}

}  // namespace sotto
