#include "sotto/privacy/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/numbers.hpp"
#include "privacy/person_loss.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

void PrivacyLosses::add(const PrivacyPhase& phase, long rounds, const Eigen::VectorXd& precision) {
    add(phase, rounds, pattern_sensitivity_squared(phase.plan, phase.use, rounds), precision);
}

void PrivacyLosses::add(const PrivacyPhase& phase,
                        long rounds,
                        const Eigen::MatrixXd& squared,
                        const Eigen::VectorXd& precision) {
    // At least one pattern, so that the loss has the kind of this noise even without rounds.
    const long reached = std::max<long>(squared.cols(), 1);
    if (reached > patterns()) losses_.resize(static_cast<std::size_t>(reached * agents_));
    const StreamDistribution noise = phase.plan.distribution();
    const std::vector<RoundLevel> levels =
        round_levels(phase.plan.temporal, phase.use.participation, rounds);
    for (int place = 0; place < phase.members.size(); ++place)
        for (long p = 0; p < reached; ++p) {
            const double seen = p < squared.cols() ? squared(place, p) : 0;
            const auto at = static_cast<std::size_t>(place);
            const double delta = phase.sensitivity[at];
            // Avoids infinity times 0.
            const double distance = seen == 0 ? 0 : delta * delta * seen * precision(place);
            const int number = phase.members.number(place);
            (phase.use.participation.cycle == 1
                 ? in_all_[static_cast<std::size_t>(number)]
                 : losses_[static_cast<std::size_t>(p * agents_ + number)]) +=
                levels.empty() ? loss_of_rounds(noise,
                                                distance,
                                                phase.probability(place),
                                                std::lround(seen),
                                                phase.use.participation.rounds_an_epoch)
                               : loss_of_rounds(noise, distance, phase.probability(place), levels);
        }
}

void PrivacyLosses::add(const PrivacyPhase& phase, long rounds, int size) {
    add(phase, rounds, coalition_precision(phase.plan, size));
}

PrivacyLoss PrivacyLosses::of(int number, long pattern) const {
    PrivacyLoss loss = in_all_[static_cast<std::size_t>(number)];
    if (pattern < patterns()) loss += losses_[static_cast<std::size_t>(pattern * agents_ + number)];
    return loss;
}

PrivacyLoss PrivacyLosses::worst_of(int number, double delta) const {
    PrivacyLoss worst = of(number, 0);
    for (long p = 1; p < patterns(); ++p)
        if (PrivacyLoss loss = of(number, p); worst.less_at(delta, loss)) worst = loss;
    return worst;
}

namespace {

/// The larger of both, for every part. Rounds whose noise differs by rounding count as equal.
PrivacyLoss larger_parts(const PrivacyLoss& one, const PrivacyLoss& other) {
    constexpr double rounding = 1e-12;
    PrivacyLoss::Parts parts = one.parts();
    const PrivacyLoss::Parts others = other.parts();
    parts.mu_squared = std::max(parts.mu_squared, others.mu_squared);
    if (others.pure) parts.pure = std::max(parts.pure.value_or(0), *others.pure);
    for (const SampledRounds& rounds : others.sampled) {
        const auto alike = std::ranges::find_if(parts.sampled, [&](const SampledRounds& known) {
            return known.sampling_probability == rounds.sampling_probability &&
                   known.rounds_an_epoch == rounds.rounds_an_epoch &&
                   std::abs(known.noise_multiplier - rounds.noise_multiplier) <=
                       rounding * rounds.noise_multiplier;
        });
        if (alike == parts.sampled.end()) {
            parts.sampled.push_back(rounds);
            continue;
        }
        alike->count = std::max(alike->count, rounds.count);
        alike->noise_multiplier = std::min(alike->noise_multiplier, rounds.noise_multiplier);
    }
    return PrivacyLoss::of(parts);
}

}  // namespace

PrivacyLoss PrivacyLosses::bound_of(int number) const {
    PrivacyLoss bound = of(number, 0);
    for (long p = 1; p < patterns(); ++p) bound = larger_parts(bound, of(number, p));
    return bound;
}

Eigen::VectorXd PrivacyLosses::amounts_of(int number) const {
    Eigen::VectorXd amounts(patterns());
    for (long p = 0; p < patterns(); ++p) amounts(p) = of(number, p).largest_part();
    return amounts;
}

