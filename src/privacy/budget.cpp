#include "sotto/privacy/budget.hpp"

#include <fmt/format.h>

#include <cmath>

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

PrivacyBudget sampled_budget(PrivacyBudget budget,
                             double sampling_probability,
                             long rounds,
                             const PrivacyLoss& spent) {
    if (budget.calibration != Calibration::exact)
        throw ConfigError(
            fmt::format("calibration: '{}' is not possible with participation poisson (allowed: "
                        "exact)",
                        name_of(budget.calibration)));
    const SampledPhase phase{sampling_probability, rounds};
    const SampledRounds allowed{
        noise_multiplier_for(budget.epsilon, budget.delta, {&phase, 1}, spent),
        sampling_probability,
        rounds};
    budget.limit = PrivacyLoss::sampled({&allowed, 1});
    return budget;
}

PrivacyBudget no_budget(double delta, Calibration calibration) {
    return {0, delta, calibration, StreamDistribution::gaussian, {}};
}

std::string text_of(const PrivacyBudget& budget, const PrivacyLoss& reached) {
    if (budget.noise == StreamDistribution::laplace)
        return fmt::format("epsilon {:.6g}, pure", budget.epsilon);
    const auto [name, value] = reached.parameter();
    return fmt::format("epsilon {:.6g} at delta {:g}, {} calibration: {} {:.6g}",
                       budget.epsilon,
                       budget.delta,
                       name_of(budget.calibration),
                       name,
                       value);
}

double precision_limit(const PrivacyBudget& budget, const Exposure& exposure) {
    return largest_squared_distance(budget.noise, budget.limit) /
           (exposure.sensitivity * exposure.sensitivity * exposure.sensitivity_squared_over_rounds);
}

}  // namespace sotto
