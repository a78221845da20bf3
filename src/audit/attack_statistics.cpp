#include "audit/attack_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

namespace math = boost::math;

struct Counts {
    long above_minus = 0, minus = 0;  ///< false positives
    long below_plus = 0, plus = 0;    ///< false negatives
};

double epsilon_at_least(const Counts& counts, double delta, double risk) {
    // Two rates are bounded, each with half of the risk.
    const double alpha = rate_at_most(counts.above_minus, counts.minus, risk / 2);
    const double beta = rate_at_most(counts.below_plus, counts.plus, risk / 2);
    double epsilon = 0;
    if (1 - delta - alpha > 0) epsilon = std::max(epsilon, std::log((1 - delta - alpha) / beta));
    if (1 - delta - beta > 0) epsilon = std::max(epsilon, std::log((1 - delta - beta) / alpha));
    return epsilon;
}

/// The threshold for guessing +1 that maximises the bound on epsilon.
double best_threshold(const Eigen::Ref<const VectorXd>& scores,
                      const Eigen::Ref<const VectorXd>& signs,
                      double delta,
                      double risk) {
    std::vector<std::pair<double, double>> sorted;
    Counts counts;
    for (Index i = 0; i < scores.size(); ++i) {
        sorted.emplace_back(scores(i), signs(i));
        ++(signs(i) > 0 ? counts.plus : counts.minus);
    }
    std::ranges::sort(sorted);
    counts.above_minus = counts.minus;
    // A bound takes a few hundred operations, so not every score is tried.
    constexpr std::size_t tries = 200;
    const std::size_t stride = std::max<std::size_t>(1, sorted.size() / tries);
    double best = -1, threshold = 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (sorted[i].second > 0)
            ++counts.below_plus;
        else
            --counts.above_minus;
        // Equal scores are on the same side of a threshold.
        if (i + 1 < sorted.size() && sorted[i + 1].first == sorted[i].first) continue;
        if (i < next) continue;
        next = i + stride;
        const double epsilon = epsilon_at_least(counts, delta, risk);
        if (epsilon <= best) continue;
        best = epsilon;
        threshold = sorted[i].first;
    }
    return threshold;
}

void require_trials(const VectorXd& scores, const VectorXd& signs) {
    const Index n = scores.size(), half = n / 2;
    constexpr long least = 20;
    const auto count = [&](Index first, Index size, double sign) {
        return (signs.segment(first, size).array() == sign).count();
    };
    if (signs.size() != n || std::min({count(0, half, 1),
                                       count(0, half, -1),
                                       count(half, n - half, 1),
                                       count(half, n - half, -1)}) < least)
        throw ConfigError(
            fmt::format("trials: {} scores with {} signs are not enough (at least {} of each sign "
                        "in each half)",
                        n,
                        signs.size(),
                        least));
}

/// Sets mu and its interval only.
AttackFigures gaussian_figures(const VectorXd& scores, const VectorXd& signs, double level) {
    const Index n = scores.size();
    const auto plus = static_cast<double>((signs.array() == 1).count());
    const auto minus = static_cast<double>((signs.array() == -1).count());
    const Eigen::ArrayXd is_plus = (signs.array() > 0).cast<double>();
    const double mean_plus = (scores.array() * is_plus).sum() / plus;
    const double mean_minus = (scores.array() * (1 - is_plus)).sum() / minus;
    const Eigen::ArrayXd centred =
        scores.array() - is_plus * mean_plus - (1 - is_plus) * mean_minus;
    const double deviation =
        std::sqrt(centred.square().sum() / static_cast<double>(std::max<Index>(1, n - 2)));
    AttackFigures result;
    result.trials = n;
    result.mu = (mean_plus - mean_minus) / deviation;
    const double error =
        two_sided_z(level) *
        std::sqrt(1 / plus + 1 / minus + result.mu * result.mu / (2 * static_cast<double>(n)));
    result.lower = result.mu - error;
    result.upper = result.mu + error;
    return result;
}

