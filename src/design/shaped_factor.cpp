#include "design/shaped_factor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/numbers.hpp"
#include "design/joint_solver.hpp"
#include "design/mixing_search.hpp"
#include "design/temporal_solver.hpp"
#include "design/temporal_utility.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// lambda_i^K of symmetric W, and w_i = [V^T R V]_ii.
struct WeightedModes {
    VectorXd values, weights;
};

WeightedModes weighted_modes(const MixingMatrix& mixing,
                             const MatrixXd& covariance,
                             const GossipPolynomial& gossip) {
    MixingModes modes = mixing_modes(mixing, gossip);
    VectorXd weights = mode_weights(modes, covariance);
    return {std::move(modes.values), std::move(weights)};
}

/// H_tt and H_t,t-1 of every round, of symmetric W.
std::pair<VectorXd, VectorXd> two_diagonals(const MixingMatrix& mixing,
                                            const MatrixXd& covariance,
                                            std::span<const double> steps,
                                            const GossipPolynomial& gossip) {
    const auto rounds = static_cast<Index>(steps.size());
    VectorXd diagonal(rounds), subdiagonal = VectorXd::Zero(rounds);
    const WeightedModes modes = weighted_modes(mixing, covariance, gossip);
    // sum over tau >= t of lambda^(2 (tau - t + 1)), from the last round on.
    VectorXd sums = VectorXd::Zero(modes.values.size());
    const VectorXd squares = modes.values.cwiseAbs2();
    for (Index t = rounds - 1; t >= 0; --t) {
        sums = squares.cwiseProduct(sums + VectorXd::Ones(sums.size()));
        const double step = steps[static_cast<std::size_t>(t)];
        diagonal(t) = step * step * modes.weights.dot(sums);
        if (t > 0)
            subdiagonal(t) = step * steps[static_cast<std::size_t>(t - 1)] *
                             modes.weights.dot(modes.values.cwiseProduct(sums));
    }
    return {diagonal, subdiagonal};
}

/// H of `count` rounds from `first` on, within a longer run: all models from these rounds on count.
MatrixXd block_utility(const WeightedModes& modes,
                       std::span<const double> steps,
                       Index first,
                       Index count) {
    const auto rounds = static_cast<Index>(steps.size());
    const VectorXd squares = modes.values.cwiseAbs2();
    // sum over tau >= t of lambda^(2 (tau - t + 1)).
    VectorXd sums(squares.size());
    for (Index i = 0; i < sums.size(); ++i) {
        double& sum = sums(i) = 0;
        for (Index t = first + count; t < rounds && sum != squares(i) * (sum + 1); ++t)
            sum = squares(i) * (sum + 1);
    }
    MatrixXd utility(count, count);
    for (Index t = count - 1; t >= 0; --t) {
        sums = squares.cwiseProduct(sums + VectorXd::Ones(sums.size()));
        VectorXd power = modes.weights.cwiseProduct(sums);
        for (Index s = t; s >= 0; --s) {
            utility(t, s) = utility(s, t) = steps[static_cast<std::size_t>(first + t)] *
                                            steps[static_cast<std::size_t>(first + s)] *
                                            power.sum();
            power = power.cwiseProduct(modes.values);
        }
    }
    return utility;
}

/// Rounds whose noise may be correlated with each other.
long block_of(const TemporalShape& shape, long rounds) {
    return shape.restart > 0 ? std::min(shape.restart, rounds) : rounds;
}

void require_rounds(long rounds, long cycle, bool symmetric, const TemporalShape& shape) {
    const bool lagged = shape.kind == TemporalShape::Kind::one_lag ||
                        (shape.kind == TemporalShape::Kind::banded && shape.band < cycle);
    if (!symmetric && rounds > most_dense_rounds)
        throw ConfigError(fmt::format(
            "rounds: {} is not allowed where rounds are correlated and the mixing matrix is not "
            "symmetric (at most {})",
            rounds,
            most_dense_rounds));
    if (!lagged && block_of(shape, rounds) > most_dense_rounds)
        throw ConfigError(fmt::format(
            "rounds: {} is not allowed with --temporal {} (at most {}; more with one-lag, with "
            "banded:B and B below the cycle of --participation, or with --temporal-restart)",
            rounds,
            name_of(shape),
            most_dense_rounds));
}

