#include "planning/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/numbers.hpp"
#include "net/agreement.hpp"
#include "planning/budgets.hpp"
#include "planning/noise_schedule.hpp"
#include "planning/planning.hpp"
#include "privacy/noise_multiplier.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/privacy/privacy_loss.hpp"

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

TunedStep tuned_step(const StepCase& of) {
    const double clip = of.clip_norm.value_or(of.norm / 2);
    const double squared = of.norm * of.norm, dimension = static_cast<double>(of.dimension);
    const double deviation = clip * of.noise;
    const double natural = 80 / squared;
    const double uncontracted =
        1.4 / (of.norm * deviation * std::sqrt(static_cast<double>(of.rounds)));
    const double stable = std::min(4 * dimension, 20.0) / squared;
    const double contracted = std::min(stable, 0.2 / (dimension * deviation * deviation));
    const double least = of.values ? 0 : 0.65 / squared;
    const double careful = (of.differing_records ? 0.5 : 1) * (of.values_in_bounds ? 0.1 : 1);
    return {clip,
            std::min(natural, std::max({uncontracted, contracted, least})) * (1 - of.momentum) *
                careful};
}

double rounded_to_digits(double value) {
    return parse_real("tuned value", fmt::format("{:.4g}", value));
}

double survey_mu(const PrivacyBudget& budget, double share) {
    return std::sqrt(share) * budget.limit.mu().value_or(0);
}

std::string obstacle_to_surveys(const AskedPlan& plan, const Topography& topography) {
    const Mechanism& mechanism = find_mechanism("mechanism", plan.mechanism);
    if (protects_agents(plan.adjacency))
        return fmt::format("with --adjacency {}, which protects all data of an agent together",
                           name_of(plan.adjacency));
    if (plan.unit_agents > 1)
        return fmt::format("with --unit-agents {}, whose persons' losses it would not count",
                           plan.unit_agents);
    if (plan.noise_std) return "with --noise-std, where no budget is given";
    if (plan.plan_file) return "with --plan, which is made for given rounds and batches";
    if (!mechanism.needs_budget || !mechanism.independent_rounds())
        return fmt::format("with mechanism {} (possible with {})",
                           mechanism.name,
                           join(mechanisms_with(&Mechanism::independent_rounds), ", "));
    if (!topography.later_mixing.empty()) return "with --mixing-schedule";
    if (topography.mixing.push_sum()) return "with --mixing push-sum";
    return {};
}

std::string obstacle_to_rule(const AskedPlan& plan) {
    if (plan.participation.cycle > 1 || plan.open.cycle)
        return "with --participation cyclic:b and cyclic-poisson:b";
    if (plan.participation.is_allocated()) return "with --participation allocation:t";
    if (plan.learn_clip) return "with --clip-norm learnt";
    return {};
}

namespace {

/// Most records of an agent over the fewest.
double unevenness(const std::vector<Eigen::Index>& records) {
    const auto [fewest, most] = std::ranges::minmax(records);
    return static_cast<double>(most) / static_cast<double>(fewest);
}

/// Unit noise of every agent's own; nothing if one has none.
std::optional<NoisePlan> own_noise_of(NoisePlan plan) {
    for (NoiseRow& row : plan.rows) {
        bool found = false;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const NoiseStream& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
            const bool own =
                plan.groups[static_cast<std::size_t>(stream.group)].members.size() == 1 && !found;
            row.coefficients[j] = own ? 1 : 0;
            found = found || own;
        }
        if (!found) return std::nullopt;
    }
    return plan;
}

}  // namespace

NoisePlan plan_of_surveys(NoisePlan training, const std::vector<Eigen::Index>& records) {
    constexpr double little = 2;
    training.temporal = {};  // a survey is one round
    if (unevenness(records) <= little) return training;
    return own_noise_of(training).value_or(training);
}

PlanConfig with_all_records(PlanConfig config) {
    constexpr long rounds_to_compare = 400;
    config.rounds = rounds_to_compare;
    config.batch_size = BatchSize(std::nullopt);
    config.participation = {};
    config.clip_norm = 1;
    config.steps = {};
    config.momentum = 0;
    config.average = {};
    config.final_gossip = 0;
    config.survey_share = 0;
    config.noise_schedule = constant_noise;
    config.round_noise = {};
    return config;
}

namespace {

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
    const NoisePlan& training = planned.design.plan;
    // The sum of independent noise grows with the root of their number.
    tuning.survey_ratio = plan_of_surveys(training, records).hash() == training.hash()
                              ? tuning.noise_ratio * unevenness(records)
                              : std::sqrt(agents);
    return tuning;
}

