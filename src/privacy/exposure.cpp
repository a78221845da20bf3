#include "sotto/privacy/exposure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

namespace {

constexpr NameTable<Adjacency, 5> adjacencies{
    {{{Adjacency::agent, "agent"},
      {Adjacency::agent_zero_out, "agent-zero-out"},
      {Adjacency::record, "record"},
      {Adjacency::record_zero_out, "record-zero-out"},
      {Adjacency::record_add_remove, "record-add-remove"}}}};

/// @throws ConfigError where secret coins would promise nothing, or nobody knows what.
void require_possible_sampling(Adjacency adjacency, const Participation& participation) {
    if (adjacency == Adjacency::agent || adjacency == Adjacency::record)
        throw ConfigError(fmt::format(
            "participation: {} is not possible with adjacency {}, where data are replaced: no "
            "bound is proved for it (allowed: record-add-remove, record-zero-out, and "
            "agent-zero-out with --client-probability)",
            name_of(participation),
            name_of(adjacency)));
}

/// q, rounded down to what coins can have.
double rounded_probability(const char* option, double probability) {
    constexpr double step = 0x1p-53;
    if (!(probability >= step && probability <= 1))
        throw ConfigError(
            fmt::format("{}: {} is not allowed (from 2^-53 to 1)", option, probability));
    return std::floor(probability / step) * step;
}

/// b q_u, q_u = B / N_u or as given, rounded down to a multiple of 2^-53.
double sampling_probability_of(const Participation& participation,
                               Eigen::Index batch,
                               Eigen::Index records,
                               std::optional<double> given) {
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

/// Of an agent: 2C, or C; C / q where it takes part by a coin.
Exposure exposure_of_agent(Adjacency adjacency,
                           const Participation& participation,
                           double clip_norm,
                           std::optional<double> client_probability) {
    if (participation.cycle != 1)
        throw ConfigError(fmt::format(
            "participation: cyclic needs adjacency record; with adjacency {} all data of the "
            "agent changes, in every round",
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
    const std::vector<std::string> allowed{"every", "cyclic:b", "poisson", "cyclic-poisson:b"};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const Participation& participation) {
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
    if (participation.poisson) require_possible_sampling(adjacency, participation);
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
    if (records > 0 && participation.cycle > records)
        throw ConfigError(fmt::format("participation: {} batches, but an agent has only {} records",
                                      participation.cycle,
                                      records));
    if (records > 0 && participation.cycle > 1 && !participation.poisson)
        batch = (records + participation.cycle - 1) / participation.cycle;
    if (records > 0 && batch > records)
        throw ConfigError(
            fmt::format("batch-size: {} exceeds the {} records of an agent; its sensitivity is "
                        "2C/B only for full "
                        "batches (use a smaller batch, or a share of each agent's records, such as "
                        "--batch-size 0.1; fewer agents, or a more even partition)",
                        batch,
                        records));
    exposure.batch_size = batch;
    if (participation.poisson)
        exposure.sampling_probability =
            sampling_probability_of(participation, batch, records, sampling_probability);
    exposure.sensitivity =
        (adjacency == Adjacency::record ? 2 : 1) * clip_norm / static_cast<double>(batch);
    return exposure;
}

}  // namespace sotto
