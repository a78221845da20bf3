#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A figure that is claimed, and how far below it the truth can lie.
struct Certified {
    double upper = 0;  ///< holds
    double lower = 0;  ///< nothing below it holds; equal to `upper` where the figure is exact
};

/// Rounds in each of which a record takes part with a probability, decided by a secret coin, and
/// what is released has Gaussian noise: Poisson-subsampled Gaussian mechanisms. For neighbours that
/// differ by one record present or absent (added, removed, or zeroed out), one round is as hard to
/// tell as
///
///     Q = N(0, s^2)  from  P = (1 - q) N(0, s^2) + q N(1, s^2)         (docs/equations.md 15),
///
/// and its privacy loss is at most that of both directions, (P, Q) and (Q, P). Dominating pairs
/// compose adaptively, direction by direction (Zhu, Dong, Wang 2022, Theorem 10).
struct SampledRounds {
    /// s: standard deviation of the noise, in units of a record's largest contribution. > 0.
    double noise_multiplier = 0;
    double sampling_probability = 0;  ///< q, from 0 to 1; 1: always there, a Gaussian of mu 1/s
    long count = 0;                   ///< rounds, 0 or more

    [[nodiscard]] bool operator==(const SampledRounds&) const = default;
};

/// Most rounds that are accounted together.
inline constexpr long most_sampled_rounds = 1'000'000'000;

/// The same rounds with one entry for every noise multiplier and probability, in ascending order,
/// and without those that reveal nothing (no round, or probability 0).
/// @throws PrivacyError unless noise multipliers are above 0 (infinite: nothing is revealed),
/// probabilities from 0 to 1, counts from 0 to most_sampled_rounds in all; a NaN fails.
[[nodiscard]] std::vector<SampledRounds> merged_rounds(std::span<const SampledRounds> rounds);

/// A figure with the name it has in messages.
struct NamedFigure {
    std::string_view name;
    double value = 0;
};

/// What a mechanism costs, whatever it is made of: a composition of mechanisms that are mu_i-GDP
/// (Gaussian parts), of mechanisms with a pure epsilon_j (pure parts), and of secretly sampled
/// rounds (SampledRounds), in any order, each of which may follow from what the others said.
///
/// Without sampled rounds, with mu^2 = sum mu_i^2, E = sum epsilon_j and the curve g(x) =
/// gdp_delta(mu, x) of mu, continued to x < 0 by g(x) = 1 - e^x + e^x g(-x),
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
///
/// With sampled rounds, X being the sum of their losses, delta(epsilon) = E f(epsilon - X), f the
/// curve above, for the worse of the two directions of their pair. It is bounded from both sides in
/// two independent ways, which are compared: on lattices (Doroshenko et al. 2022 from above, random
/// merging from below), convolved by Fourier transforms whose errors are bounded too, and without
/// lattices (Renyi divergences, tests). The other parts stay exact. Upper and lower bound differ by
/// at most 1e-3 of epsilon wherever a lattice of 3e5 cells or 5e5 sums is fine enough; `Certified`
/// says by how much. docs/accounting.md has figures.
class PrivacyLoss {
  public:
    /// Nothing was revealed: composing with it changes nothing.
    PrivacyLoss() = default;
    /// @param mu, epsilon 0 or more; infinite: everything was revealed.
    /// @throws PrivacyError for what is negative or not a number.
    [[nodiscard]] static PrivacyLoss gaussian(double mu);
    [[nodiscard]] static PrivacyLoss pure(double epsilon);

    /// Of secretly sampled rounds. What is always there (q = 1) is a Gaussian part of mu^2 = count
    /// / s^2. @throws PrivacyError as merged_rounds.
    [[nodiscard]] static PrivacyLoss sampled(std::span<const SampledRounds> rounds);

    /// What it is made of, to be written down.
    struct Parts {
        double mu_squared = 0;               ///< sum over Gaussian parts
        std::optional<double> pure;          ///< sum over pure parts; nothing where there is none
        std::vector<SampledRounds> sampled;  ///< merged_rounds, 0 < q < 1
    };
    [[nodiscard]] Parts parts() const { return {mu_squared_, pure_, sampled_}; }
    /// @throws PrivacyError as the functions above.
    [[nodiscard]] static PrivacyLoss of(const Parts& parts);

    /// Both mechanisms on the same data.
    PrivacyLoss& operator+=(const PrivacyLoss& other);

    /// Smallest epsilon >= 0 with delta(epsilon) <= delta; infinite at delta 0 with a Gaussian
    /// part or a sampled round. Of parts of several kinds the ends of the last interval of a
    /// search. Cost: microseconds; with sampled rounds a few to 40 ms, and nothing if it was asked
    /// before.
    /// @throws ConfigError unless 0 <= delta < 1.
    [[nodiscard]] Certified epsilon(double delta) const;
    /// @throws ConfigError unless epsilon is finite and not negative.
    [[nodiscard]] Certified delta(double epsilon) const;

    /// Whether no epsilon holds.
    [[nodiscard]] bool infinite() const;
    /// The mu of a loss that is exactly mu-GDP (it may be infinite): no part is pure, not even one
    /// with epsilon 0, and no round is sampled.
    [[nodiscard]] std::optional<double> mu() const;