/// s with what paid rounds leave of the budget.
std::function<double(double share, long rounds)> noise_of(const AskedPlan& plan,
                                                          const TuningCase& tuning,
                                                          double spent_share) {
    return
        [=, delta = plan.delta, sampled = plan.participation.poisson](double share, long rounds) {
            const double spent = std::sqrt(spent_share) * tuning.mu;
            const SampledPhase phase{share, rounds};
            const double multiplier =
                sampled && share < 1
                    ? noise_multiplier_for(gdp_epsilon(tuning.mu, delta),
                                           delta,
                                           {&phase, 1},
                                           PrivacyLoss::gaussian(spent))
                    : std::sqrt(static_cast<double>(rounds) / (1 - spent_share)) / tuning.mu;
            return tuning.noise_ratio * multiplier / (share * tuning.records);
        };
}

/// What process 0 chose, as it sends it.
struct Choice {
    long rounds = 0;
    double share = 1;  ///< of an agent's records; 0: the size is given
    double noise = 0;
    Measured measured;
};

Measured what_to_measure(const AskedPlan& plan,
                         const TuningCase& tuning,
                         Eigen::Index columns,
                         bool rule) {
    constexpr double enough_of_moments = 20, enough_of_norms = 8;
    const double seen = tuning.mu * tuning.all_records / tuning.survey_ratio;
    Measured measured;
    measured.moments =
        columns > 0 && seen >= enough_of_moments * std::sqrt(2 * static_cast<double>(columns));
    measured.norms =
        rule && plan.open.measured() && seen * std::sqrt(survey_of_norms.share) >= enough_of_norms;
    return measured;
}

Choice choose(const AskedPlan& plan,
              const TuningWishes& wishes,
              const Topography& topography,
              const std::vector<Eigen::Index>& records) {
    TuningCase tuning = case_of(plan, topography, records);
    const bool rule = plan.open.tuned() && wishes.no_rule.empty();
    Choice choice;
    choice.measured = what_to_measure(plan, tuning, wishes.columns, rule);
    if (!rule || (plan.open.measured() && !choice.measured.norms && !wishes.classes)) return choice;
    tuning.noise = noise_of(plan, tuning, choice.measured.share());
    choice.rounds = plan.open.rounds ? tuned_rounds(tuning) : plan.rounds;
    choice.share = plan.open.batch_size ? tuned_share(tuning, choice.rounds) : 0;
    const double fewest = static_cast<double>(std::ranges::min(records));
    choice.noise = tuning.noise(choice.share > 0 ? choice.share : share_of(plan.batch_size, fewest),
                                choice.rounds);
    return choice;
}

std::string text_of(const Choice& choice) {
    return fmt::format("{} {} {} {:d} {:d}",
                       choice.rounds,
                       choice.share,
                       choice.noise,
                       choice.measured.moments,
                       choice.measured.norms);
}

Choice choice_from(const std::string& said) {
    const std::vector<std::string_view> words = split(said, ' ');
    if (words.size() != 5)
        throw NetworkError(
            fmt::format("rank 0 chose '{}' for --tune auto (allowed: rounds, a share of records, "
                        "what noise they leave, and what is measured)",
                        said));
    Choice choice;
    choice.rounds = static_cast<long>(parse_integer("rounds", words[0]));
    choice.share = parse_real("batch-size", words[1]);
    choice.noise = parse_real("noise of the rounds", words[2]);
    choice.measured = {words[3] == "1", words[4] == "1"};
    require_in_range("rounds", static_cast<double>(choice.rounds), 0, 1e12);
    require_in_range("batch-size", choice.share, 0, 1);
    require_in_range("noise of the rounds", choice.noise, 0, 1e100);
    return choice;
}

/// @throws NetworkError for a choice that this process has not asked for.
void require_asked(const Choice& choice, const AskedPlan& plan, const TuningWishes& wishes) {
    const auto refuse = [](std::string_view what, std::string_view why) {
        throw NetworkError(
            fmt::format("rank 0 chose to measure {} before the training, which {} (start all ranks "
                        "with the same options)",
                        what,
                        why));
    };
    if (choice.measured.moments && wishes.columns == 0)
        refuse("moments of columns", "has nothing to scale here");
    if (choice.measured.norms && !(plan.open.measured() && wishes.no_rule.empty()))
        refuse("norms of gradients", "decide nothing here");
    if (choice.rounds > 0 && plan.open.batch_size && choice.share == 0)
        throw NetworkError(
            "rank 0 chose no records for --batch-size auto (allowed: a share above 0)");
}

void require_same_choice(const Choice& own, const Choice& said, int process) {
    constexpr double rounding = 1e-6;
    if (own.rounds == said.rounds && own.share == said.share &&
        std::abs(own.noise - said.noise) <= rounding * own.noise &&
        own.measured.moments == said.measured.moments && own.measured.norms == said.measured.norms)
        return;
    throw NetworkError(fmt::format(
        "rank {} chose '{}' for --tune auto, rank 0 '{}' (rounds, share of records, noise "
        "they leave, moments, norms); start all ranks with the same options and files, "
        "or give --rounds and --batch-size",
        process,
        text_of(own),
        text_of(said)));
}