namespace {

/// What agent `number` may still spend of `whole` in a pattern with most rounds to come, for which
/// the phase's plan is made.
double amount_left(double whole,
                   const PrivacyLosses& spent,
                   int number,
                   const PlanUse& use,
                   const Eigen::VectorXd& counts) {
    const long cycle = use.participation.cycle;
    double left = infinity;
    for (Eigen::Index j = 0; j < counts.size(); ++j) {
        const PrivacyLoss before = spent.of(number, (use.steps.first_round + j) % cycle);
        left = std::min(left, (whole - before.amount().value) * counts.maxCoeff() / counts(j));
    }
    return left;
}

}  // namespace

std::vector<PrivacyBudget> remaining_budgets(std::vector<PrivacyBudget> budgets,
                                             const PrivacyLosses& spent,
                                             const Membership& members,
                                             const PlanUse& use,
                                             long rounds,
                                             bool independent_rounds) {
    const Eigen::VectorXd counts =
        pattern_sensitivities_squared(TemporalFactor{}, use.participation, rounds);
    for (int place = 0; place < members.size(); ++place) {
        PrivacyBudget& budget = budgets[static_cast<std::size_t>(place)];
        const int number = members.number(place);
        if (use.participation.is_secret()) continue;  // see sampled_budget
        const auto [name, whole] = budget.limit.amount();
        const double worst = spent.worst_of(number, budget.delta).amount().value;
        double left = whole - worst;
        // Patterns without a round to come must be within the budget too.
        if (independent_rounds)
            left =
                worst <= whole * (1 + 1e-12) ? amount_left(whole, spent, number, use, counts) : 0;
        if (!(left > 1e-9 * whole))
            throw PrivacyError(fmt::format(
                "agent {}: the rounds so far have spent {} {:.6g} of {:.6g} (epsilon {}), and "
                "nothing is left for {} more; start a run with a larger budget",
                number,
                name,
                worst,
                whole,
                budget.epsilon,
                rounds));
        budget.limit = budget.limit.with_amount(left);
    }
    return budgets;
}

double tail_delta(StreamDistribution noise, double shift) {
    if (!(shift >= 0))
        throw PrivacyError(fmt::format("tails: a shift of {} is not possible", shift));
    switch (noise) {
        case StreamDistribution::laplace:
            return std::min(1.0, 20 * std::exp(shift - tail_radius * tail_radius / 2));
        case StreamDistribution::gaussian:
            break;
    }
    const double room = std::max(0.0, tail_radius - shift);
    return std::min(1.0, 5 * std::exp(-room * room / 2));
}

void require_small_tails(const Tails& tails, double delta) {
    if (tails.allowed()) return;
    throw PrivacyError(
        fmt::format("tails: {:.6g} values of noise add {:.3g} to delta {:g}, at most {:.3g} is "
                    "allowed: too much is revealed in one round for noise that ends after {:.4g} "
                    "standard deviations; use a smaller --epsilon, more --rounds, or a larger "
                    "--delta",
                    tails.values,
                    tails.delta,
                    delta,
                    tails.most,
                    tail_radius));
}

namespace {

/// tail_delta of the agent with the largest precision. Agents without a finite guarantee do not
/// count.
/// @param person mu^2 of the worst person's contributions to one round, who may be at several
/// agents; 0: everybody is at one.
double largest_tail_delta(const PrivacyPhase& phase,
                          const Eigen::VectorXd& precision,
                          double person) {
    if (phase.plan.noiseless() || phase.rounds == 0) return 0;
    const Eigen::VectorXd shifts = largest_round_shifts(phase.plan, phase.use, phase.rounds);
    double largest = 0;
    for (Eigen::Index u = 0; u < precision.size(); ++u) {
        const double shift =
            phase.sensitivity[static_cast<std::size_t>(u)] * std::sqrt(precision(u)) * shifts(u);
        if (std::isfinite(shift)) largest = std::max(largest, shift);
    }
    if (std::isfinite(person)) largest = std::max(largest, std::sqrt(person) * shifts.maxCoeff());
    return tail_delta(phase.plan.distribution(), largest);
}

}  // namespace

namespace {

/// Delta_u alone.
std::vector<Exposure> exposures_in_one_round(const PrivacyPhase& phase) {
    std::vector<Exposure> exposures = exposures_of(phase, 0);
    for (Exposure& exposure : exposures) exposure.sensitivity_squared_over_rounds = 1;
    return exposures;
}

}  // namespace

