#include "audit/canary_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/json_value.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/seeded_random.hpp"
#include "sotto/learn/averaging.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// @param there of every canary: its sign is positive where it is in the shard; companions are
/// where any is asked for.
Dataset canary_shard(const CanaryRecords& canaries, const VectorXd& there, double gradient) {
    Dataset shard;
    shard.source = "canaries";
    shard.labels = VectorXd::Zero(canaries.records());
    shard.features = SparseRows(canaries.records(), canaries.dimension());
    std::vector<Eigen::Triplet<double>> entries;
    for (Index i = 0; i < there.size(); ++i)
        if (there(i) > 0) entries.emplace_back(i, i, -gradient);  // a gradient is minus the value
    if (there.size() > 0)
        for (Index row = canaries.trials; row < shard.records(); ++row)
            entries.emplace_back(row, canaries.trials, -gradient);
    shard.features.setFromTriplets(entries.begin(), entries.end());
    return shard;
}

}  // namespace

VectorXd CanaryRecords::signs() const {
    SeededRandom random(seed, "canary records", static_cast<std::uint64_t>(target));
    VectorXd result(trials);
    for (double& sign : result) sign = random.below(2) == 0 ? -1 : 1;
    return result;
}

std::string to_json(const CanaryRecords& canaries) {
    nlohmann::ordered_json json;
    json["format"] = "sotto-canary-records";
    json["version"] = 1;
    json["target"] = canaries.target;
    json["seed"] = canaries.seed;
    json["trials"] = canaries.trials;
    json["members"] = canaries.members;
    return json.dump(1) + "\n";
}

CanaryRecords canary_records_from_json(std::string_view text, const std::string& source) try {
    const JsonDocument document(text);
    document.require_format("sotto-canary-records", 1);
    const JsonValue json = document.root();
    CanaryRecords canaries;
    canaries.target = json.at("target").integer<int>(0);
    canaries.seed = json.at("seed").integer<std::uint64_t>();
    canaries.trials = json.at("trials").integer<long>(fewest_canary_records, most_canary_records);
    canaries.members = json.at("members").integers();
    if (!std::ranges::is_sorted(canaries.members, std::ranges::less_equal()))
        json.at("members").fail("ascending numbers of agents");
    return canaries;
} catch (const DataError& error) {
    throw DataError(fmt::format("{}: not canary records ({})", source, error.what()));
}

LocalTask make_canary_record_task(const CanaryRecords& canaries,
                                  double clip_norm,
                                  const Network& network) {
    LocalTask task;
    for (const int agent : network.local_agents()) {
        const VectorXd there = agent == canaries.target ? canaries.signs()
                               : std::ranges::binary_search(canaries.members, agent)
                                   ? VectorXd(VectorXd::Ones(canaries.trials))
                                   : VectorXd();
        task.objectives.push_back(
            make_averaging_objective(canary_shard(canaries, there, 2 * clip_norm), std::nullopt));
    }
    task.initial = VectorXd::Zero(canaries.dimension());
    task.records.assign(static_cast<std::size_t>(network.agents()), canaries.records());
    task.description = fmt::format(
        "audit: {} canary records of agent {}, of which a secret half is there, and {} others",
        canaries.trials,
        canaries.target,
        canaries.companions());
    task.statements.emplace_back(
        "Audit: records are canaries, whose gradients are fixed in advance. Which of them are "
        "there "
        "is kept in the run directory.");
    task.fixed_inputs = true;
    return task;
}

}  // namespace sotto
