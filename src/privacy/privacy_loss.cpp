#include "sotto/privacy/privacy_loss.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "privacy/exact_parts.hpp"
#include "privacy/sampled_curve.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/gdp.hpp"

namespace sotto {

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

/// Of parts of both kinds. Either part alone is a function of the composition, so its epsilon is a
/// lower bound; that of the Gaussian part and E add up to an upper one (basic composition).
Certified composed_epsilon(double mu, double pure, double delta) {
    const auto excess = [&](double epsilon) {
        return exact_delta({mu * mu, pure}, epsilon) - delta;
    };
    if (excess(0) <= 0) return {0, 0};
    const double gaussian = gdp_epsilon(mu, delta);
    double lower = std::max(gaussian, pure_epsilon_at(pure, delta)), upper = gaussian + pure;
    if (excess(lower) <= 0) return {lower, lower};  // but for rounding the two bounds meet
    if (excess(upper) > 0) return {upper, upper};
    std::uintmax_t iterations = 200;
    std::tie(lower, upper) = boost::math::tools::toms748_solve(
        excess, lower, upper, boost::math::tools::eps_tolerance<double>(50), iterations);
    return {upper, lower};
}

/// Whether each of `rounds` can be given one of `limits` that reveals as much.
bool rounds_within(const std::vector<SampledRounds>& rounds,
                   std::vector<SampledRounds> limits,
                   double tolerance) {
    for (const SampledRounds& one : rounds) {
        long left = one.count;
        // Both are in ascending order of noise: the limit's quietest rounds that are needed last.
        for (auto limit = limits.rbegin(); limit != limits.rend() && left > 0; ++limit) {
            if (!(limit->noise_multiplier <= one.noise_multiplier * (1 + tolerance) &&
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
        squares += static_cast<double>(one.count) / one.noise_multiplier / one.noise_multiplier;
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
                           long rounds) {
    if (sampling_probability == 1 || squared == 0 || std::isinf(squared))
        return loss_of_squared_distance(noise, squared);
    if (noise != StreamDistribution::gaussian)
        throw PrivacyError("privacy loss: nothing is proved for sampled rounds with Laplace noise");
    const SampledRounds alike{
        std::sqrt(static_cast<double>(rounds) / squared), sampling_probability, rounds};
    return PrivacyLoss::sampled({&alike, 1});
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

}  // namespace sotto