Ledger::Ledger(PrivacyRecord record) : record_(std::move(record)) {
    const int colluders = record_.now().plan.coalition_size;
    for (const PrivacyPhase& phase : record_.phases) {
        precisions_.push_back(coalition_precision(phase.plan, colluders));
        if (record_.unit_agents > 1)
            persons_.push_back(
                worst_person(phase.plan,
                             colluders,
                             {record_.unit_agents, reach_of(exposures_in_one_round(phase)), {}}));
        value_tails_.push_back(
            record_.dimension > 0
                ? largest_tail_delta(
                      phase, precisions_.back(), persons_.empty() ? 0 : persons_.back().upper)
                : 0);
    }
}

Tails Ledger::tails(long rounds) const {
    Tails tails;
    for (std::size_t k = 0; k < record_.phases.size(); ++k) {
        const PrivacyPhase& phase = record_.phases[k];
        const bool now = k + 1 == record_.phases.size();
        const double values = static_cast<double>(now ? rounds_now(rounds) : phase.rounds) *
                              static_cast<double>(record_.dimension) *
                              static_cast<double>(phase.plan.streams.size());
        tails.values += values;
        tails.delta += values * value_tails_[k];
    }
    tails.delta = std::min(1.0, tails.delta);
    tails.most = delta() > 0 ? largest_tail_share * delta() : largest_tail_of_pure;
    return tails;
}

template <class PrecisionOf>
PrivacyLosses Ledger::losses(long rounds, PrecisionOf&& precision_of) const {
    PrivacyLosses sum(record_.agents());
    const std::size_t now = record_.phases.size() - 1;
    for (std::size_t k = 0; k <= now; ++k) {
        const PrivacyPhase& phase = record_.phases[k];
        sum.add(phase, k == now ? rounds_now(rounds) : phase.rounds, precision_of(k));
    }
    return sum;
}

std::vector<Guarantee> Ledger::guarantees_of(const PrivacyLosses& losses, long rounds) const {
    // With no delta left, only a pure epsilon holds.
    const double left = std::max(0.0, delta() - tails(rounds).delta);
    std::vector<Guarantee> result;
    for (int u = 0; u < record_.agents(); ++u) result.push_back(losses.guarantee(u, left));
    return result;
}

PrivacyLosses Ledger::losses_after(long rounds) const {
    return losses(rounds, [&](std::size_t phase) { return precisions_[phase]; });
}

PrivacyLosses Ledger::losses_in(std::size_t phase, long rounds) const {
    const PrivacyPhase& one = record_.phases[phase];
    const bool now = phase + 1 == record_.phases.size();
    PrivacyLosses losses(record_.agents());
    losses.add(one, now ? rounds_now(rounds) : one.rounds, precisions_[phase]);
    return losses;
}

std::vector<Guarantee> Ledger::after(long rounds) const {
    return guarantees_of(losses_after(rounds), rounds);
}

Guarantee Ledger::after(long rounds, int number) const {
    return losses_after(rounds).guarantee(number, std::max(0.0, delta() - tails(rounds).delta));
}

namespace {

/// A loss within which is everything that exceeds `loss` by this part at most.
PrivacyLoss enlarged(const PrivacyLoss& loss, double part) {
    PrivacyLoss::Parts parts = loss.parts();
    parts.mu_squared *= (1 + part) * (1 + part);
    if (parts.pure) *parts.pure *= 1 + part;
    for (SampledRounds& rounds : parts.sampled) rounds.noise_multiplier /= 1 + part;
    return PrivacyLoss::of(parts);
}

/// Keeps the losses that are within no other, where those alike up to rounding become a bound on
/// both: epsilons are costly, and comparing parts is not.
class LargestLosses {
  public:
    void add(PrivacyLoss loss) {
        constexpr double rounding = 1e-9;
        for (const PrivacyLoss& known : largest_)
            if (loss.within(known, 0)) return;
        std::erase_if(largest_, [&](const PrivacyLoss& known) { return known.within(loss, 0); });
        for (PrivacyLoss& known : largest_)
            if (loss.within(known, rounding)) {
                known = enlarged(known, rounding);
                return;
            }
        largest_.push_back(std::move(loss));
    }
    /// Certifies as few as it can, by bounds that cost a tenth.
    [[nodiscard]] PrivacyLoss at(double delta) const {
        std::vector<std::pair<double, const PrivacyLoss*>> by_bound;
        for (const PrivacyLoss& loss : largest_)
            by_bound.emplace_back(largest_.size() == 1 ? 0 : loss.epsilon_bracket(delta).upper,
                                  &loss);
        std::ranges::stable_sort(
            by_bound, std::greater{}, [](const auto& one) { return one.first; });
        const PrivacyLoss* largest = by_bound.front().second;
        for (const auto& [bound, loss] : std::span(by_bound).subspan(1)) {
            const Certified certified = largest->epsilon(delta);
            if (bound < certified.lower) break;
            const double other = loss->epsilon(delta).upper;
            if (certified.upper < other ||
                (certified.upper == other && largest->less_at(delta, *loss)))
                largest = loss;
        }
        return *largest;
    }