Counts count_errors(const Eigen::Ref<const VectorXd>& scores,
                    const Eigen::Ref<const VectorXd>& signs,
                    double threshold) {
    Counts counts;
    for (Index i = 0; i < scores.size(); ++i) {
        const bool above = scores(i) > threshold;
        if (signs(i) > 0) {
            ++counts.plus;
            if (!above) ++counts.below_plus;
        } else {
            ++counts.minus;
            if (above) ++counts.above_minus;
        }
    }
    return counts;
}

}  // namespace

double rate_at_most(long hits, long trials, double risk) {
    if (hits >= trials) return 1;
    return math::quantile(
        math::complement(math::beta_distribution<>(static_cast<double>(hits) + 1,
                                                   static_cast<double>(trials - hits)),
                         risk));
}

AttackFigures measure_attack(const VectorXd& scores,
                             const VectorXd& signs,
                             double delta,
                             double level) {
    if (!(delta >= 0 && delta < 1))
        throw ConfigError(fmt::format("delta: {} is not allowed (from 0 to below 1)", delta));
    require_trials(scores, signs);
    AttackFigures result = gaussian_figures(scores, signs, level);
    const Index half = scores.size() / 2, rest = scores.size() - half;
    const double risk = 1 - level;
    const double threshold = best_threshold(scores.head(half), signs.head(half), delta, risk);
    result.epsilon_lower =
        epsilon_at_least(count_errors(scores.tail(rest), signs.tail(rest), threshold), delta, risk);
    return result;
}

double trials_for_width(double mu, double width, double level) {
    require_positive("mu", mu);
    require_positive("width", width);
    const double ratio = two_sided_z(level) / width;
    return std::ceil(ratio * ratio * (4 / (mu * mu) + 0.5));
}

double two_sided_z(double level) {
    if (!(level > 0 && level < 1))
        throw ConfigError(fmt::format("confidence: {} is not allowed (between 0 and 1)", level));
    return boost::math::quantile(boost::math::complement(boost::math::normal(), (1 - level) / 2));
}

namespace {

using Eigen::Index;
using Eigen::VectorXd;

std::vector<double> sorted(std::span<const double> values) {
    std::vector<double> result(values.begin(), values.end());
    std::ranges::sort(result);
    return result;
}

/// Share of sorted values below; ties count half.
double share_below(const std::vector<double>& values, double score) {
    const auto [first, last] = std::equal_range(values.begin(), values.end(), score);
    const auto below = static_cast<double>(first - values.begin());
    const auto equal = static_cast<double>(last - first);
    return (below + equal / 2) / static_cast<double>(values.size());
}

/// Share of sorted values above.
double share_above(const std::vector<double>& values, double threshold) {
    const auto above = values.end() - std::ranges::upper_bound(values, threshold);
    return static_cast<double>(above) / static_cast<double>(values.size());
}

double mean_variance(const VectorXd& values) {
    const auto count = static_cast<double>(values.size());
    return (values.array() - values.mean()).square().sum() / (count - 1) / count;
}

double advantage_of(const VectorXd& positive, const VectorXd& negative) {
    const auto half = [](const VectorXd& values, bool second) {
        const auto middle = static_cast<std::size_t>(values.size() / 2);
        const std::span<const double> all(values.data(), static_cast<std::size_t>(values.size()));
        return sorted(second ? all.subspan(middle) : all.first(middle));
    };
    const auto first_positive = half(positive, false), first_negative = half(negative, false);
    double best = 0, threshold = infinity;
    for (const double score : first_negative) {
        const double gain = share_above(first_positive, score) - share_above(first_negative, score);
        if (gain <= best) continue;
        best = gain;
        threshold = score;
    }
    return share_above(half(positive, true), threshold) -
           share_above(half(negative, true), threshold);
}

}  // namespace

RankingFigures measure_ranking(const VectorXd& positive, const VectorXd& negative, double level) {
    if (positive.size() < 2 || negative.size() < 2)
        throw ConfigError(fmt::format("scores: {} and {} are not enough (at least 2 of each kind)",
                                      positive.size(),
                                      negative.size()));
    const auto view = [](const VectorXd& values) {
        return std::span<const double>(values.data(), static_cast<std::size_t>(values.size()));
    };
    const auto positives = sorted(view(positive)), negatives = sorted(view(negative));
    VectorXd below(positive.size()), above(negative.size());
    for (Index i = 0; i < below.size(); ++i) below(i) = share_below(negatives, positive(i));
    for (Index j = 0; j < above.size(); ++j) above(j) = 1 - share_below(positives, negative(j));
    RankingFigures result;
    result.auc = below.mean();
    const double width =
        two_sided_z(level) * std::sqrt(mean_variance(below) + mean_variance(above));
    result.lower = std::max(0.0, result.auc - width);
    result.upper = std::min(1.0, result.auc + width);
    result.advantage = advantage_of(positive, negative);
    return result;
}

