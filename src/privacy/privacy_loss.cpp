#include "sotto/privacy/privacy_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <tuple>
#include <utility>

#include "core/numbers.hpp"
#include "privacy/normal_tails.hpp"
#include "privacy/round_losses.hpp"
#include "privacy/sampled_curve.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

void require_rounds(const SampledRounds& rounds) {
    if (!(rounds.noise_multiplier > 0))
        throw PrivacyError(fmt::format("noise multiplier: {} is not possible (must be above 0)",
                                       rounds.noise_multiplier));
    if (!(rounds.sampling_probability >= 0 && rounds.sampling_probability <= 1))
        throw PrivacyError(
            fmt::format("sampling probability: {} is not possible (must be from 0 to 1)",
                        rounds.sampling_probability));
    if (rounds.rounds_an_epoch < 1 || rounds.rounds_an_epoch > most_rounds_an_epoch ||
        (rounds.is_allocated() &&
         rounds.sampling_probability != 1 / static_cast<double>(rounds.rounds_an_epoch)))
        throw PrivacyError(
            fmt::format("random allocation: {} rounds an epoch with probability {} are not "
                        "possible (must be from 1 to {}, with probability one in so many)",
                        rounds.rounds_an_epoch,
                        rounds.sampling_probability,
                        most_rounds_an_epoch));
    if (rounds.is_allocated() && rounds.noise_multiplier < least_allocated_noise)
        throw PrivacyError(
            fmt::format("noise multiplier: {} is not possible with random allocation (must be at "
                        "least {}: with so little noise nothing is hidden)",
                        rounds.noise_multiplier,
                        least_allocated_noise));
    if (rounds.count < 0 || rounds.count > most_sampled_rounds)
        throw PrivacyError(fmt::format("sampled rounds: {} is not possible (must be from 0 to {})",
                                       rounds.count,
                                       most_sampled_rounds));
}

}  // namespace

std::vector<SampledRounds> merged_rounds(std::span<const SampledRounds> rounds) {
    std::map<std::tuple<double, double, long>, long> counts;
    long all = 0;
    for (const SampledRounds& one : rounds) {
        require_rounds(one);
        if (one.count == 0 || one.sampling_probability == 0 || std::isinf(one.noise_multiplier))
            continue;
        counts[{one.noise_multiplier, one.sampling_probability, one.rounds_an_epoch}] += one.count;
        all += one.count;
        if (all > most_sampled_rounds)
            throw PrivacyError(fmt::format(
                "sampled rounds: more than {} are not accounted together", most_sampled_rounds));
    }
    std::vector<SampledRounds> merged;
    for (const auto& [kind, count] : counts)
        merged.push_back({std::get<0>(kind), std::get<1>(kind), count, std::get<2>(kind)});
    return merged;
}

namespace {

double require_loss(std::string_view name, double value) {
    if (!(value >= 0))
        throw PrivacyError(
            fmt::format("privacy loss: {} {} is not possible (must be at least 0)", name, value));
    return value;
}

/// Of randomised response alone: E + log(1 - delta (1 + e^-E)).
double pure_epsilon_at(double pure, double delta) {
    if (std::isinf(pure)) return infinity;
    const double share = delta * (1 + std::exp(-pure));
    return share >= 1 ? 0 : std::max(0.0, pure + std::log1p(-share));
}

/// With parts of both kinds. Either part alone is a function of the composition, so its epsilon is
/// a lower bound; the Gaussian part's plus E is an upper one (basic composition).
Certified composed_epsilon(double mu, double pure, double delta) {
    const auto excess = [&](double epsilon) {
        return exact_delta({mu * mu, pure}, epsilon) - delta;
    };
    if (excess(0) <= 0) return {0, 0};
    const double gaussian = gdp_epsilon(mu, delta);
    double lower = std::max(gaussian, pure_epsilon_at(pure, delta)), upper = gaussian + pure;
    if (excess(lower) <= 0) return {lower, lower};  // the two bounds agree up to rounding
    if (excess(upper) > 0) return {upper, upper};
    std::uintmax_t iterations = 200;
    std::tie(lower, upper) = boost::math::tools::toms748_solve(
        excess, lower, upper, boost::math::tools::eps_tolerance<double>(50), iterations);
    return {upper, lower};
}

/// Whether each of `rounds` can be matched with one of `limits` that reveals as much.
bool rounds_within(const std::vector<SampledRounds>& rounds,
                   std::vector<SampledRounds> limits,
                   double tolerance) {
    for (const SampledRounds& one : rounds) {
        long left = one.count;
        // Both ascend in noise; the limit's quietest rounds are used last.
        for (auto limit = limits.rbegin(); limit != limits.rend() && left > 0; ++limit) {
            // A mean of fewer log-normals is larger in convex order: shorter epochs reveal more.
            if (!(limit->is_allocated() == one.is_allocated() &&
                  limit->noise_multiplier <= one.noise_multiplier * (1 + tolerance) &&
                  limit->sampling_probability >= one.sampling_probability))
                continue;
            const long given = std::min(left, limit->count);
            limit->count -= given;
            left -= given;
        }
        if (left > 0) return false;
    }
    return true;
}

}  // namespace

