#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// A figure with certified bounds.
struct Certified {
    double upper = 0;  ///< valid
    double lower = 0;  ///< no smaller figure is valid; equal to `upper` where the figure is exact
};

/// Rounds with Gaussian noise that a record takes part in by chance: in each with a fixed
/// probability, by a secret coin (Poisson-subsampled Gaussian mechanisms), or in exactly one of
/// every epoch's, drawn uniformly and in secret, anew in every epoch (random allocation). For
/// neighbours that differ by one record added, removed, or zeroed out, one round is dominated by
/// both directions, (P, Q) and (Q, P), of
///
///     Q = N(0, s^2)  from  P = (1 - q) N(0, s^2) + q N(1, s^2)
///     (docs/equations.md#secretly-sampled-rounds),
///
/// and one epoch of t rounds by those of Q = N(0, s^2 I_t) and P = (1/t) sum_i N(e_i, s^2 I_t)
/// (Feldman, Shenfeld 2025; docs/equations.md#random-allocation).
///
/// Dominating pairs compose adaptively, direction by direction (Zhu, Dong, Wang 2022, Theorem 10).
struct SampledRounds {
    /// s > 0: standard deviation of the noise, in units of a record's largest contribution.
    double noise_multiplier = 0;
    double sampling_probability = 0;  ///< q in [0, 1]; 1: always included, a Gaussian of mu 1/s
    long count = 0;                   ///< rounds, or epochs of random allocation, 0 or more
    /// Above 1: random allocation with so many rounds an epoch, and q is 1 / rounds_an_epoch.
    long rounds_an_epoch = 1;

    [[nodiscard]] bool is_allocated() const { return rounds_an_epoch > 1; }

    [[nodiscard]] bool operator==(const SampledRounds&) const = default;
};

/// Largest number of rounds accounted together.
inline constexpr long most_sampled_rounds = 1'000'000'000;
/// Most rounds of an epoch of random allocation.
inline constexpr long most_rounds_an_epoch = 1'000'000;
/// Smallest noise multiplier of random allocation: with less, likelihood ratios overflow.
inline constexpr double least_allocated_noise = 0.1;

/// `epochs` epochs of random allocation.
[[nodiscard]] inline SampledRounds allocated_rounds(double noise_multiplier,
                                                    long rounds_an_epoch,
                                                    long epochs) {
    return {noise_multiplier, 1 / static_cast<double>(rounds_an_epoch), epochs, rounds_an_epoch};
}

/// The same rounds with one entry for every noise multiplier, probability and length of epoch, in
/// ascending order,
/// without entries that reveal nothing (no rounds, or probability 0).
/// @throws PrivacyError unless noise multipliers are above 0 (infinite: nothing is revealed),
/// probabilities from 0 to 1 (with random allocation 1 / rounds_an_epoch, which is at most
/// most_rounds_an_epoch, and noise of at least least_allocated_noise), counts from 0 to
/// most_sampled_rounds in total.
[[nodiscard]] std::vector<SampledRounds> merged_rounds(std::span<const SampledRounds> rounds);

/// A figure and its name in messages.
struct NamedFigure {
    std::string_view name;
    double value = 0;
};

/// The privacy loss of an adaptive composition, in any order, of mu_i-GDP mechanisms (Gaussian
/// parts), mechanisms with a pure epsilon_j (pure parts), and secretly sampled rounds
/// (SampledRounds).
///
/// Without sampled rounds, with mu^2 = sum mu_i^2, E = sum epsilon_j and the curve g(x) =
/// gdp_delta(mu, x), continued to x < 0 by g(x) = 1 - e^x + e^x g(-x),
///
///     delta(epsilon) = p g(epsilon - E) + (1 - p) g(epsilon + E),     p = e^E / (1 + e^E).
///
/// This composes dominating pairs (Zhu, Dong, Wang 2022, Theorem 10): N(mu, 1) against N(0, 1), and
/// randomised response (Kairouz, Oh, Viswanath 2015), whose likelihood ratio is e^E with
/// probability p and otherwise e^-E. The curve is tight for mu and E.
///
/// With sampled rounds, whose losses sum to X, delta(epsilon) = E f(epsilon - X), with f the curve
/// above, for the worse direction of their pair. It is bounded from both sides by two independent
/// methods (docs/equations.md#secretly-sampled-rounds). Upper and lower bound differ by at most
/// 1e-3 of epsilon wherever a lattice of 3e5 cells or 5e5 sums is fine enough; `Certified` gives
/// both. docs/accounting.md has figures.
class PrivacyLoss {
  public:
    /// Nothing was revealed: the neutral element of composition.
    PrivacyLoss() = default;
    /// @param mu, epsilon 0 or more; infinite: everything was revealed.
    /// @throws PrivacyError for a negative number or NaN.
    [[nodiscard]] static PrivacyLoss gaussian(double mu);
    [[nodiscard]] static PrivacyLoss pure(double epsilon);

