#include "sotto/experiment/task.hpp"

#include <fmt/format.h>

#include "peer_notes.hpp"
#include "sotto/core/names.hpp"

namespace sotto {

namespace {

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string for_agent(std::string path, int agent) {
    for (std::size_t at = path.find("%r"); at != std::string::npos; at = path.find("%r"))
        path.replace(at, 2, std::to_string(agent));
    return path;
}

Dataset read_files(const std::string& list, int agent) {
    std::vector<Dataset> parts;
    for (const auto& path : split_list(list)) parts.push_back(read_libsvm(for_agent(path, agent)));
    return parts.size() == 1 ? std::move(parts.front()) : concatenate(parts);
}

/// The same rows with at least this many columns.
Dataset widened(Dataset data, Eigen::Index features) {
    if (data.feature_count() < features)
        data.features.conservativeResize(data.features.rows(), features);
    return data;
}

/// One shared file: every process reads it and keeps its agents' shards.
struct SharedData {
    Dataset all;
    Split split;
    std::vector<std::vector<Eigen::Index>> shards;
};

SharedData deal_shared(const TaskConfig& config, int agents) {
    SharedData shared;
    constexpr Eigen::Index synthetic_records = 32561;  // as many as a9a
    shared.all = config.data == "synthetic" ? synthetic_binary(synthetic_records, config.seed)
                                            : read_files(config.data, 0);
    if (config.test_data) {
        shared.split.train.resize(static_cast<std::size_t>(shared.all.records()));
        for (std::size_t i = 0; i < shared.split.train.size(); ++i)
            shared.split.train[i] = static_cast<Eigen::Index>(i);
    } else {
        if (shared.all.records() < 2)
            throw DataError(fmt::format("{}: {} record is too few to split off a test set",
                                        config.data,
                                        shared.all.records()));
        shared.split = split_rows(shared.all.records(), config.test_fraction, config.seed);
    }
    shared.shards = partition_rows(
        shared.split.train, shared.all.labels, agents, config.partition, config.seed);
    return shared;
}

/// Numbers of records of all agents. COLLECTIVE.
/// @throws NetworkError, the same on every process, if a process sent something else.
std::vector<Eigen::Index> gather_records(
    Network& network, const std::vector<std::unique_ptr<Objective>>& objectives) {
    std::vector<Eigen::Index> own;
    for (const auto& objective : objectives) own.push_back(objective->records());
    const auto gathered = network.all_gather(records_to_text(own));
    std::vector<Eigen::Index> records;
    network.agree([&] {
        for (std::size_t p = 0; p < gathered.size(); ++p) {
            const auto of_process = records_from_text(gathered[p], p);
            records.insert(records.end(), of_process.begin(), of_process.end());
        }
        if (records.size() != static_cast<std::size_t>(network.agents()))
            throw NetworkError(fmt::format("numbers of records of {} agents arrived, there are {}",
                                           records.size(),
                                           network.agents()));
    });
    return records;
}

LocalTask build_logistic(const TaskConfig& config, Network& network) {
    LocalTask task;
    const bool own_files = one_file_an_agent(config);
    const auto local = network.local_agents();
    std::vector<Dataset> shards;
    std::vector<std::shared_ptr<const Dataset>> tests(local.size());
    Eigen::Index features = 0;
    network.agree([&] {
        if (!(config.test_fraction > 0 && config.test_fraction < 1))
            throw ConfigError(
                fmt::format("test-fraction: {} is not allowed (must lie strictly between 0 and 1)",
                            config.test_fraction));
        if (own_files) {
            for (std::size_t a = 0; a < local.size(); ++a) {
                Dataset all = read_files(config.data, local[a]);
                if (!config.test_data) {
                    const Split split =
                        split_rows(all.records(), config.test_fraction, config.seed);
                    tests[a] = std::make_shared<Dataset>(select_rows(all, split.test));
                    all = select_rows(all, split.train);
                }
                shards.push_back(std::move(all));
            }
            task.description = fmt::format("{} (one file an agent)", config.data);
        } else {
            SharedData shared = deal_shared(config, network.agents());
            for (const int agent : local)
                shards.push_back(
                    select_rows(shared.all, shared.shards[static_cast<std::size_t>(agent)]));
            if (!config.test_data) {
                const auto test =
                    std::make_shared<const Dataset>(select_rows(shared.all, shared.split.test));
                for (auto& entry : tests) entry = test;
            }
            task.description = fmt::format("{}, {} training records, partition {}",
                                           config.data,
                                           shared.split.train.size(),
                                           name_of(config.partition));
        }
        for (const auto& shard : shards) features = std::max(features, shard.feature_count());
    });
    features = static_cast<Eigen::Index>(network.maximum(static_cast<double>(features)));
    network.agree([&] {
        if (config.test_data) {
            const auto test =
                std::make_shared<const Dataset>(read_libsvm(*config.test_data, features));
            if (test->feature_count() > features)
                throw DataError(fmt::format("{}: {} features, the training data have {}",
                                            *config.test_data,
                                            test->feature_count(),
                                            features));
            for (auto& entry : tests) entry = test;
        }
        for (std::size_t a = 0; a < shards.size(); ++a) {
            if (tests[a]->feature_count() < features)
                tests[a] = std::make_shared<const Dataset>(widened(*tests[a], features));
            task.objectives.push_back(
                make_logistic_objective(widened(std::move(shards[a]), features), tests[a]));
        }
    });
    return task;
}

}  // namespace

bool one_file_an_agent(const TaskConfig& config) {
    return config.data.find("%r") != std::string::npos;
}

std::vector<std::string> task_names() { return {"quadratic", "logistic"}; }

LocalTask build_task(const TaskConfig& config, Network& network) {
    LocalTask task;
    network.agree([&] {
        const auto names = task_names();
        if (std::find(names.begin(), names.end(), config.task) == names.end())
            throw unknown_name_error("task", config.task, names);
    });
    if (config.task == "quadratic") {
        for (const int agent : network.local_agents())
            task.objectives.push_back(make_quadratic_objective(agent, network.agents()));
        task.description = "one quadratic function an agent";
        task.has_records = false;
    } else {
        task = build_logistic(config, network);
    }
    task.initial = Eigen::VectorXd::Zero(task.objectives.front()->dimension());
    task.records = gather_records(network, task.objectives);
    return task;
}

}  // namespace sotto