PrivacyLoss::PrivacyLoss(double mu_squared, std::optional<double> pure)
    : mu_squared_(mu_squared), pure_(pure) {}

PrivacyLoss PrivacyLoss::gaussian(double mu) {
    require_loss("mu", mu);
    return {mu * mu, std::nullopt};
}

PrivacyLoss PrivacyLoss::pure(double epsilon) { return {0, require_loss("epsilon", epsilon)}; }

PrivacyLoss PrivacyLoss::sampled(std::span<const SampledRounds> rounds) {
    PrivacyLoss loss;
    for (const SampledRounds& one : merged_rounds(rounds)) {
        if (one.sampling_probability == 1)
            loss.mu_squared_ +=
                static_cast<double>(one.count) / one.noise_multiplier / one.noise_multiplier;
        else
            loss.sampled_.push_back(one);
    }
    return loss;
}

PrivacyLoss PrivacyLoss::of(const Parts& parts) {
    PrivacyLoss loss = sampled(parts.sampled);
    loss.mu_squared_ += require_loss("mu^2", parts.mu_squared);
    if (parts.pure) loss.pure_ = require_loss("epsilon", *parts.pure);
    return loss;
}

PrivacyLoss& PrivacyLoss::operator+=(const PrivacyLoss& other) {
    mu_squared_ += other.mu_squared_;
    if (other.pure_) pure_ = pure_epsilon() + *other.pure_;
    if (!other.sampled_.empty()) {
        std::vector<SampledRounds> both = sampled_;
        both.insert(both.end(), other.sampled_.begin(), other.sampled_.end());
        sampled_ = merged_rounds(both);
    }
    return *this;
}

PrivacyLoss compose(PrivacyLoss first, const PrivacyLoss& second) { return first += second; }

namespace {

/// Rounds of the same kind with at least the probability and at most the noise of both.
SampledRounds dominating_rounds(const SampledRounds& a, const SampledRounds& b, long count) {
    return {std::min(a.noise_multiplier, b.noise_multiplier),
            std::max(a.sampling_probability, b.sampling_probability),
            count,
            std::min(a.rounds_an_epoch, b.rounds_an_epoch)};
}

/// Rounds that dominate each of several lists, all of one kind.
std::vector<SampledRounds> dominating_rounds(std::vector<std::vector<SampledRounds>> sampled) {
    const auto differs = [&](const auto& rounds) { return rounds.size() != sampled[0].size(); };
    if (std::ranges::any_of(sampled, differs))
        for (std::vector<SampledRounds>& rounds : sampled) {
            SampledRounds together = rounds.front();
            for (const SampledRounds& more : std::span(rounds).subspan(1))
                together = dominating_rounds(together, more, together.count + more.count);
            rounds = {together};
        }
    std::vector<SampledRounds> all;
    for (const std::vector<SampledRounds>& rounds : sampled) {
        if (all.empty()) all = rounds;
        for (std::size_t i = 0; i < rounds.size(); ++i)
            all[i] = dominating_rounds(all[i], rounds[i], std::max(all[i].count, rounds[i].count));
    }
    return all;
}

}  // namespace

