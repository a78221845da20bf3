#include "run/task_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "run/agent_path.hpp"
#include "run/data_shape.hpp"
#include "sotto/core/error.hpp"
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
    for (const std::string& file : listed_files(list, agent)) {
        const Dataset& read = parts.emplace_back(read_records(file));
        digests.push_back({option, file, read.records(), digest_of_records(read)});
    }
    return parts.size() == 1 ? std::move(parts.front()) : concatenate(std::move(parts));
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

/// Records of one data set, split, and standardised where they are to be.
class Deal {
  public:
    Deal(Dataset all, const TaskConfig& config)
        : all_(std::move(all)), split_(split_of(all_, config)) {
        if (all_.target == Target::value && config.standardise) {
            moments_ = standardisation_of(all_, split_.train);
            all_ = standardised(std::move(all_), *moments_);
        }
    }
    [[nodiscard]] const Dataset& all() const { return all_; }
    [[nodiscard]] const std::vector<Eigen::Index>& train() const { return split_.train; }
    [[nodiscard]] Dataset shard(std::span<const Eigen::Index> rows) const {
        return select_rows(all_, rows);
    }
    /// The given test data, of which agents share what need not differ, or what was held out.
    [[nodiscard]] std::shared_ptr<const Dataset> test(
        const std::shared_ptr<const Dataset>& given) const {
        if (!given) return std::make_shared<const Dataset>(select_rows(all_, split_.test));
        if (!moments_) return given;
        return std::make_shared<const Dataset>(standardised(*given, *moments_));
    }

  private:
    Dataset all_;
    Split split_;
    std::optional<Standardisation> moments_;
};

/// Data as their files have them.
struct ReadData {
    std::vector<Dataset> sets;  ///< one that all agents share, or one a local agent
    /// Test data that are given: none, one that all agents share, or one a local agent.
    std::vector<std::shared_ptr<const Dataset>> tests{};

    [[nodiscard]] std::shared_ptr<const Dataset> test(std::size_t local_index) const {
        if (tests.empty()) return nullptr;
        return tests[tests.size() == 1 ? 0 : local_index];
    }
};

bool one_test_file_an_agent(const TaskConfig& config) {
    return config.test_data && differs_by_agent(*config.test_data);
}

/// Every agent has test records that the others do not have, or has them in units of its own.
bool tests_differ(const TaskConfig& config, Target target) {
    if (one_test_file_an_agent(config)) return true;
    return one_file_an_agent(config) &&
           (!config.test_data || (target == Target::value && config.standardise));
}

ReadData read_all(const TaskConfig& config,
                  const Network& network,
                  const Membership& members,
                  DataDigests& digests) {
    constexpr Eigen::Index synthetic_records = 32561;  // as many as a9a
    const bool own_sets = one_file_an_agent(config), own_tests = one_test_file_an_agent(config);
    ReadData read;
    if (own_sets || own_tests) digests.own.resize(network.local_agents().size());
    const auto read_test = [&](int number, std::vector<FileDigest>& into) {
        read.tests.push_back(std::make_shared<const Dataset>(
            read_files("test-data", *config.test_data, number, into)));
    };
    if (config.test_data && !own_tests) read_test(0, digests.shared);
    if (!own_sets)
        read.sets.push_back(config.data == "synthetic"
                                ? synthetic_binary(synthetic_records, config.seed)
                                : read_files("data", config.data, 0, digests.shared));
    for (std::size_t a = 0; a < digests.own.size(); ++a) {
        const int number = members.number(network.local_agents()[a]);
        if (own_sets) read.sets.push_back(read_files("data", config.data, number, digests.own[a]));
        if (own_tests) read_test(number, digests.own[a]);
    }
    return read;
}

/// @throws DataError where data of this process are of different formats, or labels no classes.
DataShape shape_of(const ReadData& read) {
    const Dataset& first = read.sets.front();
    const auto require_like_first = [&](const Dataset& other) {
        if (other.target != first.target)
            throw DataError(
                fmt::format("{} and {} are of different formats", first.source, other.source));
    };
    DataShape shape{.target = first.target, .columns = first.columns};
    for (const Dataset& set : read.sets) {
        require_like_first(set);
        shape.features = std::max(shape.features, set.feature_count());
        shape.image_rows =
            same_image_rows(shape.image_rows, first.source, set.image_rows, set.source);
        shape.labels = united(shape.labels, labels_of(set));
    }
    for (const auto& test : read.tests) {
        require_like_first(*test);
        (void)same_image_rows(shape.image_rows, first.source, test->image_rows, test->source);
    }
    return shape;
}