void take_rounds(AskedPlan& plan, const Choice& choice) {
    if (plan.open.rounds) plan.rounds = choice.rounds;
    if (plan.open.step_size && !plan.schedule_given) plan.steps.kind = StepSchedule::Kind::linear;
    plan.steps.rounds = plan.rounds;
    if (plan.open.batch_size) {
        plan.batch_size = BatchSize(std::nullopt);
        plan.batch_size.share = choice.share;
        if (choice.share == 1) plan.participation.poisson = false;
    }
    // Units, until they are measured.
    if (plan.open.clip_norm) plan.clip_norm = 1;
    if (plan.open.step_size) plan.steps.step_size = 1;
    plan.open.rounds = plan.open.batch_size = false;
}

/// Clip and step for gradients whose norms noise would hide.
void take_usual_step(AskedPlan& plan, double noise) {
    constexpr double usual_norm = 2;  // of logistic regression on a dozen of scaled columns
    const bool given = !plan.open.clip_norm;
    const TunedStep step =
        tuned_step({.norm = usual_norm,
                    .clip_norm = given ? std::optional(plan.clip_norm) : std::nullopt,
                    .noise = noise,
                    .rounds = plan.rounds,
                    .dimension = std::numeric_limits<Eigen::Index>::max(),
                    .momentum = plan.momentum,
                    .differing_records = true});
    plan.clip_norm = step.clip_norm;
    if (plan.open.step_size) plan.steps.step_size = rounded_to_digits(step.step_size);
    plan.open.clip_norm = plan.open.step_size = false;
}

/// The values of --tune off.
void take_defaults(AskedPlan& plan, const std::vector<Eigen::Index>& records) {
    constexpr Eigen::Index usual_batch = 128;
    if (plan.open.batch_size)
        plan.batch_size =
            BatchSize(static_cast<long>(std::min(usual_batch, std::ranges::min(records))));
    if (plan.open.rounds) plan.rounds = PlanConfig{}.rounds;
    if (plan.open.clip_norm) plan.clip_norm = clip_of_records;
    if (plan.open.step_size) plan.steps.step_size = step_of_records;
    plan.steps.rounds = plan.rounds;
    plan.open.rounds = plan.open.batch_size = plan.open.clip_norm = plan.open.step_size = false;
}

void require_possible_wishes(const AskedPlan& plan, const TuningWishes& wishes) {
    const std::string& obstacle = wishes.obstacle.empty() ? wishes.no_rule : wishes.obstacle;
    if (plan.open.tuned() && plan.tune.value_or(false) && !obstacle.empty())
        throw ConfigError(
            fmt::format("tune: auto is not possible {} (allowed: off, or numbers for --rounds, "
                        "--batch-size, --clip-norm and --step-size)",
                        obstacle));
    if (wishes.columns > 0 && !wishes.obstacle.empty())
        throw ConfigError(
            fmt::format("standardise: private is not possible {} (allowed: --bounds alone, public)",
                        wishes.obstacle));
}

}  // namespace

Tuning settle_tuning(AskedPlan& plan,
                     const TuningWishes& wishes,
                     const Topography& topography,
                     const std::vector<Eigen::Index>& records,
                     Control& network,
                     bool solves) {
    constexpr std::size_t most_bytes = 192;
    Tuning tuning;
    network.agree([&] { require_possible_wishes(plan, wishes); });
    const bool asked = plan.tune.value_or(false);
    if (asked) plan.tune.reset();  // what is chosen is in the other options
    if (!plan.open.tuned() && wishes.columns == 0) return tuning;
    std::string why_not = wishes.obstacle.empty() ? wishes.no_rule : wishes.obstacle;
    const bool asks = wishes.obstacle.empty() && (why_not.empty() || wishes.columns > 0);
    Choice own, choice;
    if (asks) {
        network.agree([&] {
            if (solves) own = choose(plan, wishes, topography, records);
        });
        hear_process_0(network, text_of(own), most_bytes, [&](const std::string& said) {
            choice = choice_from(said);
            require_asked(choice, plan, wishes);
            if (solves) require_same_choice(own, choice, network.process());
        });
    }
    if (plan.open.tuned() && why_not.empty() && choice.rounds == 0)
        why_not = "with so few records at this epsilon: noise would hide how long gradients are";
    network.agree([&] {
        tuning.measured = choice.measured;
        tuning.noise = choice.noise;
        plan.survey_share = choice.measured.share();
        if (!plan.open.tuned()) return;
        if (why_not.empty()) {
            tuning.active = true;
            take_rounds(plan, choice);
            tuning.usual_norms = plan.open.measured() && !choice.measured.norms;
            if (tuning.usual_norms) take_usual_step(plan, choice.noise);
        } else if (asked) {
            throw ConfigError(fmt::format("tune: auto is not possible {} (allowed: off)", why_not));
        } else {
            tuning.why_not = why_not;
            take_defaults(plan, records);
        }
    });
    return tuning;
}

}  // namespace sotto
