#include "run/task.hpp"

#include <fmt/format.h>

#include <cmath>

#include "run/own_task.hpp"
#include "run/peer_notes.hpp"
#include "run/record_task.hpp"
#include "run/task_data.hpp"
#include "sotto/core/names.hpp"
#include "sotto/learn/averaging.hpp"
#include "sotto/learn/layered_objective.hpp"
#include "sotto/learn/layers/models.hpp"
#include "sotto/learn/logistic.hpp"
#include "sotto/learn/quadratic.hpp"

namespace sotto {

namespace {

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

void require_hidden_fits(const TaskConfig& config) {
    if (config.hidden && config.task != "mlp")
        throw ConfigError(
            fmt::format("hidden: {} is given, but task '{}' has no hidden layer (allowed: mlp)",
                        *config.hidden,
                        config.task));
    require_in_range("hidden", static_cast<double>(config.hidden.value_or(1)), 1, 1e6);
}

/// Grey images: of the shape the data say, or else square.
ImageShape image_shape(const TaskConfig& config, const LocalData& data) {
    const Eigen::Index known = data.agents.front().shard.image_rows;
    const Eigen::Index rows =
        known > 0 ? known
                  : static_cast<Eigen::Index>(std::sqrt(static_cast<double>(data.features)));
    if (rows < 1 || data.features % rows != 0 || (known == 0 && rows * rows != data.features))
        throw DataError(
            fmt::format("{}: {} features are no image; task 'cnn' needs one (IDX, or a "
                        "square number of features)",
                        config.data,
                        data.features));
    return {rows, data.features / rows, 1};
}

/// Layers of a model that fits the data.
Layers make_layers(const TaskConfig& config, const LocalData& data) {
    const bool values = data.target == Target::value;
    const Eigen::Index outputs = values ? 1 : data.classes;
    if (!values && outputs < 2)
        throw DataError(fmt::format("{}: all records are of one class", config.data));
    if (config.task == "softmax") return softmax_layers(data.features, outputs);
    if (config.task == "cnn") return cnn_layers(image_shape(config, data), outputs);
    return mlp_layers(data.features, config.hidden.value_or(values ? 64 : 128), outputs);
}

}  // namespace

std::unique_ptr<Objective> make_record_objective(const TaskConfig& config,
                                                 const LocalData& data,
                                                 Dataset shard,
                                                 std::shared_ptr<const Dataset> test) {
    require_hidden_fits(config);
    if (data.target == Target::value && config.task != "mlp")
        throw ConfigError(
            fmt::format("task: '{}' needs classes; {} has a number to predict (allowed: mlp)",
                        config.task,
                        config.data));
    if (config.task == "logistic")
        return make_logistic_objective(std::move(shard), std::move(test));
    return make_layered_objective(make_layers(config, data), std::move(shard), std::move(test));
}

namespace {

LocalTask build_on_records(const TaskConfig& config, Network& network, const Membership& members) {
    LocalData data = read_local_data(config, network, members);
    LocalTask task;
    task.description = data.description;
    task.statements = data.statements;
    network.agree([&] {
        for (auto& agent : data.agents)
            task.objectives.push_back(
                make_record_objective(config, data, std::move(agent.shard), agent.test));
    });
    return task;
}

LocalTask build_averaging(const TaskConfig& config, Network& network, const Membership& members) {
    LocalValues data = read_local_values(config, network, members);
    LocalTask task;
    network.agree([&] {
        require_hidden_fits(config);
        for (auto& shard : data.shards)
            task.objectives.push_back(make_averaging_objective(std::move(shard), data.mean));
    });
    task.description = data.description;
    task.fixed_inputs = has_fixed_inputs(config);
    task.l2 = 1;
    task.statements.emplace_back(
        "Gossip averaging: an agent's inputs are its own clipped values, fixed in advance and "
        "whatever messages say. So figures of partial views are exact, not only those of views of "
        "all messages. The network comes to the mean of the clipped inputs.");
    return task;
}

LocalTask build_quadratic(const Network& network, const Membership& members) {
    LocalTask task;
    for (const int agent : network.local_agents())
        task.objectives.push_back(make_quadratic_objective(members.number(agent), members.all));
    task.description = "one quadratic function an agent";
    return task;
}

LocalTask build_own(const TaskConfig& config, Network& network, const Membership& members) {
    LocalTask task;
    network.agree([&] {
        const OwnTask own(config.task);
        for (const int agent : network.local_agents())
            task.objectives.push_back(own.make(config, members.number(agent), members.all));
    });
    task.description = fmt::format("{} of {}", config.data, config.task);
    task.statements.push_back(
        fmt::format("Records are read, dealt and, with a record adjacency, clipped by {}, a "
                    "library of the user's: "
                    "the guarantee takes its word that one record changes one agent's sum by no "
                    "more than the clip.",
                    config.task));
    return task;
}

/// @throws DataError, the same on every process, if models have different numbers of parameters.
void require_same_dimension(Network& network,
                            const std::vector<std::unique_ptr<Objective>>& objectives) {
    Eigen::Index smallest = objectives.front()->dimension(), largest = smallest;
    for (const auto& objective : objectives) {
        smallest = std::min(smallest, objective->dimension());
        largest = std::max(largest, objective->dimension());
    }
    const double least = -network.maximum(-static_cast<double>(smallest));
    const double most = network.maximum(static_cast<double>(largest));
    network.agree([&] {
        if (least != most)
            throw DataError(fmt::format(
                "the agents' models have from {} to {} parameters; they must have equally many",
                least,
                most));
    });
}

}  // namespace

bool has_fixed_inputs(const TaskConfig& config) { return config.task == "averaging"; }

std::vector<std::string> task_names() {
    return {"quadratic", "logistic", "softmax", "mlp", "cnn", "averaging"};
}

LocalTask build_task(const TaskConfig& config, Network& network, const Membership& members) {
    LocalTask task;
    network.agree([&] {
        const auto names = task_names();
        if (!is_own_task(config.task) &&
            std::find(names.begin(), names.end(), config.task) == names.end())
            throw unknown_name_error("task", config.task, names);
    });
    if (is_own_task(config.task))
        task = build_own(config, network, members);
    else if (config.task == "quadratic")
        task = build_quadratic(network, members);
    else if (config.task == "averaging")
        task = build_averaging(config, network, members);
    else
        task = build_on_records(config, network, members);
    task.has_records = task.objectives.front()->record_clipping();
    task.initial = task.objectives.front()->initial_model(config.seed);
    require_same_dimension(network, task.objectives);
    task.records = gather_records(network, task.objectives);
    return task;
}

}  // namespace sotto