/// The same data as all agents' models have them: classes for labels, columns by their names, and
/// equally many features.
ReadData fitted(ReadData read, const DataShape& shape) {
    const auto fit = [&](Dataset data, const char* whose) {
        if (shape.target == Target::value)
            data = with_columns(std::move(data), shape.columns, whose);
        return widened(with_classes(std::move(data), shape.labels), shape.features);
    };
    for (Dataset& set : read.sets) set = fit(std::move(set), "the first file of agent 0");
    for (auto& test : read.tests) {
        if (test->feature_count() > shape.features)
            throw DataError(fmt::format("{}: {} features, the training data have {}",
                                        test->source,
                                        test->feature_count(),
                                        shape.features));
        test = std::make_shared<const Dataset>(fit(*test, "the training data"));
    }
    return read;
}

void deal_shared(const TaskConfig& config,
                 const Network& network,
                 const Membership& members,
                 ReadData read,
                 LocalData& local) {
    const Deal deal(std::move(read.sets.front()), config);
    const auto shards = deal_rows(deal.all(), deal.train(), config, members.all);
    local.digests.partition = digest_of_partition(shards);
    std::shared_ptr<const Dataset> shared;
    if (read.tests.size() < 2) shared = deal.test(read.test(0));
    for (std::size_t a = 0; a < network.local_agents().size(); ++a) {
        const int number = members.number(network.local_agents()[a]);
        local.agents.push_back({deal.shard(shards[static_cast<std::size_t>(number)]),
                                shared ? shared : deal.test(read.test(a))});
    }
    const std::size_t dealt = std::accumulate(
        shards.begin(), shards.end(), std::size_t{0}, [](std::size_t sum, const auto& shard) {
            return sum + shard.size();
        });
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

void deal_own(const TaskConfig& config, ReadData read, LocalData& local) {
    for (std::size_t a = 0; a < read.sets.size(); ++a) {
        const Deal deal(std::move(read.sets[a]), config);
        local.agents.push_back({deal.shard(deal.train()), deal.test(read.test(a))});
    }
    local.description = fmt::format("{} (one file an agent)", config.data);
    if (local.target == Target::label)
        local.statements.emplace_back(
            "Which labels occur in an agent's files is told to all agents, so that they agree on "
            "the classes; it is taken as public and not counted.");
    else if (config.standardise)
        local.statements.emplace_back(
            "Every agent standardises features and target by the mean and deviation of its own "
            "training records. They are not sent, and adjacency agent covers them. A record "
            "adjacency "
            "takes them as public: that a record moves them, and with them all of the agent's "
            "gradients, is not counted.");
}

/// The shape that the data have, or had when the run began that is taken up.
DataShape with_known(DataShape shape, const TaskConfig& config) {
    if (!config.known_labels.empty()) shape.labels = config.known_labels;
    shape.features = std::max(shape.features, config.known_features);
    return shape;
}

/// @throws DataError where there is nothing to tell apart.
void require_two_classes(const TaskConfig& config, const DataShape& shape) {
    if (shape.target == Target::label && shape.labels.size() < 2)
        throw DataError(fmt::format(
            "{}: all records are of one class, label {} (needed: training records of two labels or "
            "more, over all agents)",
            config.data,
            labels_text(shape.labels)));
}

}  // namespace

bool one_file_an_agent(const TaskConfig& config) { return differs_by_agent(config.data); }

LocalData read_local_data(const TaskConfig& config, Network& network, const Membership& members) {
    LocalData local;
    ReadData read;
    DataShape own;
    network.agree([&] {
        if (!(config.test_fraction > 0 && config.test_fraction < 1))
            throw ConfigError(
                fmt::format("test-fraction: {} is not allowed (must lie strictly between 0 and 1)",
                            config.test_fraction));
        read = read_all(config, network, members, local.digests);
        own = shape_of(read);
    });
    const DataShape shape = with_known(agreed_shape(network, own), config);
    network.agree([&] {
        require_two_classes(config, shape);
        local.target = shape.target;
        local.features = shape.features;
        local.image_rows = shape.image_rows;
        local.labels = shape.labels;
        local.classes = std::ssize(shape.labels);
        local.own_tests = tests_differ(config, shape.target);
        read = fitted(std::move(read), shape);
        if (one_file_an_agent(config))
            deal_own(config, std::move(read), local);
        else
            deal_shared(config, network, members, std::move(read), local);
    });
    return local;
}

}  // namespace sotto