PrivacyLoss dominating(std::span<const PrivacyLoss> losses) {
    PrivacyLoss::Parts all;
    std::array<std::vector<std::vector<SampledRounds>>, 2> sampled;  // by kind
    for (const PrivacyLoss& loss : losses) {
        const PrivacyLoss::Parts parts = loss.parts();
        all.mu_squared = std::max(all.mu_squared, parts.mu_squared);
        if (parts.pure) all.pure = std::max(all.pure.value_or(0), *parts.pure);
        std::array<std::vector<SampledRounds>, 2> kinds;
        for (const SampledRounds& one : parts.sampled)
            kinds[one.is_allocated() ? 1 : 0].push_back(one);
        for (std::size_t kind = 0; kind < kinds.size(); ++kind)
            if (!kinds[kind].empty()) sampled[kind].push_back(std::move(kinds[kind]));
    }
    for (auto& of_a_kind : sampled) {
        const auto rounds = dominating_rounds(std::move(of_a_kind));
        all.sampled.insert(all.sampled.end(), rounds.begin(), rounds.end());
    }
    PrivacyLoss loss = PrivacyLoss::sampled(all.sampled);
    return loss += PrivacyLoss::of({all.mu_squared, all.pure, {}});
}

Certified PrivacyLoss::epsilon(double delta) const {
    if (!(delta >= 0 && delta < 1))
        throw ConfigError(
            fmt::format("delta: {} is not allowed (must be at least 0 and less than 1)", delta));
    if (infinite()) return {infinity, infinity};
    if (!sampled_.empty()) {
        if (delta == 0) return {infinity, infinity};
        return sampled_epsilon(sampled_, {mu_squared_, pure_epsilon()}, delta);
    }
    double exact = 0;
    if (mu_squared_ == 0)
        exact = pure_epsilon_at(pure_epsilon(), delta);
    else if (delta == 0)
        exact = infinity;
    else if (pure_epsilon() == 0)
        exact = gdp_epsilon(std::sqrt(mu_squared_), delta);
    else
        return composed_epsilon(std::sqrt(mu_squared_), pure_epsilon(), delta);
    return {exact, exact};
}

Certified PrivacyLoss::epsilon_bracket(double delta) const {
    if (sampled_.empty() || infinite() || delta == 0) return epsilon(delta);
    return sampled_epsilon_bracket(sampled_, {mu_squared_, pure_epsilon()}, delta);
}

Certified PrivacyLoss::delta(double epsilon) const {
    require_epsilon(epsilon);
    const ExactParts exact_parts{mu_squared_, pure_epsilon()};
    if (!sampled_.empty() && !infinite()) return sampled_delta(sampled_, exact_parts, epsilon);
    const double exact = exact_delta(exact_parts, epsilon);
    return {exact, exact};
}

bool PrivacyLoss::infinite() const { return std::isinf(mu_squared_) || std::isinf(pure_epsilon()); }

std::optional<double> PrivacyLoss::mu() const {
    return pure_ || !sampled_.empty() ? std::nullopt : std::optional(std::sqrt(mu_squared_));
}

bool PrivacyLoss::less_at(double delta, const PrivacyLoss& other) const {
    const double mine = pure_epsilon(), others = other.pure_epsilon();
    if (mu_squared_ >= other.mu_squared_ && mine >= others &&
        rounds_within(other.sampled_, sampled_, 0))
        return false;
    if (mu_squared_ <= other.mu_squared_ && mine <= others &&
        rounds_within(sampled_, other.sampled_, 0))
        return true;
    // Bounds without a lattice cost a tenth.
    const Certified near = epsilon_bracket(delta), others_near = other.epsilon_bracket(delta);
    if (near.upper < others_near.lower) return true;
    if (others_near.upper < near.lower) return false;
    return std::tuple(epsilon(delta).upper, mu_squared_) <
           std::tuple(other.epsilon(delta).upper, other.mu_squared_);
}

bool PrivacyLoss::within(const PrivacyLoss& limit, double tolerance) const {
    return std::sqrt(mu_squared_) <= std::sqrt(limit.mu_squared_) * (1 + tolerance) &&
           pure_epsilon() <= limit.pure_epsilon() * (1 + tolerance) &&
           rounds_within(sampled_, limit.sampled_, tolerance);
}

NamedFigure PrivacyLoss::amount() const {
    if (!sampled_.empty())
        throw PrivacyError("privacy loss: no one figure tells that of sampled rounds");
    if (!pure_) return {"mu^2", mu_squared_};
    if (mu_squared_ > 0)
        throw PrivacyError("privacy loss: no one figure tells that of Gaussian and pure parts");
    return {"epsilon", *pure_};
}

