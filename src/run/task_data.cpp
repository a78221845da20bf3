#include "run/task_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "run/agent_path.hpp"
#include "run/data_sizes.hpp"
#include "sotto/core/names.hpp"
#include "sotto/learn/readers.hpp"
#include "sotto/learn/records_digest.hpp"
#include "sotto/learn/split.hpp"
#include "sotto/learn/standardisation.hpp"
#include "sotto/learn/synthetic.hpp"

namespace sotto {

Dataset read_files(const std::string& option,
                   const std::string& list,
                   int agent,
                   std::vector<FileDigest>& digests) {
    std::vector<Dataset> parts;
    for (const auto path : split(list, ',')) {
        const std::string file = path_of_agent(std::string(path), agent);
        const Dataset& read = parts.emplace_back(read_records(file));
        digests.push_back({option, file, read.records(), digest_of_records(read)});
    }
    return parts.size() == 1 ? std::move(parts.front()) : concatenate(parts);
}

PartitionSpec partition_of(const TaskConfig& config, Target target) {
    const bool values = target == Target::value;
    return config.partition.value_or(
        values ? PartitionSpec{PartitionSpec::Kind::iid}
               : PartitionSpec{.kind = PartitionSpec::Kind::dirichlet, .alpha = 10});
}

std::vector<std::vector<Eigen::Index>> deal_rows(const Dataset& all,
                                                 const std::vector<Eigen::Index>& rows,
                                                 const TaskConfig& config,
                                                 int agents) {
    const PartitionSpec partition = partition_of(config, all.target);
    if (all.target == Target::value && partition.kind == PartitionSpec::Kind::dirichlet)
        throw ConfigError(fmt::format(
            "partition: {} deals by classes, {} has a number to predict (allowed: iid, by-label:k)",
            name_of(partition),
            config.data));
    return partition_rows(rows, all.labels, agents, partition, config.seed, all.writers);
}

namespace {

/// Rows to train and, unless there are test data of their own, to test on.
Split split_of(const Dataset& all, const TaskConfig& config) {
    if (!config.test_data) {
        if (all.records() < 2)
            throw DataError(fmt::format(
                "{}: {} record is too few to split off a test set", all.source, all.records()));
        return split_rows(all.records(), config.test_fraction, config.seed);
    }
    Split split;
    split.train.resize(static_cast<std::size_t>(all.records()));
    std::iota(split.train.begin(), split.train.end(), Eigen::Index{0});
    return split;
}

/// What was read, split, and standardised where it is to be.
class Deal {
  public:
    /// @param given the test data of the command line, if any.
    Deal(Dataset all, const TaskConfig& config, const std::shared_ptr<const Dataset>& given)
        : all_(std::move(all)), split_(split_of(all_, config)), test_(given) {
        if (given && given->target != all_.target)
            throw DataError(
                fmt::format("{} and {} are of different formats", all_.source, given->source));
        if (all_.target == Target::value && config.standardise) {
            const Standardisation moments = standardisation_of(all_, split_.train);
            all_ = standardised(std::move(all_), moments);
            if (given) test_ = std::make_shared<const Dataset>(standardised(*given, moments));
        }
        if (!given) test_ = std::make_shared<const Dataset>(select_rows(all_, split_.test));
    }
    [[nodiscard]] const Dataset& all() const { return all_; }
    [[nodiscard]] const std::vector<Eigen::Index>& train() const { return split_.train; }
    [[nodiscard]] AgentData agent(std::span<const Eigen::Index> rows) const {
        return {select_rows(all_, rows), test_};
    }

