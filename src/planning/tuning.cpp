#include "planning/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/numbers.hpp"
#include "options/option_formats.hpp"
#include "planning/budgets.hpp"
#include "planning/planning.hpp"
#include "privacy/noise_multiplier.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"

namespace sotto {

long tuned_rounds(const TuningCase& tuning) {
    constexpr std::array<long, 6> choices{200, 300, 400, 500, 700, 1000};
    const double wanted = tuning.mu * tuning.records / (20 * tuning.noise_ratio);
    const auto* const enough = std::ranges::find_if(
        choices, [&](long rounds) { return static_cast<double>(rounds) >= wanted; });
    return enough == choices.end() ? choices.back() : *enough;
}

double tuned_share(const TuningCase& tuning, long rounds) {
    constexpr std::array<double, 7> below_one{.01, .02, .05, .1, .2, .4, .7};
    const double fewest = std::min(256.0, .2 * tuning.all_records);
    const double root = std::sqrt(static_cast<double>(rounds));
    const double of_all = tuning.noise(1, rounds);
    for (const double share : below_one) {
        if (share * tuning.all_records < fewest) continue;
        const double noise = tuning.noise(share, rounds);
        if (noise * root <= 1.0 / 20 || noise <= 1.1 * of_all) return share;
    }
    return 1;
}

TunedStep tuned_step(
    double norm, std::optional<double> clip_norm, double noise, long rounds, double momentum) {
    const double clip = clip_norm.value_or(norm / 2);
    const double all_noise = noise * std::sqrt(static_cast<double>(rounds));
    const double natural = 80 / (norm * norm);
    const double quiet = all_noise > 0 ? 1.4 / (clip * norm * all_noise) : infinity;
    return {clip, std::min(natural, quiet) * (1 - momentum)};
}

double survey_mu(const PrivacyBudget& budget, double share) {
    return std::sqrt(share) * budget.limit.mu().value_or(0);
}

std::string obstacle_to_tuning(const AskedPlan& plan, const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", plan.mechanism);
    if (protects_agents(plan.adjacency))
        return fmt::format("with --adjacency {}, where the gradients of whole batches are clipped",
                           name_of(plan.adjacency));
    if (plan.noise_std) return "with --noise-std, which is the noise whatever the rule chooses";
    if (plan.plan_file) return "with --plan, which is made for given rounds and batches";
    if (!mechanism.needs_budget || !mechanism.independent_rounds())
        return fmt::format("with mechanism {} (possible with {})",
                           mechanism.name,
                           join(mechanisms_with(&Mechanism::independent_rounds), ", "));
    if (plan.participation.cycle > 1 || plan.open.cycle)
        return "with --participation cyclic:b and cyclic-poisson:b";
    if (plan.learn_clip) return "with --clip-norm learnt";
    if (!topography.later_mixing.empty()) return "with --mixing-schedule";
    if (topography.mixing.push_sum()) return "with --mixing push-sum";
    return {};
}

namespace {

/// Rounds in the plan from which the ratio of noises is taken.
constexpr long rounds_to_compare = 400;

/// The plan in units of the clip, with all records in every round.
PlanConfig with_all_records(PlanConfig config) {
    config.rounds = rounds_to_compare;
    config.batch_size = BatchSize(std::nullopt);
    config.participation = {};
    config.clip_norm = 1;
    config.steps = {};
    config.momentum = 0;
    config.average = {};
    config.final_gossip = 0;
    config.survey_share = 0;
    return config;
}

/// Share of an agent's records in a batch; at most 1.
double share_of(const BatchSize& size, double records) {
    return size.number ? std::min(1.0, static_cast<double>(*size.number) / records) : size.share;
}

TuningCase case_of(const AskedPlan& plan,
                   const Topography& topography,
                   const std::vector<Eigen::Index>& records) {
    const int agents = topography.graph.agents();
    const std::vector<PrivacyBudget> budgets = build_budgets(plan, agents);
    const PrivacyBudget& least = *std::ranges::min_element(
        budgets, {}, [](const PrivacyBudget& budget) { return budget.limit.mu().value_or(0); });
    const PlannedNoise planned =
        plan_before_start(with_all_records(plan), topography, records, true);
    TuningCase tuning;
    tuning.records = agents * static_cast<double>(std::ranges::min(records));
    tuning.all_records =
        static_cast<double>(std::accumulate(records.begin(), records.end(), Eigen::Index{0}));
    tuning.mu = least.limit.mu().value_or(0);
    tuning.noise_ratio = std::sqrt(planned.design.objective / planned.cdp_objective);
    const double spent = survey_mu(least, plan.survey_share);
    const double each = tuning.noise_ratio / tuning.records;
    tuning.noise = [=, sampled = plan.participation.poisson](double share, long rounds) {
        const SampledPhase phase{share, rounds};
        const double multiplier =
            sampled && share < 1
                ? noise_multiplier_for(
                      least.epsilon, least.delta, {&phase, 1}, PrivacyLoss::gaussian(spent))
                : std::sqrt(static_cast<double>(rounds) /
                            (least.limit.mu().value_or(0) * least.limit.mu().value_or(0) -
                             spent * spent));
        return each * multiplier / share;
    };
    return tuning;
}

/// Rounds, share and noise, as process 0 sends them.
struct ChosenRounds {
    long rounds = 0;
    double share = 1;  ///< 0: the size is given
    double noise = 0, noise_ratio = 0;
};

ChosenRounds choose_rounds(const AskedPlan& plan,
                           const Topography& topography,
                           const std::vector<Eigen::Index>& records) {
    const TuningCase tuning = case_of(plan, topography, records);
    ChosenRounds chosen;
    chosen.noise_ratio = tuning.noise_ratio;
    chosen.rounds = plan.open.rounds ? tuned_rounds(tuning) : plan.rounds;
    chosen.share = plan.open.batch_size ? tuned_share(tuning, chosen.rounds) : 0;
    const double fewest = static_cast<double>(std::ranges::min(records));
    chosen.noise = tuning.noise(chosen.share > 0 ? chosen.share : share_of(plan.batch_size, fewest),
                                chosen.rounds);
    return chosen;
}

std::string text_of(const ChosenRounds& chosen) {
    return fmt::format("{} {} {} {}",
                       chosen.rounds,
                       real_text(chosen.share),
                       real_text(chosen.noise),
                       real_text(chosen.noise_ratio));
}

ChosenRounds chosen_rounds_from(const std::string& said) {
    const std::vector<std::string_view> words = split(said, ' ');
    if (words.size() != 4)
        throw NetworkError(
            fmt::format("rank 0 chose '{}' for --tune auto (allowed: rounds, a share of records, "
                        "and what noise they leave)",
                        said));
    ChosenRounds chosen;
    chosen.rounds = static_cast<long>(parse_integer("rounds", words[0]));
    chosen.share = parse_real("batch-size", words[1]);
    chosen.noise = parse_real("noise of the rounds", words[2]);
    chosen.noise_ratio = parse_real("ratio of noises", words[3]);
    require_in_range("rounds", static_cast<double>(chosen.rounds), 1, 1e12);
    require_in_range("batch-size", chosen.share, 0, 1);
    require_in_range("noise of the rounds", chosen.noise, 0, 1e100);
    return chosen;
}

void require_same_choice(const ChosenRounds& own, const ChosenRounds& said, int process) {
    constexpr double rounding = 1e-6;
    if (own.rounds == said.rounds && own.share == said.share &&
        std::abs(own.noise - said.noise) <= rounding * own.noise)
        return;
    throw NetworkError(
        fmt::format("rank {} chose {} rounds and the share {} of records for --tune auto, rank 0 "
                    "{} and {}; start all ranks with the same options and files, or give --rounds "
                    "and --batch-size",
                    process,
                    own.rounds,
                    own.share,
                    said.rounds,
                    said.share));
}

void take_rounds(AskedPlan& plan, const ChosenRounds& chosen) {
    if (plan.open.rounds) plan.rounds = plan.steps.rounds = chosen.rounds;
    if (plan.open.batch_size) {
        plan.batch_size = BatchSize(std::nullopt);
        plan.batch_size.share = chosen.share;
        if (chosen.share == 1) plan.participation.poisson = false;
    }
    plan.open.rounds = plan.open.batch_size = false;
}

/// The values of --tune off.
void take_defaults(AskedPlan& plan, const std::vector<Eigen::Index>& records) {
    constexpr Eigen::Index usual_batch = 128;
    constexpr double clip_of_records = 1, step_of_records = 0.5;
    if (plan.open.batch_size)
        plan.batch_size =
            BatchSize(static_cast<long>(std::min(usual_batch, std::ranges::min(records))));
    if (plan.open.rounds) plan.rounds = PlanConfig{}.rounds;
    if (plan.open.clip_norm) plan.clip_norm = clip_of_records;
    if (plan.open.step_size) {
        plan.steps = {};
        plan.steps.step_size = step_of_records;
    }
    plan.steps.rounds = plan.rounds;
    plan.open.rounds = plan.open.batch_size = plan.open.clip_norm = plan.open.step_size = false;
}

}  // namespace

Tuning settle_tuning(AskedPlan& plan,
                     const std::string& obstacle,
                     const Topography& topography,
                     const std::vector<Eigen::Index>& records,
                     Control& network,
                     bool solves) {
    constexpr std::size_t most_bytes = 128;
    if (!plan.open.tuned()) return {};
    Tuning tuning;
    network.agree([&] {
        tuning.why_not = obstacle;
        if (!obstacle.empty() && plan.tune.value_or(false))
            throw ConfigError(
                fmt::format("tune: auto is not possible {} (allowed: off, or numbers for --rounds, "
                            "--batch-size, --clip-norm and --step-size)",
                            obstacle));
        if (!obstacle.empty()) take_defaults(plan, records);
    });
    if (!obstacle.empty()) return tuning;
    tuning.active = true;
    tuning.measured = plan.open.measured();
    plan.survey_share += tuning.measured ? norms_share : 0;
    ChosenRounds own;
    network.agree([&] {
        if (solves) own = choose_rounds(plan, topography, records);
    });
    const std::string said =
        network.broadcast(network.process() == 0 ? text_of(own) : std::string(), most_bytes);
    network.agree([&] {
        const ChosenRounds chosen = chosen_rounds_from(said);
        if (solves) require_same_choice(own, chosen, network.process());
        take_rounds(plan, chosen);
        tuning.noise = chosen.noise;
        tuning.noise_ratio = chosen.noise_ratio;
    });
    return tuning;
}

}  // namespace sotto
