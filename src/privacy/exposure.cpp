#include "sotto/privacy/exposure.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

namespace {

constexpr NameTable<Adjacency, 4> adjacencies{
    {{{Adjacency::agent, "agent"},
      {Adjacency::record, "record"},
      {Adjacency::record_zero_out, "record-zero-out"},
      {Adjacency::record_add_remove, "record-add-remove"}}}};

/// @throws ConfigError where secret coins would promise nothing, or nobody knows what.
void require_possible_sampling(Adjacency adjacency) {
    if (adjacency == Adjacency::agent)
        throw ConfigError(
            "participation: poisson needs an adjacency of records; with adjacency agent all data "
            "of the agent count, in every round (allowed: every)");
    if (adjacency == Adjacency::record)
        throw ConfigError(
            "participation: poisson is not possible with adjacency record, where a record is "
            "replaced: no bound is proved for it (allowed: record-add-remove, record-zero-out)");
}

/// q_u = B / N_u, or as given.
double sampling_probability_of(Eigen::Index batch,
                               Eigen::Index records,
                               std::optional<double> given) {
    constexpr double step = 0x1p-53;
    if (records == 0 && !given)
        throw ConfigError(
            "sampling-probability: participation poisson needs it where there are no data (in a "
            "training it is batch size / records of each agent)");
    const double probability =
        records > 0 ? static_cast<double>(batch) / static_cast<double>(records) : *given;
    if (!(probability >= step && probability <= 1))
        throw ConfigError(
            fmt::format("sampling-probability: {} is not allowed (from 2^-53 to 1)", probability));
    return std::floor(probability / step) * step;
}

}  // namespace

Adjacency parse_adjacency(std::string_view option, std::string_view text) {
    return adjacencies.parse(option, text);
}
std::string name_of(Adjacency adjacency) { return adjacencies.name_of(adjacency); }

Participation parse_participation(std::string_view option, std::string_view text) {
    if (text == "every") return {};
    if (text == "poisson") return {.cycle = 1, .poisson = true};
    constexpr std::string_view prefix = "cyclic:";
    if (text.starts_with(prefix)) {
        const long long cycle = parse_integer(option, text.substr(prefix.size()));
        require_in_range(option, static_cast<double>(cycle), 1, 1e9);
        return {.cycle = static_cast<long>(cycle)};
    }
    const std::vector<std::string> allowed{"every", "cyclic:b", "poisson"};
    throw unknown_name_error(option, text, allowed);
}

std::string name_of(const Participation& participation) {
    if (participation.poisson) return "poisson";
    return participation.cycle == 1 ? "every" : fmt::format("cyclic:{}", participation.cycle);
}

Exposure agent_exposure(Adjacency adjacency,
                        const Participation& participation,
                        double clip_norm,
                        long rounds,
                        Eigen::Index records,
                        std::optional<Eigen::Index> batch_size,
                        std::optional<double> sampling_probability) {
    if (participation.poisson) require_possible_sampling(adjacency);
    require_positive("clip-norm", clip_norm);
    require_in_range("rounds", static_cast<double>(rounds), 1, 1e12);
    Exposure exposure;
    exposure.sensitivity_squared_over_rounds =
        temporal_sensitivity_squared(TemporalFactor{}, participation, rounds);
    if (adjacency == Adjacency::agent) {
        if (participation.cycle != 1)
            throw ConfigError(
                "participation: cyclic needs adjacency record; with adjacency agent all data of "
                "the "
                "agent changes, in every round");
        exposure.sensitivity = 2 * clip_norm;
        exposure.batch_size = batch_size.value_or(records);
        return exposure;
    }
    if (!batch_size && records == 0)
        throw ConfigError(
            "batch-size: 'all' needs the agents' numbers of records, which are unknown without "
            "their data (allowed here: a number, or adjacency agent)");
    Eigen::Index batch = batch_size.value_or(records);
    require_in_range("batch-size", static_cast<double>(batch), 1, 1e12);
    if (records > 0 && participation.cycle > records)
        throw ConfigError(fmt::format("participation: {} batches, but an agent has only {} records",
                                      participation.cycle,
                                      records));
    if (records > 0 && participation.cycle > 1)
        batch = (records + participation.cycle - 1) / participation.cycle;
    if (records > 0 && batch > records)
        throw ConfigError(
            fmt::format("batch-size: {} exceeds the {} records of an agent; its sensitivity is "
                        "2C/B only for full "
                        "batches (use a smaller batch, fewer agents, or a more even partition)",
                        batch,
                        records));
    exposure.batch_size = batch;
    if (participation.poisson)
        exposure.sampling_probability =
            sampling_probability_of(batch, records, sampling_probability);
    exposure.sensitivity =
        (adjacency == Adjacency::record ? 2 : 1) * clip_norm / static_cast<double>(batch);
    return exposure;
}

}  // namespace sotto