  private:
    Dataset all_;
    Split split_;
    std::shared_ptr<const Dataset> test_;
};

void deal_shared(const TaskConfig& config,
                 const Network& network,
                 const Membership& members,
                 const std::shared_ptr<const Dataset>& test,
                 LocalData& local) {
    constexpr Eigen::Index synthetic_records = 32561;  // as many as a9a
    const Deal deal(config.data == "synthetic"
                        ? synthetic_binary(synthetic_records, config.seed)
                        : read_files("data", config.data, 0, local.digests.shared),
                    config,
                    test);
    const auto shards = deal_rows(deal.all(), deal.train(), config, members.all);
    local.digests.partition = digest_of_partition(shards);
    for (const int agent : network.local_agents())
        local.agents.push_back(deal.agent(shards[static_cast<std::size_t>(members.number(agent))]));
    const std::size_t dealt = std::accumulate(
        shards.begin(), shards.end(), std::size_t{0}, [](std::size_t sum, const auto& shard) {
            return sum + shard.size();
        });
    local.target = deal.all().target;
    local.description = fmt::format("{}, {} training records, partition {}",
                                    config.data,
                                    dealt,
                                    name_of(partition_of(config, local.target)));
    if (local.target == Target::value && config.standardise)
        local.statements.emplace_back(
            "Features and targets are standardised by the mean and deviation of all training "
            "records, "
            "which every rank reads: these numbers are taken as public, and what they tell about a "
            "record or an agent is not counted.");
}

void read_own(const TaskConfig& config,
              const Network& network,
              const Membership& members,
              const std::shared_ptr<const Dataset>& test,
              LocalData& local) {
    for (const int agent : network.local_agents()) {
        const Deal deal(
            read_files(
                "data", config.data, members.number(agent), local.digests.own.emplace_back()),
            config,
            test);
        local.agents.push_back(deal.agent(deal.train()));
        local.target = deal.all().target;
    }
    for (const auto& agent : local.agents)
        if (agent.shard.target != local.target)
            throw DataError(
                fmt::format("{}: the agents' files are of different formats", config.data));
    local.description = fmt::format("{} (one file an agent)", config.data);
    if (local.target == Target::value && config.standardise)
        local.statements.emplace_back(
            "Every agent standardises features and target by the mean and deviation of its own "
            "training records. They are not sent, and adjacency agent covers them. A record "
            "adjacency "
            "takes them as public: that a record moves them, and with them all of the agent's "
            "gradients, is not counted.");
}

/// As many as LEAF files may have.
constexpr Eigen::Index most_classes = 1000001;

/// -1, of two signs, counts as class 0.
Eigen::Index classes_of(const Dataset& data) {
    if (data.records() == 0) return 0;
    const double largest = data.labels.maxCoeff();
    if (!(largest < most_classes))
        throw DataError(fmt::format("{}: label {} (allowed: classes from 0 to {})",
                                    data.source,
                                    largest,
                                    most_classes - 1));
    return static_cast<Eigen::Index>(largest) + 1;
}

}  // namespace

bool one_file_an_agent(const TaskConfig& config) { return differs_by_agent(config.data); }

LocalData read_local_data(const TaskConfig& config, Network& network, const Membership& members) {
    LocalData local;
    network.agree([&] {
        if (!(config.test_fraction > 0 && config.test_fraction < 1))
            throw ConfigError(
                fmt::format("test-fraction: {} is not allowed (must lie strictly between 0 and 1)",
                            config.test_fraction));
        std::shared_ptr<const Dataset> test;
        if (config.test_data)
            test = std::make_shared<const Dataset>(
                read_files("test-data", *config.test_data, 0, local.digests.shared));
        if (one_file_an_agent(config))
            read_own(config, network, members, test, local);
        else
            deal_shared(config, network, members, test, local);
        for (const auto& agent : local.agents) {
            local.features = std::max(local.features, agent.shard.feature_count());
            if (local.target == Target::label)
                local.classes =
                    std::max({local.classes, classes_of(agent.shard), classes_of(*agent.test)});
        }
    });
    const double target = local.target == Target::value ? 1 : 0;
    const bool any_value = network.maximum(target) > 0;
    const bool any_label = network.maximum(-target) == 0;
    const DataSizes all = largest_sizes(network, {local.features, local.classes});
    local.features = all.features;
    local.classes = all.classes;
    network.agree([&] {
        if (any_value && any_label)
            throw DataError(
                fmt::format("{}: the agents' files are of different formats", config.data));
        std::shared_ptr<const Dataset> before, after;  // a test set that agents share stays shared
        for (auto& agent : local.agents) {
            agent.shard = widened(std::move(agent.shard), local.features);
            if (agent.test->feature_count() > local.features)
                throw DataError(fmt::format("{}: {} features, the training data have {}",
                                            agent.test->source,
                                            agent.test->feature_count(),
                                            local.features));
            if (agent.test != before) {
                before = agent.test;
                after = before->feature_count() == local.features
                            ? before
                            : std::make_shared<const Dataset>(widened(*before, local.features));
            }
            agent.test = after;
        }
    });
    return local;
}

}  // namespace sotto