  private:
    std::vector<PrivacyLoss> largest_;
};

}  // namespace

Guarantee Ledger::persons_after(long rounds) const {
    const double left = std::max(0.0, delta() - tails(rounds).delta);
    PrivacyLoss loss;
    for (std::size_t k = 0; k < persons_.size(); ++k) {
        const PrivacyPhase& phase = record_.phases[k];
        const bool now = k + 1 == persons_.size();
        const std::vector<Exposure> exposures =
            exposures_of(phase, now ? rounds_now(rounds) : phase.rounds);
        double most = 0;  // of sens2, which is the same for all agents where noise is on gradients
        for (const Exposure& exposure : exposures)
            most = std::max(most, exposure.sensitivity_squared_over_rounds);
        const double squared = most == 0 ? 0 : most * persons_[k].upper;
        loss += loss_of_person(phase.plan, exposures, record_.unit_agents, squared);
    }
    return guarantee_of(loss, left);
}

Guarantee Ledger::largest_after(long rounds) const {
    if (record_.unit_agents > 1) return persons_after(rounds);
    const PrivacyLosses losses = losses_after(rounds);
    const double left = std::max(0.0, delta() - tails(rounds).delta);
    LargestLosses largest;
    for (int u = 0; u < record_.agents(); ++u) largest.add(losses.worst_of(u, left));
    return guarantee_of(largest.at(left), left);
}

double Ledger::epsilon_after(long rounds) const { return largest_after(rounds).epsilon; }

double Ledger::mu_after(long rounds) const {
    return largest_after(rounds).loss.mu().value_or(not_a_number);
}

Guarantee Ledger::against_eavesdropper(long rounds) const {
    return largest(guarantees_of(losses(rounds,
                                        [&](std::size_t phase) {
                                            return observed_precision(record_.phases[phase].plan,
                                                                      {});
                                        }),
                                 rounds));
}

std::optional<CuriousAgent> Ledger::worst_curious_agent(long rounds) const {
    const int agents = record_.agents();
    const double left = std::max(0.0, delta() - tails(rounds).delta);
    // The observer to whom each target loses most. Compared by parts, since epsilons of sampled
    // rounds are costly.
    std::vector<std::optional<std::pair<int, PrivacyLoss>>> most(static_cast<std::size_t>(agents));
    std::vector<ObservedPrecisions> precisions;
    for (const PrivacyPhase& phase : record_.phases) precisions.emplace_back(phase.plan);
    for (int observer = 0; observer < agents; ++observer) {
        const PrivacyLosses seen = losses(rounds, [&](std::size_t k) {
            return precisions[k].of({record_.phases[k].members.places({observer})});
        });
        for (int target = 0; target < agents; ++target) {
            auto& known = most[static_cast<std::size_t>(target)];
            if (target == observer) continue;
            PrivacyLoss loss = seen.worst_of(target, left);
            if (!known || known->second.less_at(left, loss)) known = {observer, std::move(loss)};
        }
    }
    std::optional<CuriousAgent> worst;
    for (int target = 0; target < agents; ++target)
        if (const auto& known = most[static_cast<std::size_t>(target)]) {
            Guarantee found = guarantee_of(known->second, left);
            if (!worst || worst->guarantee < found)
                worst = CuriousAgent{known->first, target, std::move(found)};
        }
    return worst;
}

long Ledger::rounds_accounted(long rounds) const {
    long sent = rounds_now(rounds);
    for (const PrivacyPhase& phase : record_.past()) sent += phase.rounds;
    return sent;
}

}  // namespace sotto