    /// Loss of secretly sampled rounds. Rounds with q = 1 become a Gaussian part of mu^2 = count /
    /// s^2.
    /// @throws PrivacyError as merged_rounds.
    [[nodiscard]] static PrivacyLoss sampled(std::span<const SampledRounds> rounds);

    /// The parts of the loss, for storage.
    struct Parts {
        double mu_squared = 0;               ///< sum over Gaussian parts
        std::optional<double> pure;          ///< sum over pure parts; nothing if there are none
        std::vector<SampledRounds> sampled;  ///< merged_rounds, 0 < q < 1
    };
    [[nodiscard]] Parts parts() const { return {mu_squared_, pure_, sampled_}; }
    /// Inverse of parts(). @throws PrivacyError as the functions above.
    [[nodiscard]] static PrivacyLoss of(const Parts& parts);

    /// Composition: both mechanisms on the same data.
    PrivacyLoss& operator+=(const PrivacyLoss& other);

    /// Smallest epsilon >= 0 with delta(epsilon) <= delta; infinite at delta 0 with a Gaussian part
    /// or a sampled round. For parts of several kinds, the ends of the last interval of a search.
    /// Cost: microseconds; with sampled rounds up to 40 ms, and nothing if it was asked before.
    /// @throws ConfigError unless 0 <= delta < 1.
    [[nodiscard]] Certified epsilon(double delta) const;
    /// Bounds on it, wide where rounds are sampled: without a lattice, at a tenth of the cost.
    [[nodiscard]] Certified epsilon_bracket(double delta) const;
    /// @throws ConfigError unless epsilon is finite and not negative.
    [[nodiscard]] Certified delta(double epsilon) const;

    /// Whether epsilon is infinite at every delta.
    [[nodiscard]] bool infinite() const;
    /// The mu of a loss that is exactly mu-GDP (perhaps infinite): without pure parts, even of
    /// epsilon 0, and without sampled rounds.
    [[nodiscard]] std::optional<double> mu() const;

    /// Whether less was revealed than by `other`: by comparison of the parts if none exceeds the
    /// other's (then it holds at every delta), otherwise by epsilon at this delta.
    [[nodiscard]] bool less_at(double delta, const PrivacyLoss& other) const;
    /// Whether no part exceeds that of `limit` by more than a relative `tolerance`. Each sampled
    /// round must match one of the limit's with at least its probability and at most its noise
    /// multiplier; rounds are matched one by one, largest share of the noise first.
    [[nodiscard]] bool within(const PrivacyLoss& limit, double tolerance) const;

    /// mu of a Gaussian loss, epsilon of a pure one, the noise multiplier of sampled rounds that
    /// share one. @throws PrivacyError for any other loss.
    [[nodiscard]] NamedFigure parameter() const;
    /// The additive figure that describes the whole loss: mu^2 of a Gaussian loss, epsilon of a
    /// pure one.
    /// @throws PrivacyError for several kinds of parts and for sampled rounds, which have none.
    [[nodiscard]] NamedFigure amount() const;
    /// A loss of the same kind with another amount. @throws as above.
    [[nodiscard]] PrivacyLoss with_amount(double amount) const;

    /// The same mechanisms with other noise, for any kind: mu^2, epsilon, and 1/s^2 of sampled
    /// rounds, times `share`. Increases with `share` at every delta. @param share finite, >= 0.
    [[nodiscard]] PrivacyLoss scaled(double share) const;
    /// The largest of mu^2, epsilon and rounds / s^2; 0 if nothing was revealed.
    [[nodiscard]] double largest_part() const;

    [[nodiscard]] bool operator==(const PrivacyLoss&) const = default;

  private:
    friend PrivacyLoss loss_of_squared_distance(StreamDistribution noise, double squared);
    friend double largest_squared_distance(StreamDistribution noise, const PrivacyLoss& limit);

    PrivacyLoss(double mu_squared, std::optional<double> pure);
    [[nodiscard]] double pure_epsilon() const { return pure_.value_or(0); }
    [[nodiscard]] double noise_multiplier_in_common() const;

    double mu_squared_ = 0;               // of all Gaussian parts; storing mu would lose digits
    std::optional<double> pure_;          // of all pure parts; nothing if there are none
    std::vector<SampledRounds> sampled_;  // merged_rounds, 0 < q < 1
};

/// The composition of two losses.
[[nodiscard]] PrivacyLoss compose(PrivacyLoss first, const PrivacyLoss& second);