NamedFigure PrivacyLoss::parameter() const {
    if (!sampled_.empty()) return {"noise multiplier", noise_multiplier_in_common()};
    return pure_ ? amount() : NamedFigure{"mu", std::sqrt(mu_squared_)};
}

double PrivacyLoss::noise_multiplier_in_common() const {
    const double first = sampled_.front().noise_multiplier;
    if (pure_ || mu_squared_ > 0 || sampled_.back().noise_multiplier != first)
        throw PrivacyError(
            "privacy loss: no one figure tells that of sampled rounds with different noise, or "
            "with other parts beside them");
    return first;
}

PrivacyLoss PrivacyLoss::with_amount(double amount) const {
    (void)this->amount();  // of one kind
    return pure_ ? pure(amount) : gaussian(std::sqrt(amount));
}

PrivacyLoss PrivacyLoss::scaled(double share) const {
    require_loss("share", share);
    Parts parts{mu_squared_ * share, pure_, sampled_};
    if (parts.pure) *parts.pure *= share;
    for (SampledRounds& one : parts.sampled) one.noise_multiplier /= std::sqrt(share);
    return of(parts);
}

double PrivacyLoss::largest_part() const {
    double squares = 0;
    for (const SampledRounds& one : sampled_)
        squares += static_cast<double>(one.count * one.rounds_an_epoch) / one.noise_multiplier /
                   one.noise_multiplier;
    return std::max({mu_squared_, pure_epsilon(), squares});
}

PrivacyLoss loss_of_squared_distance(StreamDistribution noise, double squared) {
    require_loss("distance", squared);
    switch (noise) {
        case StreamDistribution::laplace:
            return PrivacyLoss::pure(std::sqrt(squared));
        case StreamDistribution::gaussian:
            break;
    }
    return {squared, std::nullopt};
}

PrivacyLoss loss_of_distance(StreamDistribution noise, double distance) {
    require_loss("distance", distance);
    return loss_of_squared_distance(noise, distance * distance);
}

PrivacyLoss loss_of_rounds(StreamDistribution noise,
                           double squared,
                           double sampling_probability,
                           long rounds,
                           long rounds_an_epoch) {
    if (sampling_probability == 1 || squared == 0 || std::isinf(squared))
        return loss_of_squared_distance(noise, squared);
    if (noise != StreamDistribution::gaussian)
        throw PrivacyError("privacy loss: nothing is proved for sampled rounds with Laplace noise");
    const SampledRounds alike{std::sqrt(static_cast<double>(rounds) / squared),
                              sampling_probability,
                              rounds / rounds_an_epoch,
                              rounds_an_epoch};
    return PrivacyLoss::sampled({&alike, 1});
}

PrivacyLoss loss_of_rounds(StreamDistribution noise,
                           double squared,
                           double sampling_probability,
                           std::span<const RoundLevel> levels) {
    if (sampling_probability == 1 || squared == 0 || std::isinf(squared))
        return loss_of_squared_distance(noise, squared);
    if (noise != StreamDistribution::gaussian)
        throw PrivacyError("privacy loss: nothing is proved for sampled rounds with Laplace noise");
    double all = 0;
    for (const RoundLevel& level : levels)
        all += static_cast<double>(level.rounds) * level.precision;
    std::vector<SampledRounds> rounds;
    for (const RoundLevel& level : levels)
        rounds.push_back(
            {std::sqrt(all / (squared * level.precision)), sampling_probability, level.rounds});
    return PrivacyLoss::sampled(rounds);
}

std::string parameter_text(const PrivacyLoss& loss, int digits) {
    const PrivacyLoss::Parts parts = loss.parts();
    const bool differs =
        parts.sampled.size() > 1 && parts.mu_squared == 0 && !parts.pure &&
        parts.sampled.front().sampling_probability == parts.sampled.back().sampling_probability;
    if (differs)
        return fmt::format("noise multiplier {:.{}g} to {:.{}g}",
                           parts.sampled.front().noise_multiplier,
                           digits,
                           parts.sampled.back().noise_multiplier,
                           digits);
    const auto [name, value] = loss.parameter();
    return fmt::format("{} {:.{}g}", name, value, digits);
}

