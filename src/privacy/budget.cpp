#include "sotto/privacy/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "privacy/noise_multiplier.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {

namespace {

constexpr NameTable<Adjacency, 5> adjacencies{
    {{{Adjacency::agent, "agent"},
      {Adjacency::agent_zero_out, "agent-zero-out"},
      {Adjacency::record, "record"},
      {Adjacency::record_zero_out, "record-zero-out"},
      {Adjacency::record_add_remove, "record-add-remove"}}}};

/// @throws ConfigError for sampling without a proved guarantee.
void require_possible_sampling(Adjacency adjacency, const Participation& participation) {
    if (adjacency == Adjacency::agent || adjacency == Adjacency::record)
        throw ConfigError(fmt::format(
            "participation: {} is not possible with adjacency {}, where data are replaced: no "
            "bound is proved for it (allowed: record-add-remove, record-zero-out, and "
            "agent-zero-out with --client-probability)",
            name_of(participation),
            name_of(adjacency)));
}

/// q, rounded down to a probability that coins can have.
double rounded_probability(const char* option, double probability) {
    constexpr double step = 0x1p-53;
    if (!(probability >= step && probability <= 1))
        throw ConfigError(
            fmt::format("{}: {} is not allowed (from 2^-53 to 1)", option, probability));
    return std::floor(probability / step) * step;
}

/// b q_u, where q_u is B / N_u or as given, rounded down to a multiple of 2^-53.
double sampling_probability_of(const Participation& participation,
                               Eigen::Index batch,
                               Eigen::Index records,
                               std::optional<double> given) {
    if (participation.is_allocated()) return 1 / static_cast<double>(participation.rounds_an_epoch);
    if (records == 0 && !given)
        throw ConfigError(fmt::format(
            "sampling-probability: participation {} needs it where there are no data (in a "
            "training it is batch size / records of each agent)",
            name_of(participation)));
    const double of_all =
        records > 0 ? static_cast<double>(batch) / static_cast<double>(records) : *given;
    (void)rounded_probability("sampling-probability", of_all);
    const auto cycle = static_cast<double>(participation.cycle);
    const double probability =
        records > 0 ? cycle * static_cast<double>(batch) / static_cast<double>(records)
                    : cycle * of_all;
    if (!(probability <= 1))
        throw ConfigError(fmt::format(
            "participation: {} is not possible where a record is in {:.6g} of all batches: each "
            "would have to be drawn from its part with probability {:.6g} (allowed: a cycle of "
            "{} rounds at most, or smaller batches)",
            name_of(participation),
            of_all,
            probability,
            largest_sampled_cycle(batch, records, given)));
    return rounded_probability("sampling-probability", probability);
}

/// Agent adjacencies: 2C, or C; C / q if it takes part by a coin.
Exposure exposure_of_agent(Adjacency adjacency,
                           const Participation& participation,
                           double clip_norm,
                           std::optional<double> client_probability) {
    if (participation.cycle != 1)
        throw ConfigError(
            fmt::format("participation: cyclic needs adjacency record; with adjacency {} all data "
                        "of the agent change, in every round",
                        name_of(adjacency)));
    if (participation.is_allocated())
        throw ConfigError(fmt::format(
            "participation: {} places records; with adjacency {} all data of the agent count "
            "(allowed: every, or poisson with --client-probability)",
            name_of(participation),
            name_of(adjacency)));
    Exposure exposure;
    exposure.sensitivity = (adjacency == Adjacency::agent ? 2 : 1) * clip_norm;
    if (!participation.poisson) return exposure;
    if (!client_probability)
        throw ConfigError(
            fmt::format("client-probability: participation {} needs it with adjacency {}",
                        name_of(participation),
                        name_of(adjacency)));
    exposure.sampling_probability = rounded_probability("client-probability", *client_probability);
    exposure.sensitivity /= exposure.sampling_probability;
    return exposure;
}

}  // namespace

std::vector<std::string> adjacency_names() { return adjacencies.names(); }
Adjacency parse_adjacency(std::string_view option, std::string_view text) {
    return adjacencies.parse(option, text);
}
std::string name_of(Adjacency adjacency) { return adjacencies.name_of(adjacency); }
std::string protected_unit(Adjacency adjacency, const std::string& unit_column, int unit_agents) {
    const bool several = unit_agents > 1;
    if (protects_agents(adjacency))
        return several ? fmt::format("all data of up to {} agents together", unit_agents)
                       : std::string("all data of an agent");
    if (unit_column.empty())
        return several ? fmt::format("one record at each of up to {} agents together", unit_agents)
                       : std::string("one record");
    return fmt::format(
        "all records of one {} at {}",
        unit_column,
        several ? fmt::format("up to {} agents", unit_agents) : std::string("one agent"));
}

