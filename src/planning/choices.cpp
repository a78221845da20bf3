#include "planning/choices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/numbers.hpp"
#include "design/mixing_search.hpp"
#include "planning/budgets.hpp"
#include "planning/configured_gossip.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/plan/membership.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

namespace {

/// @throws ConfigError if there is no planned noise to compare.
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

/// Powers of two below the largest b, then the largest b.
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

/// Plans candidates one by one.
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
        const CountedRounds counted = count_rounds(trial, agents, records_);
        Eigen::VectorXd kappa(agents);
        for (int u = 0; u < agents; ++u) {
            const auto place = static_cast<std::size_t>(u);
            kappa(u) = precision_limit(counted.budgets[place], counted.exposures[place]);
        }
        return objective_of(trial, counted, kappa / kappa.minCoeff()) / kappa.minCoeff();
    }

  private:
    /// In units of the smallest kappa. Without a temporal factor it depends only on how kappa
    /// differs between agents.
    double objective_of(const PlanConfig& trial,
                        const CountedRounds& counted,
                        const Eigen::VectorXd& relative) {
        constexpr double same = 1e-9;
        if (known_objective_ && trial.temporal == known_temporal_ &&
            (relative - known_relative_).cwiseAbs().maxCoeff() < same)
            return *known_objective_;
        known_objective_ = plan_noise(trial, topography_, counted, false).design.objective;
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

}  // namespace

