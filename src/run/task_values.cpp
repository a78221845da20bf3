#include "run/task_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "run/data_sizes.hpp"
#include "run/task_data.hpp"
#include "sotto/core/error.hpp"
#include "sotto/learn/synthetic.hpp"

namespace sotto {

namespace {

constexpr Eigen::Index synthetic_records_an_agent = 100;

std::vector<Eigen::Index> all_rows(const Dataset& data) {
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(data.records()));
    std::iota(rows.begin(), rows.end(), Eigen::Index{0});
    return rows;
}

void deal_shared(const TaskConfig& config,
                 const Network& network,
                 const Membership& members,
                 LocalValues& local) {
    const Dataset all =
        config.data == "synthetic"
            ? synthetic_values(synthetic_records_an_agent * members.all, config.seed)
            : with_target_as_feature(read_files("data", config.data, 0, local.digests.shared));
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

void read_own(const TaskConfig& config,
              const Network& network,
              const Membership& members,
              LocalValues& local) {
    for (const int agent : network.local_agents())
        local.shards.push_back(with_target_as_feature(read_files(
            "data", config.data, members.number(agent), local.digests.own.emplace_back())));
    local.description = fmt::format("{} (one file an agent), to average", config.data);
}

}  // namespace

LocalValues read_local_values(const TaskConfig& config,
                              Network& network,
                              const Membership& members) {
    LocalValues local;
    Eigen::Index features = 0;
    network.agree([&] {
        if (config.test_data)
            throw ConfigError(
                fmt::format("test-data: {} is given, but task 'averaging' has nothing to test on: "
                            "its test loss is the distance to the mean",
                            *config.test_data));
        if (one_file_an_agent(config))
            read_own(config, network, members, local);
        else
            deal_shared(config, network, members, local);
        for (const Dataset& shard : local.shards)
            features = std::max(features, shard.feature_count());
    });
    features = largest_sizes(network, {features, 0}).features;
    network.agree([&] {
        for (Dataset& shard : local.shards) shard = widened(std::move(shard), features);
        if (local.mean || network.processes() > 1) return;
        local.mean = Eigen::VectorXd::Zero(features);
        for (const Dataset& shard : local.shards)
            *local.mean += mean_features(shard, all_rows(shard)) / network.agents();
    });
    return local;
}

}  // namespace sotto