double largest_squared_distance(StreamDistribution noise, const PrivacyLoss& limit) {
    switch (noise) {
        case StreamDistribution::laplace:
            return limit.pure_epsilon() * limit.pure_epsilon();
        case StreamDistribution::gaussian:
            break;
    }
    return limit.sampled_.empty() ? limit.mu_squared_ : limit.largest_part();
}

double stated_delta(StreamDistribution noise, double delta) {
    return noise == StreamDistribution::laplace ? 0 : delta;
}

namespace {

void require_mu(double mu) {
    if (!(mu >= 0))
        throw ConfigError(fmt::format("mu: {} is not allowed (must be at least 0)", mu));
}

double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }

/// delta at epsilon = mu (mu/2 + z): a threshold test at z misses by Phi(-z).
double delta_at(double mu, double z) {
    if (z < -1) return normal_above(z) - normal_density(z) * mills_ratio(z + mu);
    return normal_density(z) * mills_difference(z, mu);
}

/// The z >= least with delta_at(mu_at(z), z) = delta, which falls as z grows: sqrt(2 log(1/delta))
/// is an upper bound (rdp_epsilon), and doubling steps below it find a lower one.
template <class MuAt>
double threshold_for(double delta, double least, const MuAt& mu_at) {
    const auto excess = [&](double z) { return delta_at(mu_at(z), z) - delta; };
    const double upper = std::sqrt(-2 * std::log(delta));
    double lower = upper, at_lower = -delta;
    for (double reach = 1; !(at_lower >= 0) && lower > least; reach *= 2) {
        lower = std::max(least, lower - reach);
        at_lower = excess(lower);
    }
    const double at_upper = excess(upper);
    if (!(at_lower > 0)) return lower;
    if (!(at_upper < 0)) return upper;
    std::uintmax_t iterations = 200;
    const auto [a, b] =
        boost::math::tools::toms748_solve(excess,
                                          lower,
                                          upper,
                                          at_lower,
                                          at_upper,
                                          boost::math::tools::eps_tolerance<double>(50),
                                          iterations);
    return 0.5 * (a + b);
}

}  // namespace

void require_delta(std::string_view option, double delta) {
    if (!(delta > 0 && delta < 1))
        throw ConfigError(fmt::format(
            "{}: {} is not allowed (must lie strictly between 0 and 1)", option, delta));
}

void require_epsilon(double epsilon) {
    if (!(epsilon >= 0 && std::isfinite(epsilon)))
        throw ConfigError(
            fmt::format("epsilon: {} is not allowed (must be finite and not negative)", epsilon));
}

double gdp_delta(double mu, double epsilon) {
    require_mu(mu);
    require_epsilon(epsilon);
    if (mu == 0) return 0;
    if (std::isinf(mu)) return 1;
    return std::clamp(delta_at(mu, epsilon / mu - mu / 2), 0.0, 1.0);
}

double gdp_epsilon(double mu, double delta) {
    require_mu(mu);
    require_delta("delta", delta);
    if (std::isinf(mu)) return infinity;
    if (gdp_delta(mu, 0) <= delta) return 0;
    const double z = threshold_for(delta, -mu / 2, [&](double) { return mu; });
    return mu * (mu / 2 + z);
}

double gdp_mu(double epsilon, double delta) {
    require_epsilon(epsilon);
    require_delta("delta", delta);
    // The mu > 0 with mu (mu/2 + z) = epsilon.
    const auto mu_at = [&](double z) {
        const double root = std::hypot(z, std::sqrt(2 * epsilon));
        return z > 0 ? 2 * epsilon / (z + root) : root - z;
    };
    return mu_at(threshold_for(delta, -infinity, mu_at));
}

double rdp_epsilon(double mu, double delta) {
    require_mu(mu);
    require_delta("delta", delta);
    return mu * mu / 2 + mu * std::sqrt(-2 * std::log(delta));
}

double rdp_mu(double epsilon, double delta) {
    require_epsilon(epsilon);
    require_delta("delta", delta);
    // sqrt(2 log(1/delta) + 2 epsilon) - sqrt(2 log(1/delta)) without cancellation.
    const double root = std::sqrt(-2 * std::log(delta));
    return 2 * epsilon / (root + std::sqrt(root * root + 2 * epsilon));
}

double paper_mu(double epsilon, double delta) {
    require_epsilon(epsilon);
    require_delta("delta", delta);
    return epsilon / (2 * std::sqrt(-std::log(delta)));
}

}  // namespace sotto