/// Solves every block separately, with a certificate.
/// @param utility_of H of a block, by first round and length.
template <class UtilityOf>
ShapedFactor solve_blocks(long rounds,
                          long cycle,
                          const TemporalShape& shape,
                          const UtilityOf& utility_of) {
    const long block = block_of(shape, rounds);
    TemporalOptions options;
    options.band = shape.band;
    const bool banded = shape.kind == TemporalShape::Kind::banded || block < rounds;
    const long band =
        shape.kind == TemporalShape::Kind::banded ? std::min(shape.band, block - 1) : block - 1;
    ShapedFactor result;
    if (banded) result.factor = {TemporalFactor::Kind::banded, MatrixXd::Zero(rounds, band + 1)};
    for (long first = 0; first < rounds; first += block) {
        const long count = std::min(block, rounds - first);
        const TemporalSolution solution =
            solve_temporal_gram(utility_of(first, count), cycle, options);
        const MatrixXd lower = temporal_factor_of(solution.gram);
        result.value += solution.value;
        result.lower_bound += solution.lower_bound;
        if (!banded) result.factor = {TemporalFactor::Kind::dense, lower};
        for (long b = 0; banded && b <= std::min(band, count - 1); ++b)
            result.factor.lower.col(b).segment(first + b, count - b) = lower.diagonal(-b);
    }
    return result;
}

}  // namespace

ShapedFactor solve_shaped_factor(const MatrixXd& utility, long cycle, const TemporalShape& shape) {
    const Index rounds = utility.rows();
    require_rounds(rounds, cycle, false, shape);
    if (shape.independent()) return {TemporalFactor{}, utility.trace(), utility.trace()};
    if (shape.kind != TemporalShape::Kind::one_lag)
        return solve_blocks(rounds, cycle, shape, [&](long first, long count) {
            return MatrixXd(utility.block(first, first, count, count));
        });
    VectorXd subdiagonal = VectorXd::Zero(rounds);
    subdiagonal.tail(rounds - 1) = utility.diagonal(-1);
    return solve_one_lag_factor(utility.diagonal(), subdiagonal, cycle, shape.restart);
}

ShapedFactor solve_shaped_factor(const MixingMatrix& mixing,
                                 const MatrixXd& spatial_covariance,
                                 std::span<const double> step_sizes,
                                 const GossipPolynomial& gossip,
                                 long cycle,
                                 const TemporalShape& shape,
                                 Certificate certificate) {
    const auto rounds = static_cast<long>(step_sizes.size());
    require_rounds(rounds, cycle, mixing.symmetric(), shape);
    if (!mixing.symmetric())
        return solve_shaped_factor(
            temporal_utility(mixing, spatial_covariance, step_sizes, gossip), cycle, shape);
    if (shape.independent() || shape.kind == TemporalShape::Kind::one_lag) {
        const auto [diagonal, subdiagonal] =
            two_diagonals(mixing, spatial_covariance, step_sizes, gossip);
        if (!shape.independent())
            return solve_one_lag_factor(diagonal, subdiagonal, cycle, shape.restart);
        return {TemporalFactor{}, diagonal.sum(), diagonal.sum()};
    }
    const WeightedModes modes = weighted_modes(mixing, spatial_covariance, gossip);
    const bool quick = certificate == Certificate::omitted &&
                       shape.kind == TemporalShape::Kind::banded && shape.band < cycle;
    if (quick || block_of(shape, rounds) > most_dense_rounds)
        return solve_banded_factor(
            modes.values, modes.weights, step_sizes, cycle, shape.band, shape.restart);
    return solve_blocks(rounds, cycle, shape, [&](long first, long count) {
        return block_utility(modes, step_sizes, first, count);
    });
}

