#include "views/tight_sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "core/unit_form.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;

constexpr double nothing_negative = 1e-13;  // relative to the sum of absolute values

}  // namespace

SquaredSensitivity bounded_gram_sensitivity(const MatrixXd& gram,
                                            std::span<const long> training_rounds,
                                            const Participation& participation,
                                            double tight_gap,
                                            double known_upper) {
    SquaredSensitivity result;
    result.trivial = infinity;
    struct Pattern {
        MatrixXd gram;
        double sum, abs_sum;
    };
    std::vector<Pattern> patterns;
    for (const auto& chosen : participation_patterns(training_rounds, participation)) {
        Pattern pattern{
            std::ssize(chosen) == gram.rows() ? gram : MatrixXd(gram(chosen, chosen)), 0, 0};
        pattern.sum = pattern.gram.sum();
        pattern.abs_sum = pattern.gram.cwiseAbs().sum();
        result.constant_sign = std::max(result.constant_sign, pattern.sum);
        result.abs_sum = std::max(result.abs_sum, pattern.abs_sum);
        patterns.push_back(std::move(pattern));
    }
    // Patterns that cannot exceed another's lower bound are skipped.
    std::sort(patterns.begin(), patterns.end(), [](const Pattern& a, const Pattern& b) {
        return a.abs_sum > b.abs_sum;
    });
    for (const Pattern& pattern : patterns) {
        const double most = std::min(known_upper, pattern.abs_sum);
        if (most <= result.tight_lower) continue;
        TightBounds bounds{pattern.sum, most};
        if (pattern.abs_sum - pattern.sum > nothing_negative * pattern.abs_sum)
            bounds = tight_bounds(pattern.gram, tight_gap, most);
        result.tight_lower = std::max(result.tight_lower, bounds.lower);
        result.tight_upper = std::max(result.tight_upper, bounds.upper);
    }
    return result;
}

SquaredSensitivity gram_sensitivity(const Eigen::MatrixXd& gram,
                                    const Participation& participation,
                                    double tight_gap,
                                    std::span<const long> training_rounds) {
    if (gram.rows() != gram.cols())
        throw ConfigError(fmt::format(
            "Gram matrix: {} x {} is not allowed (must be square)", gram.rows(), gram.cols()));
    if (participation.cycle < 1)
        throw ConfigError(fmt::format(
            "participation: a cycle of {} rounds is not allowed (1 or more)", participation.cycle));
    if (!gram.allFinite()) throw DataError("Gram matrix: a value is not finite");
    std::vector<long> numbers(training_rounds.begin(), training_rounds.end());
    if (numbers.empty()) {
        numbers.resize(static_cast<std::size_t>(gram.rows()));
        std::iota(numbers.begin(), numbers.end(), 0);
    }
    if (std::ssize(numbers) != gram.rows())
        throw ConfigError(fmt::format("Gram matrix: {} training rounds are given, it has {} rows",
                                      numbers.size(),
                                      gram.rows()));
    for (const long round : numbers)
        if (round < 0)
            throw ConfigError(
                fmt::format("Gram matrix: training round {} is not allowed (0 or more)", round));
    return bounded_gram_sensitivity(gram, numbers, participation, tight_gap, infinity);
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Signs with equal values must not be chosen by rounding, which differs between machines.
constexpr double sign_rounding = 1e-9;

/// Flips signs of `rounds`, one at a time, while s^T gram s grows.
double ascend(const MatrixXd& gram, const std::vector<Index>& rounds, VectorXd& signs) {
    VectorXd pull = gram * signs;
    for (bool changed = true; changed;) {
        changed = false;
        for (const Index t : rounds) {
            const double others = pull(t) - gram(t, t) * signs(t);
            const double better = others < 0 ? -1.0 : 1.0;
            if (better == signs(t) || std::abs(others) <= sign_rounding * gram(t, t)) continue;
            pull += (better - signs(t)) * gram.col(t);
            signs(t) = better;
            changed = true;
        }
    }
    return signs.dot(pull);
}

}  // namespace

VectorXd worst_signs(const MatrixXd& gram, const Participation& participation) {
    const Index rounds = gram.rows();
    VectorXd best = VectorXd::Zero(rounds);
    double most = -1;
    constexpr int random_starts = 8;
    for (Index first = 0; first < std::min<Index>(participation.cycle, rounds); ++first) {
        std::vector<Index> mine;
        for (Index t = first; t < rounds; t += participation.cycle) mine.push_back(t);
        SeededRandom random(0, "worst signs", static_cast<std::uint64_t>(first));
        for (int start = 0; start < 2 + random_starts; ++start) {
            VectorXd signs = VectorXd::Zero(rounds);
            for (std::size_t i = 0; i < mine.size(); ++i)
                signs(mine[i]) = start == 0   ? 1
                                 : start == 1 ? (i % 2 == 0 ? 1 : -1)
                                              : (random.below(2) == 0 ? 1 : -1);
            const double value = ascend(gram, mine, signs);
            if (value > most * (1 + sign_rounding)) {
                most = value;
                best = signs;
            }
        }
    }
    return best;
}

std::vector<std::vector<Eigen::Index>> participation_patterns(std::span<const long> training_rounds,
                                                              const Participation& participation) {
    const long most = training_rounds.empty() ? 0 : std::ranges::max(training_rounds);
    const long cycle = std::min(participation.cycle, most + 1);
    std::vector<std::vector<Eigen::Index>> patterns(static_cast<std::size_t>(cycle));
    for (std::size_t t = 0; t < training_rounds.size(); ++t)
        patterns[static_cast<std::size_t>(training_rounds[t] % cycle)].push_back(
            static_cast<Eigen::Index>(t));
    return patterns;
}

}  // namespace sotto
