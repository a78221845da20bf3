#include "planning/cycle_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "planning/agreed_choice.hpp"
#include "planning/budgets.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/plan/membership.hpp"

namespace sotto {

namespace {

/// @throws ConfigError where no noise is planned that could be compared.
void require_budget_to_choose_for(const PlanConfig& config) {
    const auto refuse = [](const std::string& why) {
        throw ConfigError(fmt::format(
            "participation: cyclic-poisson:auto is not possible {} (allowed: cyclic-poisson:b)",
            why));
    };
    if (config.noise_std) refuse("with --noise-std, which is the noise whatever b is");
    if (config.plan_file) refuse("with --plan, which is made for one b");
    if (!find_mechanism("mechanism", config.mechanism).needs_budget)
        refuse(fmt::format("with mechanism {}, which adds no noise", config.mechanism));
    if (config.temporal.kind == TemporalShape::Kind::one_lag)
        refuse("with --temporal one-lag, where a sampled round would count more than once");
}

/// Powers of two below the largest b, and that.
std::vector<long> cycles_to_try(const PlanConfig& config,
                                const std::vector<Eigen::Index>& records) {
    const Eigen::Index fewest = records.empty() ? 0 : *std::ranges::min_element(records);
    long largest =
        config.batch_size != BatchSize(std::nullopt) || records.empty()
            ? largest_sampled_cycle(
                  config.batch_size.of(fewest).value_or(1), fewest, config.sampling_probability)
            : 1;
    largest = std::clamp(largest, 1L, config.rounds);
    std::vector<long> cycles;
    for (long cycle = 1; cycle < largest; cycle *= 2) cycles.push_back(cycle);
    cycles.push_back(largest);
    return cycles;
}

long widest_band(const PlanConfig& config, long cycle) {
    if (!find_mechanism("mechanism", config.mechanism).takes_temporal) return 0;
    return config.temporal.kind == TemporalShape::Kind::banded
               ? std::min(config.temporal.band, cycle - 1)
               : cycle - 1;
}

/// Plans of one candidate after the other.
class CandidatePlans {
  public:
    CandidatePlans(const PlanConfig& config,
                   const Topography& topography,
                   const std::vector<Eigen::Index>& records)
        : config_(config), topography_(topography), records_(records) {}

    /// Tr(M R) of the best plan at the budget.
    [[nodiscard]] double noise_of(const CycleCandidate& candidate) {
        const PlanConfig trial = with_cycle(config_, candidate);
        const int agents = topography_.graph.agents();
        const std::vector<Exposure> exposures = build_exposures(trial, agents, records_);
        std::vector<PrivacyBudget> budgets = build_budgets(trial, agents);
        count_sampling(budgets, exposures, trial, Membership::everybody(agents).numbers);
        Eigen::VectorXd kappa(agents);
        for (int u = 0; u < agents; ++u) {
            const auto place = static_cast<std::size_t>(u);
            kappa(u) = precision_limit(budgets[place], exposures[place]);
        }
        return objective_of(trial, exposures, budgets, kappa / kappa.minCoeff()) / kappa.minCoeff();
    }

  private:
    /// In units of the smallest kappa. Without a temporal factor it depends on nothing else than
    /// how kappa differs between agents.
    double objective_of(const PlanConfig& trial,
                        const std::vector<Exposure>& exposures,
                        const std::vector<PrivacyBudget>& budgets,
                        const Eigen::VectorXd& relative) {
        constexpr double same = 1e-9;
        if (known_objective_ && trial.temporal == known_temporal_ &&
            (relative - known_relative_).cwiseAbs().maxCoeff() < same)
            return *known_objective_;
        known_objective_ =
            plan_noise(trial, topography_, exposures, budgets, false).design.objective;
        known_temporal_ = trial.temporal;
        known_relative_ = relative;
        return *known_objective_;
    }

    const PlanConfig& config_;
    const Topography& topography_;
    const std::vector<Eigen::Index>& records_;
    std::optional<double> known_objective_;
    TemporalShape known_temporal_;
    Eigen::VectorXd known_relative_;
};

/// What other processes need to know of it.
std::string name_of(const CycleCandidate& candidate) {
    return fmt::format("{} {}", candidate.cycle, candidate.band);
}

}  // namespace

PlanConfig with_cycle(PlanConfig config, const CycleCandidate& candidate) {
    config.choose_cycle = false;
    config.participation = {.cycle = candidate.cycle, .poisson = true};
    if (find_mechanism("mechanism", config.mechanism).takes_temporal) {
        config.temporal.kind = TemporalShape::Kind::banded;
        config.temporal.band = candidate.band;
    }
    return config;
}

CycleChoice choose_cycle(const PlanConfig& config,
                         const Topography& topography,
                         const std::vector<Eigen::Index>& records) {
    require_budget_to_choose_for(config);
    CandidatePlans plans(config, topography, records);
    CycleChoice choice;
    for (const long cycle : cycles_to_try(config, records)) {
        CycleCandidate candidate{cycle, widest_band(config, cycle), 0};
        candidate.noise = plans.noise_of(candidate);
        choice.candidates.push_back(candidate);
        if (candidate.noise < choice.best().noise) choice.chosen = choice.candidates.size() - 1;
    }
    return choice;
}

AgreedCycle agree_on_cycle(PlanConfig config,
                           Network& network,
                           const Topography& topography,
                           const std::vector<Eigen::Index>& records,
                           bool solves) {
    CycleChoice choice;
    const bool open = config.choose_cycle;
    network.agree([&] {
        if (solves && open) choice = choose_cycle(config, topography, records);
    });
    const std::string said = agree_on_choice(
        network,
        {"b (and its band)", "--participation cyclic-poisson:auto", "cyclic-poisson:b"},
        open,
        choice.candidates.empty() ? std::string() : name_of(choice.best()));
    network.agree([&] {
        if (said.empty()) return;
        const std::vector<std::string_view> numbers = split(said, ' ');
        if (numbers.size() != 2)
            throw NetworkError(fmt::format(
                "rank 0 says '{}' of --participation cyclic-poisson:auto (allowed: b and a band)",
                said));
        CycleCandidate taken;
        taken.cycle = static_cast<long>(parse_integer("participation", numbers[0]));
        taken.band = static_cast<long>(parse_integer("temporal", numbers[1]));
        require_in_range("participation", static_cast<double>(taken.cycle), 1, 1e9);
        require_in_range("temporal", static_cast<double>(taken.band), 0, 1e6);
        config = with_cycle(std::move(config), taken);
    });
    return {std::move(config), std::move(choice)};
}

std::string text_of(const CycleChoice& choice) {
    if (choice.candidates.empty()) return {};
    std::vector<std::string> others;
    for (const CycleCandidate& candidate : choice.candidates)
        if (candidate.cycle != choice.best().cycle)
            others.push_back(
                fmt::format("{} ({:.3g})", candidate.cycle, candidate.noise / choice.best().noise));
    const std::string best = fmt::format(
        "b = {}{}",
        choice.best().cycle,
        choice.best().band > 0 ? fmt::format(" with band {}", choice.best().band) : std::string());
    if (others.empty()) return best + ": no other b is possible";
    return fmt::format(
        "{} leaves least noise; times as much is left by b = {}", best, fmt::join(others, ", "));
}

}  // namespace sotto