TradeOff::TradeOff(const PrivacyLoss& loss, double delta) {
    constexpr int points = 24;
    const double largest = loss.epsilon(delta).upper;
    for (int i = 0; i < points; ++i) {
        const double epsilon = largest * i / (points - 1);
        points_.push_back({epsilon, std::min(1.0, loss.delta(epsilon).upper)});
    }
}

double TradeOff::false_positive_rate(double true_positive_rate) const {
    double rate = 0;
    for (const Point& point : points_) {
        const double factor = std::exp(point.epsilon);
        rate = std::max({rate,
                         (true_positive_rate - point.delta) / factor,
                         1 - point.delta - factor * (1 - true_positive_rate)});
    }
    return rate;
}

double TradeOff::true_positive_rate(double false_positive_rate) const {
    double rate = 1;
    for (const Point& point : points_) {
        const double factor = std::exp(point.epsilon);
        rate = std::min({rate,
                         factor * false_positive_rate + point.delta,
                         1 - (1 - false_positive_rate - point.delta) / factor});
    }
    return rate;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

namespace math = boost::math;

double chi_squared_p_value(double total, double freedom) {
    const math::chi_squared chi(freedom);
    return 2 * std::min(math::cdf(chi, total), math::cdf(math::complement(chi, total)));
}

double largest_off_diagonal(const MatrixXd& covariance, double samples) {
    double largest = 0;
    for (Index j = 0; j < covariance.cols(); ++j)
        for (Index i = j + 1; i < covariance.rows(); ++i)
            largest = std::max(largest, std::abs(covariance(i, j)) / std::sqrt(samples));
    return largest;
}

}  // namespace

WhitenessFigures test_whiteness(const MatrixXd& values) {
    const Index dimensions = values.rows(), samples = values.cols();
    if (samples < fewest_white_samples)
        throw ConfigError(
            fmt::format("samples: {} are not enough ({} or more)", samples, fewest_white_samples));
    WhitenessFigures result;
    result.samples = samples;
    result.dimensions = dimensions;
    if (dimensions == 0) return result;
    const auto n = static_cast<double>(samples), p = static_cast<double>(dimensions);
    MatrixXd covariance = MatrixXd::Zero(dimensions, dimensions);
    add_product(1, values, false, values, true, covariance);
    result.variance = covariance.trace() / (n * p);
    result.largest_correlation = largest_off_diagonal(covariance, n);
    const double p_variance = chi_squared_p_value(covariance.trace(), n * p);
    double p_entry = 1;
    for (Index i = 0; i < dimensions; ++i)
        p_entry = std::min(p_entry, chi_squared_p_value(covariance(i, i), n));
    p_entry = std::min(p_entry,
                       2 * math::cdf(math::complement(math::normal(), result.largest_correlation)));
    result.p_value = std::min(1.0, 2 * std::min(p_variance, p_entry * p * (p + 1) / 2));
    return result;
}

namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double largest_one_run_epsilon = 100;

void require_possible_guesses(long trials, long guesses, long correct) {
    if (!(0 <= correct && correct <= guesses && guesses <= trials))
        throw ConfigError(fmt::format("{} of {} guesses about {} trials are correct: not possible",
                                      correct,
                                      guesses,
                                      trials));
}

void require_risk(double risk) {
    if (!(risk > 0 && risk < 1))
        throw ConfigError(fmt::format("risk: {} is not allowed (between 0 and 1)", risk));
}