/// A loss that reveals at least as much as each of these, at every delta: of Gaussian and pure
/// parts the largest, of sampled rounds the largest probability and count and the least noise,
/// entry by entry if all have as many entries, otherwise of all together (a round that is sampled
/// less often, or has more noise, is a randomised function of the other). Losses of one kind and
/// one number of rounds lose nothing by it. @param losses at least one.
[[nodiscard]] PrivacyLoss dominating(std::span<const PrivacyLoss> losses);

/// The loss of noise whose outputs on two neighbouring inputs lie sqrt(squared) apart in units of
/// the noise: mu under Gaussian noise (L2, standard deviations), a pure epsilon under Laplace noise
/// (L1, scales). The kind of loss of a noise plan is decided here and in the two functions below.
[[nodiscard]] PrivacyLoss loss_of_squared_distance(StreamDistribution noise, double squared);
/// The same from the distance itself, without loss of digits.
[[nodiscard]] PrivacyLoss loss_of_distance(StreamDistribution noise, double distance);
/// The loss of a run whose outputs lie sqrt(squared) apart if a record takes part in all its
/// rounds, and does so in each with this probability, by a secret coin. With probability 1,
/// loss_of_squared_distance; otherwise `rounds` equal, independent rounds of Gaussian noise with
/// noise multiplier sqrt(rounds / squared).
/// @param rounds used if the probability is below 1; whole epochs of random allocation.
/// @param rounds_an_epoch above 1: random allocation.
[[nodiscard]] PrivacyLoss loss_of_rounds(StreamDistribution noise,
                                         double squared,
                                         double sampling_probability,
                                         long rounds,
                                         long rounds_an_epoch = 1);
/// Rounds with noise of one size, 1 / sqrt(precision) of that of a plan without a noise schedule.
struct RoundLevel {
    double precision = 1;  ///< d_t^2 > 0
    long rounds = 0;

    [[nodiscard]] bool operator==(const RoundLevel&) const = default;
};
/// The same for independent rounds whose noise differs: with a probability below 1, the rounds of
/// every level have the noise multiplier sqrt(S / (squared precision)), S = sum rounds precision.
/// @param levels not empty.
[[nodiscard]] PrivacyLoss loss_of_rounds(StreamDistribution noise,
                                         double squared,
                                         double sampling_probability,
                                         std::span<const RoundLevel> levels);
/// "mu 1.2", "epsilon 3", "noise multiplier 0.8", or "noise multiplier 0.8 to 3.1" for sampled
/// rounds whose noise differs. @throws PrivacyError for losses of several kinds.
[[nodiscard]] std::string parameter_text(const PrivacyLoss& loss, int digits = 6);
/// Inverse of loss_of_squared_distance: the largest squared distance within `limit`, rounds / s^2
/// for sampled rounds; 0 if the limit allows no loss of that kind.
[[nodiscard]] double largest_squared_distance(StreamDistribution noise, const PrivacyLoss& limit);
/// The delta at which epsilons under this noise are stated: `delta`, or 0 for pure ones.
[[nodiscard]] double stated_delta(StreamDistribution noise, double delta);

/// @throws ConfigError unless 0 < delta < 1; a NaN fails.
void require_delta(std::string_view option, double delta);
/// @throws ConfigError unless epsilon is finite and not negative; a NaN fails.
void require_epsilon(double epsilon);

/// Gaussian differential privacy: a mechanism is mu-GDP if distinguishing two neighbouring inputs
/// is at least as hard as N(0, 1) from N(mu, 1). All functions are pure, accurate to about 1e-9
/// relative for epsilon in [1e-3, 1e3] and delta in [1e-12, 1), and throw ConfigError outside mu >=
/// 0, epsilon >= 0, delta in (0, 1). mu may be infinite (epsilon is then infinite).

/// delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2), the exact curve.
[[nodiscard]] double gdp_delta(double mu, double epsilon);
/// Smallest epsilon >= 0 with gdp_delta(mu, epsilon) <= delta.
[[nodiscard]] double gdp_epsilon(double mu, double delta);
/// Largest mu whose gdp_epsilon(mu, delta) is epsilon. @param epsilon > 0.
[[nodiscard]] double gdp_mu(double epsilon, double delta);

/// Conversion through Renyi divergence ([W], [C] Theorem 2): mu^2/2 + mu sqrt(2 log(1/delta)); at
/// least gdp_epsilon.
[[nodiscard]] double rdp_epsilon(double mu, double delta);
/// Inverse of rdp_epsilon in mu.
[[nodiscard]] double rdp_mu(double epsilon, double delta);
/// The papers' simplified bound ([W] eq. 10b): mu = epsilon / (2 sqrt(log(1/delta))). Not valid for
/// large epsilon, where make_budget refuses it.
[[nodiscard]] double paper_mu(double epsilon, double delta);

}  // namespace sotto