PlanConfig with_cycle(PlanConfig config, const CycleCandidate& candidate) {
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

namespace {

constexpr double near_enough = 1.1;
constexpr double little_disagreement = 0.01;

/// Bytes of all messages with one gossip step per round.
double bytes_of(const PlanConfig& config, const Topography& topography, double message_bytes) {
    return message_bytes * static_cast<double>(config.rounds) *
           exchanges_a_round(config.correction, 1) *
           static_cast<double>(topography.graph.messages());
}

PlanConfig with_gossip_steps(PlanConfig config, int steps) {
    config.gossip_steps = steps;
    return config;
}

double rounding_of_nibbles(const PlannedNoise& planned, long rounds) {
    constexpr double of_variance = 0.06;
    const NoisePlan& plan = planned.design.plan;
    double squares = 0;
    for (const NoiseRow& row : plan.rows)
        for (const double coefficient : row.coefficients) squares += coefficient * coefficient;
    const auto agents = static_cast<double>(plan.agents);
    const double counted = UtilityGain(planned.utility, rounds, GossipPolynomial(1), {}).at(0);
    return of_variance * counted * squares / agents * (1 - 1 / agents);
}

/// Plans for values of K, each solved once.
class GossipPlans {
  public:
    GossipPlans(const PlanConfig& config,
                const Topography& topography,
                const std::vector<Eigen::Index>& records,
                double message_bytes)
        : config_(config),
          topography_(topography),
          records_(records),
          bytes_a_step_(bytes_of(config, topography, message_bytes)) {}

    const GossipCandidate& at(int steps) {
        const auto known = candidates_.find(steps);
        if (known != candidates_.end()) return known->second;
        const PlannedNoise planned = plan_before_start(
            with_gossip_steps(config_, steps), topography_, records_, candidates_.empty());
        if (candidates_.empty()) trusted_ = planned.cdp_objective;
        return candidates_
            .emplace(steps,
                     GossipCandidate{steps,
                                     planned.design.objective,
                                     rounding_of_nibbles(planned, config_.rounds),
                                     steps * bytes_a_step_})
            .first->second;
    }
    [[nodiscard]] double trusted() const { return trusted_; }
    [[nodiscard]] double bytes_a_step() const { return bytes_a_step_; }
    [[nodiscard]] std::vector<GossipCandidate> all() const {
        std::vector<GossipCandidate> result;
        for (const auto& [steps, candidate] : candidates_) result.push_back(candidate);
        return result;
    }

  private:
    const PlanConfig& config_;
    const Topography& topography_;
    const std::vector<Eigen::Index>& records_;
    double bytes_a_step_;
    double trusted_ = 0;
    std::map<int, GossipCandidate> candidates_;
};

/// Most steps within --max-bytes or, without it, within one exchange of messages that are so many
/// times as long, if that is above 1. @throws ConfigError if --max-bytes is too small for one step.
int most_steps(const PlanConfig& config, double bytes_a_step, double times_as_long) {
    if (!config.max_bytes)
        return times_as_long > 1
                   ? static_cast<int>(std::min<double>(times_as_long, most_gossip_steps))
                   : most_gossip_steps;
    const double steps = *config.max_bytes / bytes_a_step;
    if (!(steps >= 1))
        throw ConfigError(
            fmt::format("max-bytes: {:g} bytes are left for the rounds, less than one exchange per "
                        "round sends, {:g} (allowed: so many more, fewer --rounds, or --precision "
                        "nibble; --clip-norm and --step-size by number save the measuring before "
                        "the rounds)",
                        std::max(*config.max_bytes, 0.0),
                        bytes_a_step));
    return static_cast<int>(std::min<double>(steps, most_gossip_steps));
}

/// Whether K makes a difference to noise.
bool counts_exchanges(const PlanConfig& config, const Topography& topography) {
    return !config.plan_file && mixes_hidden_models(config) &&
           find_mechanism("mechanism", config.mechanism).needs_budget &&
           topography.graph.agents() >= 2;
}

/// The candidate of config.gossip_steps alone.
GossipChoice given_gossip_steps(const PlanConfig& config,
                                const Topography& topography,
                                const std::vector<Eigen::Index>& records,
                                double message_bytes) {
    GossipChoice choice;
    choice.chosen = config.gossip_steps;
    if (!counts_exchanges(config, topography)) return choice;
    GossipPlans plans(config, topography, records, message_bytes);
    (void)plans.at(choice.chosen);
    choice.trusted = plans.trusted();
    choice.candidates = plans.all();
    return choice;
}

}  // namespace

GossipChoice choose_gossip_steps(const PlanConfig& config,
                                 const Topography& topography,
                                 const std::vector<Eigen::Index>& records,
                                 double message_bytes,
                                 double usual_bytes) {
    GossipChoice choice;
    if (!counts_exchanges(config, topography)) return choice;
    GossipPlans plans(config, topography, records, message_bytes);
    constexpr int most_agents = 200;  // with which plans for many K are solved
    const int most = most_steps(config, plans.bytes_a_step(), usual_bytes / message_bytes);
    const int enough = consensus_steps(topography.mixing, config.gossip, little_disagreement, most);
    const double reached = plans.at(1).noise;
    choice.trusted = plans.trusted();
    choice.wanted = near_enough * choice.trusted;
    int below = 0, above = 1;  // the least sufficient K is above `below` and at most `above`
    if (!(reached <= choice.wanted)) {
        choice.wanted = std::max(choice.wanted, near_enough * plans.at(enough).noise);
        if (topography.graph.agents() > most_agents) below = (above = enough) - 1;
        for (; above < enough && !(plans.at(above).noise <= choice.wanted);
             above = std::min(2 * above, enough))
            below = above;
    }
    while (above - below > 1) {
        const int middle = (below + above) / 2;
        (plans.at(middle).noise <= choice.wanted ? above : below) = middle;
    }
    choice.chosen = above;
    choice.limited = !(plans.at(above).noise <= near_enough * choice.trusted) && enough == most;
    choice.candidates = plans.all();
    return choice;
}

namespace {

constexpr double usual_messages = 1.25;  // noise that shorter ones may leave, beside float32

/// K and weights for messages of this precision. @param open of them.
GossipChoice choose_for(PlanConfig config,
                        const Topography& topography,
                        const std::vector<Eigen::Index>& records,
                        long dimension,
                        MessagePrecision precision,
                        OpenExchanges open) {
    const auto bytes = [&](MessagePrecision of) {
        return static_cast<double>(piece_bytes(of, static_cast<std::size_t>(dimension)));
    };
    const bool nibbles = precision == MessagePrecision::nibble;
    if (nibbles) config.variance_cap = std::min(config.variance_cap, variance_cap_of_nibbles);
    std::vector<GossipRule> rules{config.gossip};
    if (open.gossip) {
        rules = {GossipRule::plain};
        const bool several = open.steps || config.gossip_steps > 1;
        if (several && topography.mixing.symmetric() && mixing_radius(topography.mixing) < 1) {
            rules = {GossipRule::chebyshev, GossipRule::plain};
            if (!nibbles) rules.push_back(GossipRule::optimal);
        }
    }
    GossipChoice best;
    for (const GossipRule rule : rules) {
        config.gossip = rule;
        GossipChoice choice =
            open.steps ? choose_gossip_steps(config,
                                             topography,
                                             records,
                                             bytes(precision),
                                             bytes(MessagePrecision::float64))
                       : given_gossip_steps(config, topography, records, bytes(precision));
        choice.gossip = rule;
        if (open.gossip && choice.chosen == 1) choice.gossip = GossipRule::plain;
        choice.precision = precision;
        if (choice.candidates.empty()) return choice;
        if (best.candidates.empty() || choice.best().noise < best.best().noise)
            best = std::move(choice);
        if (open.steps && !best.limited) break;
    }
    return best;
}

}  // namespace

GossipChoice choose_exchanges(const PlanConfig& config,
                              const Topography& topography,
                              const std::vector<Eigen::Index>& records,
                              long dimension,
                              MessagePrecision precision,
                              OpenExchanges open) {
    GossipChoice own = choose_for(config, topography, records, dimension, precision, open);
    if (!open.precision || precision != MessagePrecision::nibble || own.candidates.empty())
        return own;
    const double left = own.best().noise + own.best().rounding;
    if (left <= usual_messages * own.trusted) return own;
    GossipChoice longer =
        choose_for(config, topography, records, dimension, MessagePrecision::float32, open);
    return left <= usual_messages * longer.best().noise ? own : longer;
}

std::vector<GossipCandidate> compare_gossip_steps(const PlanConfig& config,
                                                  const Topography& topography,
                                                  const std::vector<Eigen::Index>& records,
                                                  double message_bytes) {
    GossipPlans plans(config, topography, records, message_bytes);
    for (const int steps : {1, 2, 4, 8}) (void)plans.at(steps);
    return plans.all();
}

const GossipCandidate& GossipChoice::best() const {
    return *std::ranges::find(candidates, chosen, [](const GossipCandidate& c) { return c.steps; });
}

std::string text_of(const GossipChoice& choice) {
    if (choice.candidates.empty()) return {};
    const GossipCandidate& first = choice.candidates.front();
    return fmt::format("K = {}: noise {:.3g} times the trusted aggregator's{}{}",
                       choice.chosen,
                       choice.best().noise / choice.trusted,
                       first.steps == 1 && choice.chosen > 1
                           ? fmt::format(", {:.3g} with K = 1", first.noise / choice.trusted)
                           : std::string(),
                       choice.limited
                           ? " (more exchanges would leave less, but they are limited by "
                             "their bytes, see --max-bytes, or to 256)"
                           : "");
}

bool leaves_shape_open(const AskedPlan& config) {
    return config.open.temporal && !config.plan_file &&
           find_mechanism("mechanism", config.mechanism).takes_temporal;
}

namespace {

RoundWork work_of(const PlanConfig& config,
                  const Topography& topography,
                  const std::vector<Eigen::Index>& records,
                  long dimension) {
    const long all = records.empty() ? 0 : static_cast<long>(std::ranges::max(records));
    return {topography.graph.agents(),
            dimension,
            static_cast<long>(config.batch_size.of(all).value_or(all))};
}

DesignInput rounds_of(const PlanConfig& config, const Topography& topography) {
    DesignInput input;
    input.mixing = &topography.mixing;
    if (!topography.later_mixing.empty())
        input.schedule = std::make_shared<const MixingSchedule>(
            topography.schedule().from(config.steps.first_round));
    input.rounds = config.rounds;
    input.steps = config.steps;
    input.gossip = configured_gossip(config, topography.mixing);
    input.participation = config.participation;
    input.temporal.restart = config.temporal.restart;
    return input;
}

}  // namespace

ShapeChoice choose_temporal(const AskedPlan& config,
                            const Topography& topography,
                            const std::vector<Eigen::Index>& records,
                            long dimension) {
    if (!leaves_shape_open(config)) return {};
    const RoundWork work = work_of(config, topography, records, dimension);
    if (config.open.cycle) {
        const PastRounds past = affordable_past(work);
        const long band = std::min({past.kept, past.read, config.rounds});
        const TemporalShape widest{TemporalShape::Kind::banded, band, config.temporal.restart};
        ShapeChoice choice;
        choice.candidates = {{widest, not_a_number}};
        return choice;
    }
    return affordable_shape(rounds_of(config, topography), work);
}

namespace {

/// Upper limit on counted rounds, to keep a statement below a second. Sampled noise for an epsilon
/// grows more slowly than the root of the rounds, so more rounds gain at least as much.
constexpr long most_counted_rounds = 1'000'000;

bool promises_an_epsilon(const PlanConfig& config, const PrivacyBudget& budget) {
    return !config.noise_std && budget.epsilon > 0 && budget.calibration == Calibration::exact &&
           budget.noise == StreamDistribution::gaussian;
}

/// Whether the mechanism has independent noise on gradients. Plan files are checked when they are
/// read.
bool can_be_sampled(const PlanConfig& config) {
    const Mechanism* const mechanism = mechanisms().look_up(config.mechanism);
    return mechanism != nullptr && mechanism->independent_rounds();
}

/// Noise on gradients, in units that make two budgets comparable.
double noise_of(double sensitivity, double rounds, const PrivacyLoss& limit) {
    return sensitivity *
           std::sqrt(rounds / largest_squared_distance(StreamDistribution::gaussian, limit));
}

PrivacyLoss unsampled_limit(const PrivacyBudget& budget) {
    return make_budget(budget.noise, budget.epsilon, budget.delta, budget.calibration).limit;
}

}  // namespace

std::optional<double> sampling_gain(const PlanConfig& config, const PrivacyBudget& budget) {
    if (!config.participation.is_secret() || config.client_probability ||
        !promises_an_epsilon(config, budget))
        return std::nullopt;
    return noise_of(1, static_cast<double>(config.rounds), unsampled_limit(budget)) /
           noise_of(1,
                    temporal_sensitivity_squared({}, config.participation, config.rounds),
                    budget.limit);
}

std::optional<double> gain_of_switching(const PlanConfig& config,
                                        const PrivacyBudget& budget,
                                        const Exposure& exposure,
                                        Eigen::Index records) {
    if (protects_agents(config.adjacency) || config.participation.is_secret() ||
        !promises_an_epsilon(config, budget) || !can_be_sampled(config) ||
        exposure.batch_size >= records)
        return std::nullopt;
    const Exposure sampled = agent_exposure(Adjacency::record_add_remove,
                                            {.cycle = 1, .poisson = true},
                                            config.clip_norm,
                                            config.rounds,
                                            records,
                                            exposure.batch_size);
    const PrivacyBudget asked =
        make_budget(budget.noise, budget.epsilon, budget.delta, budget.calibration);
    const PrivacyLoss limit =
        sampled_budget(
            asked, sampled.sampling_probability, std::min(config.rounds, most_counted_rounds))
            .limit;
    return noise_of(exposure.sensitivity, exposure.sensitivity_squared_over_rounds, asked.limit) /
           noise_of(sampled.sensitivity, static_cast<double>(config.rounds), limit);
}

std::vector<std::string> sampling_statements(const PlanConfig& config,
                                             const std::vector<Exposure>& exposures,
                                             const std::vector<PrivacyBudget>& budgets,
                                             const std::vector<Eigen::Index>& records) {
    std::optional<double> least;
    for (const PrivacyBudget& budget : budgets)
        if (const auto gain = sampling_gain(config, budget); gain && !(least && *least <= *gain))
            least = gain;
    if (least)
        return {fmt::format(
            "Batches that are sampled in secret need {:.3g} times less noise than if every record "
            "counted in every round.",
            *least)};
    if (records.empty()) return {};
    // The agent with the fewest records for its batches gains least.
    const auto place =
        static_cast<std::size_t>(std::ranges::min_element(records) - records.begin());
    const auto gain = gain_of_switching(config, budgets[place], exposures[place], records[place]);
    if (!gain || *gain <= 1) return {};
    return {fmt::format(
        "The same epsilon for a record added or removed would need {:.3g} times less noise with "
        "batches that are sampled in secret: --adjacency record-add-remove --participation "
        "poisson.",
        *gain)};
}

}  // namespace sotto