std::string unit_options(Adjacency adjacency, const std::string& unit_column, int unit_agents) {
    std::string options = "--adjacency " + name_of(adjacency);
    if (!unit_column.empty()) options += " --unit-column " + unit_column;
    if (unit_agents > 1) options += fmt::format(" --unit-agents {}", unit_agents);
    return options;
}

bool protects_agents(Adjacency adjacency) {
    return adjacency == Adjacency::agent || adjacency == Adjacency::agent_zero_out;
}

Participation parse_participation(std::string_view option, std::string_view text) {
    if (text == "every") return {};
    if (text == "poisson") return {.cycle = 1, .poisson = true};
    for (const auto& [prefix, poisson] :
         {std::pair<std::string_view, bool>("cyclic:", false), {"cyclic-poisson:", true}})
        if (text.starts_with(prefix)) {
            const long long cycle = parse_integer(option, text.substr(prefix.size()));
            require_in_range(option, static_cast<double>(cycle), 1, 1e9);
            return {.cycle = static_cast<long>(cycle), .poisson = poisson};
        }
    constexpr std::string_view allocated = "allocation:";
    if (text.starts_with(allocated)) {
        const long long rounds = parse_integer(option, text.substr(allocated.size()));
        require_in_range(
            option, static_cast<double>(rounds), 2, static_cast<double>(most_rounds_an_epoch));
        return {.rounds_an_epoch = static_cast<long>(rounds)};
    }
    const std::vector<std::string> allowed{
        "every", "cyclic:b", "poisson", "cyclic-poisson:b", "allocation:t"};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const Participation& participation) {
    if (participation.is_allocated())
        return fmt::format("allocation:{}", participation.rounds_an_epoch);
    if (participation.cycle == 1) return participation.poisson ? "poisson" : "every";
    return fmt::format(
        "{}:{}", participation.poisson ? "cyclic-poisson" : "cyclic", participation.cycle);
}

long largest_sampled_cycle(Eigen::Index batch_size,
                           Eigen::Index records,
                           std::optional<double> sampling_probability) {
    if (records > 0) return static_cast<long>(records / batch_size);
    const double probability = sampling_probability.value_or(1);
    const double largest = std::min(1e9, std::floor(1 / probability));
    return static_cast<long>(largest * probability > 1 ? largest - 1 : largest);
}

Exposure agent_exposure(Adjacency adjacency,
                        const Participation& participation,
                        double clip_norm,
                        long rounds,
                        Eigen::Index records,
                        std::optional<Eigen::Index> batch_size,
                        std::optional<double> sampling_probability) {
    if (participation.is_secret()) require_possible_sampling(adjacency, participation);
    require_positive("clip-norm", clip_norm);
    require_in_range("rounds", static_cast<double>(rounds), 1, 1e12);
    const bool agents = protects_agents(adjacency);
    Exposure exposure =
        agents ? exposure_of_agent(adjacency, participation, clip_norm, sampling_probability)
               : Exposure{};
    exposure.sensitivity_squared_over_rounds =
        temporal_sensitivity_squared(TemporalFactor{}, participation, rounds);
    if (agents) {
        exposure.batch_size = batch_size.value_or(records);
        return exposure;
    }
    if (!batch_size && records == 0)
        throw ConfigError(
            "batch-size: 'all' needs the agents' numbers of records, as a share does, which are "
            "unknown without their data (allowed here: a number, or adjacency agent)");
    Eigen::Index batch = batch_size.value_or(records);
    require_in_range("batch-size", static_cast<double>(batch), 1, 1e12);
    // Of which every record is in one.
    const long batches =
        participation.poisson ? 1 : participation.cycle * participation.rounds_an_epoch;
    if (records > 0 && std::max(batches, participation.cycle) > records)
        throw ConfigError(fmt::format("participation: {} batches, but an agent has only {} records",
                                      std::max(batches, participation.cycle),
                                      records));
    if (records > 0 && batches > 1) batch = (records + batches - 1) / batches;
    if (records > 0 && batch > records)
        throw ConfigError(
            fmt::format("batch-size: {} exceeds the {} records of an agent; its sensitivity is "
                        "2C/B only for full "
                        "batches (use a smaller batch, or a share of each agent's records, such as "
                        "--batch-size 0.1; fewer agents, or a more even partition)",
                        batch,
                        records));
    exposure.batch_size = batch;
    if (participation.is_secret())
        exposure.sampling_probability =
            sampling_probability_of(participation, batch, records, sampling_probability);
    exposure.rounds_an_epoch = participation.rounds_an_epoch;
    exposure.sensitivity =
        (adjacency == Adjacency::record ? 2 : 1) * clip_norm / static_cast<double>(batch);
    return exposure;
}

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