    /// Whether less was revealed than by `other`. Where one has no part that exceeds the other's,
    /// it is the smaller one at every delta; otherwise the smaller epsilon at this delta.
    [[nodiscard]] bool less_at(double delta, const PrivacyLoss& other) const;
    /// Whether no part exceeds that of `limit` by more than a share `tolerance`. Sampled rounds do
    /// not if each can be given one of the limit's with at least its probability and at most its
    /// noise multiplier; rounds are given one by one, largest share of the noise first.
    [[nodiscard]] bool within(const PrivacyLoss& limit, double tolerance) const;

    /// mu of Gaussian parts, epsilon of pure ones, the noise multiplier of sampled rounds that have
    /// one and the same. @throws PrivacyError for anything else, which no one figure tells.
    [[nodiscard]] NamedFigure parameter() const;
    /// What adds up in compositions, and tells all of the loss: mu^2 of Gaussian parts, epsilon of
    /// pure ones. @throws PrivacyError for parts of several kinds and for sampled rounds, which
    /// have no such figure.
    [[nodiscard]] NamedFigure amount() const;
    /// A loss of the same kind with another amount. @throws as above.
    [[nodiscard]] PrivacyLoss with_amount(double amount) const;

    /// The same mechanisms with other noise, for any kind: mu^2, epsilon, and 1/s^2 of sampled
    /// rounds, times `share`. It grows with `share` at every delta. @param share finite, 0 or more.
    [[nodiscard]] PrivacyLoss scaled(double share) const;
    /// The largest of mu^2, epsilon and count / s^2: 0 if nothing was revealed.
    [[nodiscard]] double largest_part() const;

    [[nodiscard]] bool operator==(const PrivacyLoss&) const = default;

  private:
    friend PrivacyLoss loss_of_squared_distance(StreamDistribution noise, double squared);
    friend double largest_squared_distance(StreamDistribution noise, const PrivacyLoss& limit);

    PrivacyLoss(double mu_squared, std::optional<double> pure);
    [[nodiscard]] double pure_epsilon() const { return pure_.value_or(0); }
    [[nodiscard]] double noise_multiplier_in_common() const;

    double mu_squared_ = 0;       // of all Gaussian parts; mu would lose digits of their sum
    std::optional<double> pure_;  // of all pure parts; nothing where there is none
    std::vector<SampledRounds> sampled_;  // merged_rounds, 0 < q < 1
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
/// The loss of a run whose outputs lie sqrt(squared) apart if a record takes part in all rounds it
/// can take part in, and does so in each with this probability, decided by a secret coin. With 1,
/// loss_of_squared_distance; otherwise rounds are alike and independent (Gaussian noise), `rounds`
/// of noise multiplier sqrt(rounds / squared).
/// @param rounds counts where the probability is below 1.
[[nodiscard]] PrivacyLoss loss_of_rounds(StreamDistribution noise,
                                         double squared,
                                         double sampling_probability,
                                         long rounds);
/// Its inverse: how far apart outputs may lie within `limit`, count / s^2 for sampled rounds; 0
/// where it allows no loss of that kind.
[[nodiscard]] double largest_squared_distance(StreamDistribution noise, const PrivacyLoss& limit);
/// The delta that epsilons under this noise are stated at: `delta`, or 0 where they are pure.
[[nodiscard]] double stated_delta(StreamDistribution noise, double delta);

/// @throws ConfigError unless 0 < delta < 1; a NaN fails.
void require_delta(std::string_view option, double delta);
/// @throws ConfigError unless epsilon is finite and not negative; a NaN fails.
void require_epsilon(double epsilon);

/// Gaussian differential privacy: a mechanism is mu-GDP when telling two neighbouring inputs apart
/// is no easier than telling N(0, 1) from N(mu, 1). All functions are pure, accurate to about 1e-9
/// relative for epsilon in [1e-3, 1e3] and delta in [1e-12, 1), and throw ConfigError outside
/// mu >= 0, epsilon >= 0, delta in (0, 1). mu may be infinite (epsilon is then infinite).

/// delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2), the exact curve.
[[nodiscard]] double gdp_delta(double mu, double epsilon);
/// Smallest epsilon >= 0 with gdp_delta(mu, epsilon) <= delta.
[[nodiscard]] double gdp_epsilon(double mu, double delta);
/// Largest mu whose gdp_epsilon(mu, delta) is epsilon. @param epsilon > 0.
[[nodiscard]] double gdp_mu(double epsilon, double delta);

/// Conversion through Renyi divergence ([W], [C] Theorem 2): mu^2/2 + mu sqrt(2 log(1/delta));
/// never below gdp_epsilon.
[[nodiscard]] double rdp_epsilon(double mu, double delta);
/// Inverse of rdp_epsilon in mu.
[[nodiscard]] double rdp_mu(double epsilon, double delta);
/// The papers' simplified bound ([W] eq. 10b): mu = epsilon / (2 sqrt(log(1/delta))). Not valid for
/// large epsilon; make_budget refuses it there.
[[nodiscard]] double paper_mu(double epsilon, double delta);

}  // namespace sotto
