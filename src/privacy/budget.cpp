#include "sotto/privacy/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/gdp.hpp"
#include "sotto/privacy/noise_multiplier.hpp"

namespace sotto {

namespace {

constexpr NameTable<Calibration, 3> calibrations{
    {{{Calibration::exact, "exact"}, {Calibration::rdp, "rdp"}, {Calibration::paper, "paper"}}}};

double calibrated_mu(double epsilon, double delta, Calibration calibration) {
    switch (calibration) {
        case Calibration::exact:
            break;
        case Calibration::rdp:
            return rdp_mu(epsilon, delta);
        case Calibration::paper: {
            const double mu = paper_mu(epsilon, delta);
            const double reached = gdp_epsilon(mu, delta);
            if (!(reached <= epsilon))
                throw ConfigError(fmt::format(
                    "calibration: 'paper' is not valid at epsilon {} and delta {}: its noise gives "
                    "epsilon {:.6g}; use exact or rdp",
                    epsilon,
                    delta,
                    reached));
            return mu;
        }
    }
    return gdp_mu(epsilon, delta);
}

}  // namespace

Calibration parse_calibration(std::string_view option, std::string_view text) {
    return calibrations.parse(option, text);
}
std::string name_of(Calibration calibration) { return calibrations.name_of(calibration); }

PrivacyBudget make_budget(double epsilon, double delta, Calibration calibration) {
    require_positive("epsilon", epsilon);
    require_delta("delta", delta);
    return {epsilon,
            delta,
            calibration,
            StreamDistribution::gaussian,
            PrivacyLoss::gaussian(calibrated_mu(epsilon, delta, calibration))};
}

PrivacyBudget make_pure_budget(double epsilon) {
    require_positive("epsilon", epsilon);
    return {
        epsilon, 0, Calibration::exact, StreamDistribution::laplace, PrivacyLoss::pure(epsilon)};
}

PrivacyBudget make_budget(StreamDistribution noise,
                          double epsilon,
                          double delta,
                          Calibration calibration) {
    return noise == StreamDistribution::laplace ? make_pure_budget(epsilon)
                                                : make_budget(epsilon, delta, calibration);
}

PrivacyBudget budget_against(StreamDistribution noise,
                             const PrivacyBudget& budget,
                             double delta,
                             Calibration calibration) {
    return budget.noise == noise ? budget : make_budget(noise, budget.epsilon, delta, calibration);
}

PrivacyBudget budget_spent_by(const PrivacyLoss& loss, StreamDistribution noise, double delta) {
    const double stated = stated_delta(noise, delta);
    return {loss.epsilon(stated).upper, stated, Calibration::exact, noise, loss};
}

PrivacyLoss loss_of(StreamDistribution noise, const Exposure& exposure, double precision) {
    const double rounds = exposure.sensitivity_squared_over_rounds;
    const double distance = exposure.sensitivity * exposure.sensitivity;
    // Infinite times nothing is nothing.
    const double squared = rounds == 0 || distance == 0 ? 0 : distance * rounds * precision;
    return loss_of_rounds(noise, squared, exposure.sampling_probability, std::lround(rounds));
}

namespace {

/// Of patterns in which the same was spent, the one with most rounds to come.
std::vector<SampledPattern> binding_patterns(std::span<const SampledPattern> patterns) {
    std::vector<SampledPattern> binding;
    for (const SampledPattern& pattern : patterns) {
        const auto same = std::ranges::find_if(
            binding, [&](const SampledPattern& known) { return known.spent == pattern.spent; });
        if (same == binding.end())
            binding.push_back(pattern);
        else
            same->rounds = std::max(same->rounds, pattern.rounds);
    }
    return binding;
}

}  // namespace

PrivacyBudget sampled_budget(PrivacyBudget budget,
                             double sampling_probability,
                             std::span<const SampledPattern> patterns) {
    if (budget.calibration != Calibration::exact)
        throw ConfigError(
            fmt::format("calibration: '{}' is not possible with secretly sampled batches (allowed: "
                        "exact)",
                        name_of(budget.calibration)));
    SampledRounds allowed{0, sampling_probability, 0};
    for (const auto& [rounds, spent] : binding_patterns(patterns)) {
        // But for the gap between its bounds it was within the budget when it was planned.
        if (rounds == 0 && spent.epsilon(budget.delta).lower > budget.epsilon)
            throw PrivacyError(
                fmt::format("epsilon {} at delta {:g} is already spent, and more, by records that "
                            "take part in no round to come",
                            budget.epsilon,
                            budget.delta));
        const SampledPhase phase{sampling_probability, rounds};
        allowed.noise_multiplier =
            std::max(allowed.noise_multiplier,
                     noise_multiplier_for(budget.epsilon, budget.delta, {&phase, 1}, spent));
        allowed.count = std::max(allowed.count, rounds);
    }
    budget.limit = PrivacyLoss::sampled({&allowed, 1});
    return budget;
}

PrivacyBudget sampled_budget(PrivacyBudget budget,
                             double sampling_probability,
                             long rounds,
                             const PrivacyLoss& spent) {
    const SampledPattern pattern{rounds, spent};
    return sampled_budget(std::move(budget), sampling_probability, {&pattern, 1});
}

PrivacyBudget no_budget(double delta, Calibration calibration) {
    return {0, delta, calibration, StreamDistribution::gaussian, {}};
}

namespace {

/// The parameter of what is allowed, and of what is left of it where some was spent before.
std::string limit_text(const PrivacyBudget& budget) {
    constexpr double of_no_use = 1e4;  // above this epsilon nothing is hidden
    const auto [name, value] = budget.limit.parameter();
    std::string text = fmt::format("{} {:.6g}", name, value);
    if (!budget.limit.mu() || !(budget.epsilon > 0 && budget.epsilon < of_no_use)) return text;
    const double whole = calibrated_mu(budget.epsilon, budget.delta, budget.calibration);
    if (value >= whole * (1 - 1e-6)) return text;
    return fmt::format("mu {:.6g}, of which {:.6g} is left", whole, value);
}

}  // namespace

std::string text_of(const PrivacyBudget& budget) {
    if (budget.noise == StreamDistribution::laplace)
        return fmt::format("epsilon {:.6g}, pure", budget.epsilon);
    return fmt::format("epsilon {:.6g} at delta {:g}, {} calibration: {}",
                       budget.epsilon,
                       budget.delta,
                       name_of(budget.calibration),
                       limit_text(budget));
}

double precision_limit(const PrivacyBudget& budget, const Exposure& exposure) {
    return largest_squared_distance(budget.noise, budget.limit) /
           (exposure.sensitivity * exposure.sensitivity * exposure.sensitivity_squared_over_rounds);
}

}  // namespace sotto