namespace {

TemporalShape banded(long band, long restart) {
    return {TemporalShape::Kind::banded, band, restart};
}

/// Largest number of earlier rounds that share noise with a round.
long longest_reach(const DesignInput& input) {
    const long restart = input.temporal.restart;
    return (restart > 0 ? std::min(restart, input.rounds) : input.rounds) - 1;
}

bool sampled_in_parts(const Participation& participation) {
    return participation.poisson && participation.cycle > 1;
}

/// Empty if dense is possible.
std::string_view reason_against_dense(const DesignInput& input, const PastRounds& past) {
    const long reach = longest_reach(input);
    if (sampled_in_parts(input.participation) && reach >= input.participation.cycle)
        return "in which sampled rounds of a record would meet";
    if (reach >= most_dense_rounds) return "more than can be planned for";
    if (reach > past.kept) return "which take more than 2 GiB for all agents";
    if (reach > 2 * past.read) return "which costs more than the rest of a round";
    return {};
}

/// The widest band that agents can afford, that can be planned, and that keeps sampled rounds
/// apart.
long widest_band(const DesignInput& input, const PastRounds& past) {
    constexpr long most_planned_values = 1L << 26;
    const long reach = longest_reach(input);
    long band = std::min({past.kept, past.read, reach});
    if (sampled_in_parts(input.participation) || reach >= most_dense_rounds)
        band = std::min(band, input.participation.cycle - 1);
    if (reach >= most_dense_rounds)
        band = std::min(band, most_planned_values / input.rounds / (input.mixing->agents() + 1));
    return std::max(band, 1L);
}

double noise_of(const DesignInput& input, const TemporalShape& shape) {
    const auto agents = static_cast<Eigen::Index>(input.mixing->agents());
    return time_given_space(
               input, Eigen::MatrixXd::Identity(agents, agents), shape, Certificate::omitted)
        .value;
}

}  // namespace

PastRounds affordable_past(const RoundWork& work) {
    constexpr std::int64_t most_bytes = std::int64_t{2} << 30;
    constexpr std::int64_t value_bytes = sizeof(double);
    constexpr long free_values = 1L << 17, values_a_draw = 8, values_a_record = 1;
    const long kept = most_bytes / (value_bytes * work.agents) / work.dimension;
    const long read =
        std::max(values_a_draw + values_a_record * work.batch, free_values / work.dimension);
    return {std::max(1L, kept), std::max(1L, read)};
}

ShapeChoice affordable_shape(const DesignInput& input, const RoundWork& work) {
    ShapeChoice choice;
    choice.reach = longest_reach(input);
    // If every round counts against every other, nothing can be correlated.
    if (input.participation.cycle < 2 || choice.reach < 1) return choice;
    const long restart = input.temporal.restart;
    const PastRounds past = affordable_past(work);
    choice.against_dense = reason_against_dense(input, past);
    if (choice.against_dense.empty()) {
        choice.candidates = {{{TemporalShape::Kind::dense, 0, restart}, not_a_number}};
        return choice;
    }
    const long band = widest_band(input, past);
    choice.candidates = {{banded(band, restart), not_a_number}};
    if (sampled_in_parts(input.participation)) return choice;
    const TemporalShape judged = banded(std::min(band, input.participation.cycle - 1), restart);
    const TemporalShape one_lag{TemporalShape::Kind::one_lag, 0, restart};
    choice.candidates.front().noise = noise_of(input, judged);
    choice.candidates.push_back({one_lag, noise_of(input, one_lag)});
    choice.chosen = choice.candidates[0].noise < choice.candidates[1].noise ? 0 : 1;
    return choice;
}

std::string text_of(const ShapeChoice& choice) {
    if (choice.candidates.empty()) return {};
    if (choice.keeps_all()) return name_of(choice.best());
    std::string text = fmt::format("{}: dense noise would keep {} rounds, {}",
                                   name_of(choice.best()),
                                   choice.reach,
                                   choice.against_dense);
    if (choice.candidates.size() < 2) return text;
    const ShapeCandidate& other = choice.candidates[1 - choice.chosen];
    return text + fmt::format("; {} leaves {:.3g} times as much",
                              name_of(other.shape),
                              other.noise / choice.candidates[choice.chosen].noise);
}

}  // namespace sotto