namespace {

/// loss_of_rounds of an exposure's rounds.
PrivacyLoss loss_of_exposure(StreamDistribution noise, const Exposure& exposure, double squared) {
    if (!exposure.levels.empty())
        return loss_of_rounds(
            noise, squared, exposure.sampling_probability, std::span(exposure.levels));
    return loss_of_rounds(noise,
                          squared,
                          exposure.sampling_probability,
                          std::lround(exposure.sensitivity_squared_over_rounds),
                          exposure.rounds_an_epoch);
}

void require_exact_calibration(const PrivacyBudget& budget) {
    if (budget.calibration != Calibration::exact)
        throw ConfigError(
            fmt::format("calibration: '{}' is not possible with secretly sampled batches (allowed: "
                        "exact)",
                        name_of(budget.calibration)));
}

}  // namespace

PrivacyLoss loss_of(StreamDistribution noise, const Exposure& exposure, double precision) {
    const double rounds = exposure.sensitivity_squared_over_rounds;
    const double distance = exposure.sensitivity * exposure.sensitivity;
    // Avoids infinity times 0.
    const double squared = rounds == 0 || distance == 0 ? 0 : distance * rounds * precision;
    return loss_of_exposure(noise, exposure, squared);
}

namespace {

/// Among patterns with the same spent loss, the one with most remaining rounds.
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
                             const SampledRounds& kind,
                             std::span<const SampledPattern> patterns) {
    require_exact_calibration(budget);
    SampledRounds allowed = kind;
    allowed.noise_multiplier = 0;
    allowed.count = 0;
    for (const auto& [rounds, spent] : binding_patterns(patterns)) {
        // Up to the gap between its bounds it met the budget when it was planned.
        if (rounds == 0 && spent.epsilon(budget.delta).lower > budget.epsilon)
            throw PrivacyError(
                fmt::format("more than epsilon {} at delta {:g} is already spent by records that "
                            "take part in no further round",
                            budget.epsilon,
                            budget.delta));
        const long count = rounds / kind.rounds_an_epoch;
        const SampledPhase phase{kind.sampling_probability, count, kind.rounds_an_epoch};
        allowed.noise_multiplier =
            std::max(allowed.noise_multiplier,
                     noise_multiplier_for(budget.epsilon, budget.delta, {&phase, 1}, spent));
        allowed.count = std::max(allowed.count, count);
    }
    budget.limit = PrivacyLoss::sampled({&allowed, 1});
    return budget;
}

PrivacyBudget sampled_budget(PrivacyBudget budget,
                             double sampling_probability,
                             long rounds,
                             const PrivacyLoss& spent) {
    const SampledPattern pattern{rounds, spent};
    const SampledRounds kind{.sampling_probability = sampling_probability};
    return sampled_budget(std::move(budget), kind, {&pattern, 1});
}

PrivacyBudget sampled_budget(PrivacyBudget budget,
                             double sampling_probability,
                             std::span<const RoundLevel> levels,
                             const PrivacyLoss& spent) {
    require_exact_calibration(budget);
    std::vector<SampledPhase> phases;
    for (const RoundLevel& level : levels)
        phases.push_back({.sampling_probability = sampling_probability,
                          .count = level.rounds,
                          .relative_noise = 1 / std::sqrt(level.precision)});
    const double noise = noise_multiplier_for(budget.epsilon, budget.delta, phases, spent);
    std::vector<SampledRounds> allowed;
    for (const SampledPhase& phase : phases)
        allowed.push_back({noise * phase.relative_noise, phase.sampling_probability, phase.count});
    budget.limit = PrivacyLoss::sampled(allowed);
    return budget;
}

PrivacyBudget no_budget(double delta, Calibration calibration) {
    return {0, delta, calibration, StreamDistribution::gaussian, {}};
}

