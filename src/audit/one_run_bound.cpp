#include "audit/one_run_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double largest_one_run_epsilon = 100;

/// max_{i >= 1} P[v - i <= X < v] / i.
double largest_mean_probability(long guesses, long v, double rate) {
    double probability = boost::math::pdf(boost::math::binomial(static_cast<double>(guesses), rate),
                                          static_cast<double>(v - 1));
    double sum = 0, largest = 0;
    for (long i = 1; i <= v; ++i) {
        sum += probability;
        largest = std::max(largest, sum / static_cast<double>(i));
        // From P[X = v - i] to P[X = v - i - 1].
        const auto k = static_cast<double>(v - i);
        probability *= k / (static_cast<double>(guesses) - k + 1) * (1 - rate) / rate;
    }
    return largest;
}

}  // namespace

double one_run_p_value(long trials, long guesses, long correct, double epsilon, double delta) {
    if (!(0 <= correct && correct <= guesses && guesses <= trials))
        throw ConfigError(fmt::format("{} of {} guesses about {} trials are correct: not possible",
                                      correct,
                                      guesses,
                                      trials));
    require_in_range("epsilon", epsilon, 0, largest_one_run_epsilon);
    if (!(delta >= 0 && delta < 1))
        throw ConfigError(fmt::format("delta: {} is not allowed (from 0 to below 1)", delta));
    if (correct == 0) return 1;
    const double rate = 1 / (1 + std::exp(-epsilon));
    const double above = boost::math::cdf(
        boost::math::complement(boost::math::binomial(static_cast<double>(guesses), rate),
                                static_cast<double>(correct - 1)));
    const double correction = delta > 0 ? 2 * delta * static_cast<double>(trials) *
                                              largest_mean_probability(guesses, correct, rate)
                                        : 0;
    return std::min(1.0, above + correction);
}

double one_run_epsilon(long trials, long guesses, long correct, double delta, double risk) {
    if (!(risk > 0 && risk < 1))
        throw ConfigError(fmt::format("risk: {} is not allowed (between 0 and 1)", risk));
    const auto excluded = [&](double epsilon) {
        return one_run_p_value(trials, guesses, correct, epsilon, delta) <= risk;
    };
    if (!excluded(0)) return 0;
    double below = 0, above = largest_one_run_epsilon;
    if (excluded(above)) return above;
    for (int step = 0; step < 60; ++step) {
        const double middle = (below + above) / 2;
        (excluded(middle) ? below : above) = middle;
    }
    return below;
}

OneRunFigures measure_one_run(const VectorXd& scores,
                              const VectorXd& signs,
                              double delta,
                              double risk) {
    constexpr std::array shares{0.01, 0.025, 0.05, 0.1, 0.25};
    const Index trials = scores.size();
    if (signs.size() != trials)
        throw ConfigError(fmt::format("{} scores with {} signs", trials, signs.size()));
    std::vector<Index> order(static_cast<std::size_t>(trials));
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, [&](Index a, Index b) { return scores(a) > scores(b); });
    const auto sign_at = [&](Index place) { return signs(order[static_cast<std::size_t>(place)]); };
    OneRunFigures best;
    for (const double share : shares) {
        const auto count = static_cast<Index>(share * static_cast<double>(trials));
        long above = 0, below = 0;
        for (Index i = 0; i < count; ++i) {
            above += sign_at(i) > 0 ? 1 : 0;
            below += sign_at(trials - 1 - i) < 0 ? 1 : 0;
        }
        for (const auto& [guesses, correct] :
             {std::pair<long, long>{count, above}, {2 * count, above + below}}) {
            const double epsilon = one_run_epsilon(
                trials, guesses, correct, delta, risk / (2 * static_cast<double>(shares.size())));
            if (best.guesses == 0 || epsilon > best.epsilon_lower)
                best = {guesses, correct, epsilon};
        }
    }
    return best;
}

}  // namespace sotto
