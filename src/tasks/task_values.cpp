#include "tasks/task_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "learn/readers.hpp"
#include "sotto/core/error.hpp"
#include "tasks/data_shape.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

namespace {

constexpr Eigen::Index synthetic_records_an_agent = 100;

std::vector<Eigen::Index> all_rows(const Dataset& data) {
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(data.records()));
    std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    return rows;
}

/// Data as in their files: one set shared by all agents, or one per local agent.
std::vector<DataFile> read_points(const TaskConfig& config,
                                  const Control& network,
                                  const Membership& members,
                                  DataDigests& digests) {
    if (config.data == "synthetic")
        return {DataFile(synthetic_values(synthetic_records_an_agent * members.all, config.seed))};
    if (!one_file_an_agent(config)) return {read_files("data", config.data, 0, digests.shared)};
    std::vector<DataFile> sets;
    for (const int agent : network.local_agents())
        sets.push_back(
            read_files("data", config.data, members.number(agent), digests.own.emplace_back()));
    return sets;
}

Dataset points_of(DataFile file, const std::vector<std::string>& columns) {
    if (auto* table = std::get_if<Table>(&file))
        return all_columns(with_columns(std::move(*table), columns, "the first file of agent 0"));
    return std::move(std::get<Dataset>(file));
}

/// Without labels, which points do not have.
DataShape shape_of_points(const std::vector<Dataset>& sets) {
    DataShape shape{.target = sets.front().target};
    for (const Dataset& set : sets) {
        if (set.target != shape.target)
            throw DataError(
                fmt::format("{} and {} are of different formats", sets.front().source, set.source));
        shape.features = std::max(shape.features, set.feature_count());
    }
    return shape;
}

void deal_shared(const TaskConfig& config,
                 const Control& network,
                 const Membership& members,
                 const Dataset& all,
                 LocalValues& local) {
    const auto shards = deal_rows(all, all_rows(all), config, members.all);
    local.digests.partition = digest_of_partition(shards);
    for (const int agent : network.local_agents())
        local.shards.push_back(
            select_rows(all, shards[static_cast<std::size_t>(members.number(agent))]));
    local.mean = Eigen::VectorXd::Zero(all.feature_count());
    std::size_t dealt = 0;
    for (const int number : members.numbers) {
        const auto& rows = shards[static_cast<std::size_t>(number)];
        *local.mean += mean_features(all, rows) / members.size();
        dealt += rows.size();
    }
    local.description = fmt::format("{}, {} records to average, partition {}",
                                    config.data,
                                    dealt,
                                    name_of(partition_of(config, all.target)));
}

}  // namespace

LocalValues read_local_values(const TaskConfig& config,
                              Control& network,
                              const Membership& members) {
    LocalValues local;
    std::vector<DataFile> read;
    DataOrder own_order;
    network.agree([&] {
        if (config.test_data)
            throw ConfigError(
                fmt::format("test-data: {} is given, but task 'averaging' has nothing to test on: "
                            "its test loss is the distance to the mean",
                            *config.test_data));
        read = read_points(config, network, members, local.digests);
        if (const auto* table = std::get_if<Table>(read.data())) own_order.columns = table->names();
    });
    const DataOrder order = agreed_order(network, own_order);
    std::vector<Dataset> sets;
    DataShape own;
    network.agree([&] {
        for (DataFile& file : read) sets.push_back(points_of(std::move(file), order.columns));
        own = shape_of_points(sets);
    });
    const DataShape shape = agreed_shape(network, own);
    network.agree([&] {
        for (Dataset& set : sets) set = widened(std::move(set), shape.features);
        if (!one_file_an_agent(config))
            return deal_shared(config, network, members, sets.front(), local);
        local.shards = std::move(sets);
        local.description = fmt::format("{} (one file an agent), to average", config.data);
        if (network.processes() > 1) return;
        local.mean = Eigen::VectorXd::Zero(local.shards.front().feature_count());
        for (const Dataset& shard : local.shards)
            *local.mean += mean_features(shard, all_rows(shard)) / network.agents();
    });
    return local;
}

}  // namespace sotto