namespace {

/// The parameter of the limit, and of what is left of it.
std::string limit_text(const PrivacyBudget& budget) {
    constexpr double of_no_use = 1e4;  // a larger epsilon hides nothing
    std::string text = parameter_text(budget.limit);
    if (!budget.limit.mu() || !(budget.epsilon > 0 && budget.epsilon < of_no_use)) return text;
    const double whole = calibrated_mu(budget.epsilon, budget.delta, budget.calibration);
    const double value = *budget.limit.mu();
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

namespace {

constexpr std::string_view piecewise_prefix = "piecewise:", linear_prefix = "linear:";

std::vector<StepSchedule::Piece> parse_pieces(std::string_view option, std::string_view text) {
    std::vector<StepSchedule::Piece> pieces;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        const std::size_t colon = word.find(':');
        if (colon == std::string_view::npos)
            throw ConfigError(
                fmt::format("{}: '{}' is not ROUND:FACTOR (example: piecewise:100:0.1,200:0.01)",
                            option,
                            word));
        const long long round = parse_integer(option, word.substr(0, colon));
        const double factor = parse_real(option, word.substr(colon + 1));
        require_in_range(option, static_cast<double>(round), 1, 1e12);
        require_positive(option, factor);
        if (!pieces.empty() && round <= pieces.back().round)
            throw ConfigError(fmt::format(
                "{}: round {} does not come after round {}", option, round, pieces.back().round));
        pieces.push_back({static_cast<long>(round), factor});
        begin = end + 1;
    }
    return pieces;
}

}  // namespace

double StepSchedule::at(long round) const {
    round += first_round;
    switch (kind) {
        case Kind::constant:
            return step_size;
        case Kind::inverse_sqrt:
            return step_size / std::sqrt(static_cast<double>(round + 1));
        case Kind::inverse:
            return step_size / static_cast<double>(round + 1);
        case Kind::linear: {
            const auto all = static_cast<double>(rounds);
            return 2 * step_size * (std::max(all - static_cast<double>(round), 1.0) - 0.5) / all;
        }
        case Kind::piecewise: {
            double factor = 1;
            for (const Piece& piece : pieces)
                if (piece.round <= round) factor = piece.factor;
            return step_size * factor;
        }
    }
    return step_size;
}

std::vector<double> StepSchedule::over(long rounds) const {
    std::vector<double> steps;
    for (long t = 0; t < rounds; ++t) steps.push_back(at(t));
    return steps;
}

StepSchedule parse_step_schedule(std::string_view option, std::string_view text, double step_size) {
    if (text == "constant") return {StepSchedule::Kind::constant, step_size, {}, 0};
    if (text == "inverse-sqrt") return {StepSchedule::Kind::inverse_sqrt, step_size, {}, 0};
    if (text == "inverse") return {StepSchedule::Kind::inverse, step_size, {}, 0};
    if (text.starts_with(linear_prefix)) {
        const long long rounds = parse_integer(option, text.substr(linear_prefix.size()));
        require_in_range(option, static_cast<double>(rounds), 1, 1e12);
        return {StepSchedule::Kind::linear, step_size, {}, 0, static_cast<long>(rounds)};
    }
    if (text.starts_with(piecewise_prefix))
        return {StepSchedule::Kind::piecewise,
                step_size,
                parse_pieces(option, text.substr(piecewise_prefix.size())),
                0};
    const std::vector<std::string> allowed{
        "constant", "inverse-sqrt", "inverse", "linear:T", "piecewise:ROUND:FACTOR,..."};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const StepSchedule& schedule) {
    switch (schedule.kind) {
        case StepSchedule::Kind::constant:
            return "constant";
        case StepSchedule::Kind::inverse_sqrt:
            return "inverse-sqrt";
        case StepSchedule::Kind::inverse:
            return "inverse";
        case StepSchedule::Kind::linear:
            return fmt::format("{}{}", linear_prefix, schedule.rounds);
        case StepSchedule::Kind::piecewise:
            break;
    }
    std::string text(piecewise_prefix);
    for (std::size_t i = 0; i < schedule.pieces.size(); ++i)
        text += fmt::format(
            "{}{}:{}", i == 0 ? "" : ",", schedule.pieces[i].round, schedule.pieces[i].factor);
    return text;
}

Guarantee guarantee_of(const PrivacyLoss& loss, double delta) {
    return {loss, delta, loss.epsilon(delta).upper};
}

Guarantee guarantee_of(const NoisePlan& plan, double distance, double delta) {
    const StreamDistribution noise = plan.distribution();
    return guarantee_of(loss_of_distance(noise, distance), stated_delta(noise, delta));
}

Guarantee guarantee_of(const NoisePlan& plan,
                       const Exposure& exposure,
                       double squared,
                       double delta) {
    const StreamDistribution noise = plan.distribution();
    const double distance = exposure.sensitivity * std::sqrt(squared);
    return guarantee_of(loss_of_exposure(noise, exposure, distance * distance),
                        stated_delta(noise, delta));
}

const Guarantee& largest(std::span<const Guarantee> all) {
    return *std::ranges::max_element(all, std::less());
}

}  // namespace sotto
