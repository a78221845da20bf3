#include "sotto/privacy/composition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

void PrivacyLosses::add(const PrivacyPhase& phase, long rounds, const Eigen::VectorXd& precision) {
    add(phase, pattern_sensitivity_squared(phase.plan, phase.use, rounds), precision);
}

void PrivacyLosses::add(const PrivacyPhase& phase,
                        const Eigen::MatrixXd& squared,
                        const Eigen::VectorXd& precision) {
    // Without any round too: a loss of nothing is still one of this noise.
    const long reached = std::max<long>(squared.cols(), 1);
    if (reached > patterns()) losses_.resize(static_cast<std::size_t>(reached * agents_));
    const StreamDistribution noise = phase.plan.distribution();
    for (int place = 0; place < phase.members.size(); ++place)
        for (long p = 0; p < reached; ++p) {
            const double seen = p < squared.cols() ? squared(place, p) : 0;
            const auto at = static_cast<std::size_t>(place);
            const double delta = phase.sensitivity[at];
            // Infinite times nothing is nothing.
            const double distance = seen == 0 ? 0 : delta * delta * seen * precision(place);
            losses_[static_cast<std::size_t>(p * agents_ + phase.members.number(place))] +=
                loss_of_rounds(noise, distance, phase.probability(place), std::lround(seen));
        }
}

void PrivacyLosses::add(const PrivacyPhase& phase, long rounds, int size) {
    add(phase, rounds, coalition_precision(phase.plan, size));
}

PrivacyLoss PrivacyLosses::of(int number, long pattern) const {
    return pattern < patterns() ? losses_[static_cast<std::size_t>(pattern * agents_ + number)]
                                : PrivacyLoss();
}

PrivacyLoss PrivacyLosses::worst_of(int number, double delta) const {
    PrivacyLoss worst = of(number, 0);
    for (long p = 1; p < patterns(); ++p)
        if (PrivacyLoss loss = of(number, p); worst.less_at(delta, loss)) worst = loss;
    return worst;
}

namespace {

/// The larger part of both, for every part. Rounds whose noise differs by rounding are alike.
PrivacyLoss larger_parts(const PrivacyLoss& one, const PrivacyLoss& other) {
    constexpr double rounding = 1e-12;
    PrivacyLoss::Parts parts = one.parts();
    const PrivacyLoss::Parts others = other.parts();
    parts.mu_squared = std::max(parts.mu_squared, others.mu_squared);
    if (others.pure) parts.pure = std::max(parts.pure.value_or(0), *others.pure);
    for (const SampledRounds& rounds : others.sampled) {
        const auto alike = std::ranges::find_if(parts.sampled, [&](const SampledRounds& known) {
            return known.sampling_probability == rounds.sampling_probability &&
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

/// What agent `number` may still spend of `whole` in a pattern with most rounds to come: the
/// phase's plan is made for that one.
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
        if (use.participation.poisson) continue;  // see sampled_budget
        const auto [name, whole] = budget.limit.amount();
        const double worst = spent.worst_of(number, budget.delta).amount().value;
        double left = whole - worst;
        // Patterns without a round to come must be within the budget all the same.
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

}  // namespace sotto
