#pragma once

#include <optional>
#include <string_view>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A figure that is claimed, and how far below it the truth can lie.
struct Certified {
    double upper = 0;  ///< holds
    double lower = 0;  ///< nothing below it holds; equal to `upper` where the figure is exact
};

/// A figure with the name it has in messages.
struct NamedFigure {
    std::string_view name;
    double value = 0;
};

/// What a mechanism costs, whatever it is made of: a composition of mechanisms that are mu_i-GDP
/// (Gaussian parts) and of mechanisms with a pure epsilon_j (pure parts), in any order, each of
/// which may follow from what the others said.
///
/// With mu^2 = sum mu_i^2, E = sum epsilon_j and the curve g(x) = gdp_delta(mu, x) of mu, continued
/// to x < 0 by g(x) = 1 - e^x + e^x g(-x),
///
///     delta(epsilon) = p g(epsilon - E) + (1 - p) g(epsilon + E),     p = e^E / (1 + e^E).
///
/// It holds: mu_i-GDP is dominated by N(mu_i, 1) against N(0, 1), a pure epsilon_j by randomised
/// response (Kairouz, Oh, Viswanath 2015), and dominating pairs compose adaptively (Zhu, Dong, Wang
/// 2022, Theorem 10). The Gaussian pairs make that of mu; the others are pure with E, which again
/// randomised response dominates. Its likelihood ratio is e^E with probability p, otherwise e^-E;
/// given it, the hockey-stick divergence is the Gaussian one, shifted by E. Nothing below it holds
/// for all mechanisms with this mu and E: that pair is one of them. Without pure parts it is
/// gdp_delta, and epsilon(delta) is gdp_epsilon; without Gaussian parts epsilon(0) = E.
class PrivacyLoss {
  public:
    /// Nothing was revealed: composing with it changes nothing.
    PrivacyLoss() = default;
    /// @param mu, epsilon 0 or more; infinite: everything was revealed.
    /// @throws PrivacyError for what is negative or not a number.
    [[nodiscard]] static PrivacyLoss gaussian(double mu);
    [[nodiscard]] static PrivacyLoss pure(double epsilon);

    /// Both mechanisms on the same data.
    PrivacyLoss& operator+=(const PrivacyLoss& other);

    /// Smallest epsilon >= 0 with delta(epsilon) <= delta; infinite at delta 0 with a Gaussian
    /// part. Of parts of both kinds the ends of the last interval of a search.
    /// @throws ConfigError unless 0 <= delta < 1.
    [[nodiscard]] Certified epsilon(double delta) const;
    /// @throws ConfigError unless epsilon is finite and not negative.
    [[nodiscard]] Certified delta(double epsilon) const;

    /// Whether no epsilon holds.
    [[nodiscard]] bool infinite() const;
    /// The mu of a loss that is exactly mu-GDP (it may be infinite): no part is pure, not even one
    /// with epsilon 0.
    [[nodiscard]] std::optional<double> mu() const;

    /// Whether less was revealed than by `other`. Where one has no part that exceeds the other's,
    /// it is the smaller one at every delta; otherwise the smaller epsilon at this delta.
    [[nodiscard]] bool less_at(double delta, const PrivacyLoss& other) const;
    /// Whether no part exceeds that of `limit` by more than a share `tolerance`.
    [[nodiscard]] bool within(const PrivacyLoss& limit, double tolerance) const;

    /// mu of Gaussian parts, epsilon of pure ones.
    /// @throws PrivacyError for parts of both kinds, which no one figure tells.
    [[nodiscard]] NamedFigure parameter() const;
    /// What adds up in compositions: mu^2 of Gaussian parts, epsilon of pure ones. @throws as
    /// above.
    [[nodiscard]] NamedFigure amount() const;
    /// A loss of the same kind with another amount. @throws as above.
    [[nodiscard]] PrivacyLoss with_amount(double amount) const;

    [[nodiscard]] bool operator==(const PrivacyLoss&) const = default;

  private:
    friend PrivacyLoss loss_of_squared_distance(StreamDistribution noise, double squared);
    friend double largest_squared_distance(StreamDistribution noise, const PrivacyLoss& limit);

    PrivacyLoss(double mu_squared, std::optional<double> pure);
    [[nodiscard]] double pure_epsilon() const { return pure_.value_or(0); }

    double mu_squared_ = 0;       // of all Gaussian parts; mu would lose digits of their sum
    std::optional<double> pure_;  // of all pure parts; nothing where there is none
};

/// One loss after the other.
[[nodiscard]] PrivacyLoss compose(PrivacyLoss first, const PrivacyLoss& second);

/// The loss of noise whose outputs on two neighbouring inputs lie sqrt(squared) apart, in units of
/// the noise: mu under Gaussian noise (L2 distance and standard deviations), a pure epsilon under
/// Laplace noise (L1 distance and scales). Here, and in the two functions below, is decided what
/// kind of loss a noise plan causes.
[[nodiscard]] PrivacyLoss loss_of_squared_distance(StreamDistribution noise, double squared);
/// The same of the distance itself, which loses no digit: the root of a square is exact.
[[nodiscard]] PrivacyLoss loss_of_distance(StreamDistribution noise, double distance);
/// Its inverse: how far apart outputs may lie within `limit`; 0 where it allows no loss of that
/// kind.
[[nodiscard]] double largest_squared_distance(StreamDistribution noise, const PrivacyLoss& limit);
/// The delta that epsilons under this noise are stated at: `delta`, or 0 where they are pure.
[[nodiscard]] double stated_delta(StreamDistribution noise, double delta);

}  // namespace sotto