/// The largest value up to `above` that is excluded; 0 if not even 0 is. Excluded values are those
/// below a limit.
template <class Excluded>
double largest_that(double above, Excluded&& excluded) {
    if (!excluded(0)) return 0;
    if (excluded(above)) return above;
    double below = 0;
    for (int step = 0; step < 50; ++step) {
        const double middle = (below + above) / 2;
        (excluded(middle) ? below : above) = middle;
    }
    return below;
}

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
    require_possible_guesses(trials, guesses, correct);
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
    require_risk(risk);
    return largest_that(largest_one_run_epsilon, [&](double epsilon) {
        return one_run_p_value(trials, guesses, correct, epsilon, delta) <= risk;
    });
}

bool one_run_excludes(
    long trials, long guesses, long correct, const TradeOffCurve& curve, double risk) {
    require_possible_guesses(trials, guesses, correct);
    require_risk(risk);
    const auto count = static_cast<double>(trials);
    const double all = static_cast<double>(guesses) / count;
    double right = risk * static_cast<double>(correct) / count;
    double wrong = risk * static_cast<double>(guesses - correct) / count;
    for (long i = correct - 1; i >= 0 && right + wrong <= all; --i) {
        const double next = std::max(wrong, curve(std::min(right, 1.0)));
        if (next == wrong) break;  // neither can change any more
        right += static_cast<double>(i) / static_cast<double>(guesses - i) * (next - wrong);
        wrong = next;
    }
    return right + wrong > all;
}

double one_run_mu(long trials, long guesses, long correct, double risk) {
    constexpr double largest_mu = 30;
    const math::normal normal;
    return largest_that(largest_mu, [&](double mu) {
        const auto curve = [&](double rate) {
            if (rate <= 0 || rate >= 1) return rate;
            return math::cdf(normal, math::quantile(normal, rate) - mu);
        };
        return one_run_excludes(trials, guesses, correct, curve, risk);
    });
}

namespace {

struct Guesses {
    long made = 0, correct = 0;
};

/// The ten ways of measure_one_run.
std::vector<Guesses> ways_to_guess(const VectorXd& scores, const VectorXd& signs) {
    constexpr std::array shares{0.01, 0.025, 0.05, 0.1, 0.25};
    const Index trials = scores.size();
    if (signs.size() != trials)
        throw ConfigError(fmt::format("{} scores with {} signs", trials, signs.size()));
    std::vector<Index> order(static_cast<std::size_t>(trials));
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, [&](Index a, Index b) { return scores(a) > scores(b); });
    const auto sign_at = [&](Index place) { return signs(order[static_cast<std::size_t>(place)]); };
    std::vector<Guesses> ways;
    for (const double share : shares) {
        const auto count = static_cast<Index>(share * static_cast<double>(trials));
        long above = 0, below = 0;
        for (Index i = 0; i < count; ++i) {
            above += sign_at(i) > 0 ? 1 : 0;
            below += sign_at(trials - 1 - i) < 0 ? 1 : 0;
        }
        ways.push_back({count, above});
        ways.push_back({2 * count, above + below});
    }
    return ways;
}

}  // namespace

OneRunFigures measure_one_run(const VectorXd& scores,
                              const VectorXd& signs,
                              double delta,
                              double risk) {
    const std::vector<Guesses> ways = ways_to_guess(scores, signs);
    const double risk_each = risk / static_cast<double>(ways.size());
    OneRunFigures best;
    double mu = 0;
    for (const auto& [made, correct] : ways) {
        const double epsilon = one_run_epsilon(scores.size(), made, correct, delta, risk_each);
        if (best.guesses == 0 || epsilon > best.epsilon_lower) {
            best.guesses = made;
            best.correct = correct;
            best.epsilon_lower = epsilon;
        }
        mu = std::max(mu, one_run_mu(scores.size(), made, correct, risk_each));
    }
    if (mu > 0 && delta > 0)
        best.gaussian_epsilon_lower = PrivacyLoss::gaussian(mu).epsilon(delta).lower;
    return best;
}

bool one_run_excludes(const VectorXd& scores,
                      const VectorXd& signs,
                      const TradeOffCurve& curve,
                      double risk) {
    const std::vector<Guesses> ways = ways_to_guess(scores, signs);
    return std::ranges::any_of(ways, [&](const Guesses& way) {
        return one_run_excludes(
            scores.size(), way.made, way.correct, curve, risk / static_cast<double>(ways.size()));
    });
}

}  // namespace sotto
