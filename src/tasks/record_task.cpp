#include "tasks/record_task.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "learn/column_moments.hpp"
#include "learn/feature_norm.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "tasks/local_task.hpp"
#include "tasks/task.hpp"
#include "tasks/task_table.hpp"

namespace sotto {

namespace {

std::unique_ptr<Objective> objective_of(const TaskRecord& task,
                                        const TaskConfig& config,
                                        const LocalData& data,
                                        Dataset shard,
                                        std::shared_ptr<const Dataset> test) {
    require_options_fit(config);
    if (data.shape.target == Target::value && !task.takes_values)
        throw ConfigError(
            fmt::format("task: '{}' needs classes; {} has a number to predict (allowed: --task {})",
                        config.task,
                        config.data,
                        join(task_names_where(&TaskRecord::takes_values), ", ")));
    if (!config.feature_norm)
        return task.objective(config, data, std::move(shard), std::move(test));
    shard = with_feature_norm(std::move(shard), *config.feature_norm);
    const double longest = longest_record(shard);
    if (std::isfinite(longest) && longest > *config.feature_norm)
        throw PrivacyError(fmt::format(
            "feature-norm: a record is {:.17g} long after it was shortened to {:g}; please report "
            "this",
            longest,
            *config.feature_norm));
    return task.objective(config, data, std::move(shard), std::move(test));
}

}  // namespace

namespace {

struct TaskOption {
    std::string name;
    std::optional<std::string> given;  ///< its value, unless it is the default
    std::string lacked;                ///< for messages: what a task without it lacks
};

/// A run's config.ini holds every option, so a default counts as not given.
std::vector<TaskOption> options_of(const TaskConfig& config) {
    const TaskConfig usual;
    const auto given_if = [](bool given, const std::string& text) {
        return given ? std::optional(text) : std::nullopt;
    };
    return {
        {"hidden",
         config.hidden ? std::optional(std::to_string(*config.hidden)) : std::nullopt,
         "hidden layer"},
        {"feature-norm",
         config.feature_norm ? std::optional(fmt::format("{:g}", *config.feature_norm))
                             : std::nullopt,
         "single convex loss of a record"},
        {"data", given_if(config.data != usual.data, config.data), "data to read"},
        {"test-data", config.test_data, "data to test on"},
        {"test-fraction",
         given_if(config.test_fraction != usual.test_fraction,
                  fmt::format("{}", config.test_fraction)),
         "records to hold out"},
        {"partition",
         config.partition ? std::optional(name_of(*config.partition)) : std::nullopt,
         "records to deal"},
        {"label", given_if(!config.table.label.empty(), config.table.label), "column to predict"},
        {"label-kind",
         given_if(config.table.target != usual.table.target,
                  target_kinds.name_of(config.table.target)),
         "column to predict"},
        {"ignore",
         given_if(!config.table.ignore.empty(), join(config.table.ignore, ",")),
         "columns to leave out"},
        {"categorical",
         given_if(!config.table.categorical.empty(), join(config.table.categorical, ",")),
         "columns of categories"},
        {"missing",
         given_if(config.table.missing != usual.table.missing, name_of(config.table.missing)),
         "cells that may be missing"},
        {"unit-column",
         given_if(!config.table.unit.empty(), config.table.unit),
         "records of persons"},
        {"bounds", given_if(!config.table.bounds.empty(), "given"), "columns to scale"},
        {"standardise",
         config.standardise ? std::optional(standardise_names.name_of(*config.standardise))
                            : std::nullopt,
         "columns to scale"}};
}

/// @throws ConfigError for an option that others make meaningless.
void require_options_used(const TaskConfig& config, const TaskRecord& task) {
    if (!task.needs_records()) return;
    if (config.test_data && config.test_fraction != TaskConfig{}.test_fraction)
        throw ConfigError(fmt::format(
            "test-fraction: {} is given, but --test-data has the records to test on (give one of "
            "the two)",
            config.test_fraction));
    const bool by_bounds = !config.table.bounds.empty();
    if (config.standardise == Standardise::private_moments && !by_bounds)
        throw ConfigError(
            "standardise: private is given without --bounds, the public limits to which values are "
            "cut before their means are learnt (needed: --bounds NAME=LOW:HIGH for every column of "
            "numbers)");
    if (config.standardise && config.standardise != Standardise::private_moments && by_bounds)
        throw ConfigError(
            fmt::format("standardise: {} is given, but --bounds scales columns (give one of the "
                        "two; allowed with --bounds: private)",
                        standardise_names.name_of(*config.standardise)));
    if (config.partition && one_file_an_agent(config))
        throw ConfigError(
            fmt::format("partition: {} is given, but with %r in --data every agent has its own "
                        "records, and none are dealt (give one of the two)",
                        name_of(*config.partition)));
}

}  // namespace

void require_options_fit(const TaskConfig& config) {
    const TaskRecord task = named_task(config.task);
    for (const TaskOption& option : options_of(config))
        if (option.given && !task.has_option(option.name))
            throw ConfigError(fmt::format("{}: {} is given, but task '{}' has no {} (allowed: {})",
                                          option.name,
                                          *option.given,
                                          config.task,
                                          option.lacked,
                                          join(task_names_where([&](const TaskRecord& other) {
                                                   return other.has_option(option.name);
                                               }),
                                               ", ")));
    require_options_used(config, task);
}

Eigen::Index outputs_of(const TaskConfig& config, const LocalData& data) {
    if (data.shape.target == Target::value) return 1;
    if (data.classes() < 2)
        throw DataError(fmt::format("{}: all records are of one class", config.data));
    return data.classes();
}

std::unique_ptr<Objective> make_record_objective(const TaskConfig& config,
                                                 const LocalData& data,
                                                 Dataset shard,
                                                 std::shared_ptr<const Dataset> test) {
    const TaskRecord task = named_task(config.task);
    if (!task.needs_records())
        throw ConfigError(
            fmt::format("task: '{}' has no records that are read and dealt for it (allowed: {})",
                        config.task,
                        join(task_names_where(&TaskRecord::needs_records), ", ")));
    return objective_of(task, config, data, std::move(shard), std::move(test));
}

LocalTask build_record_task(const TaskConfig& config, Control& network, const Membership& members) {
    LocalData data = read_local_data(config, network, members);
    LocalTask task;
    task.description = data.description;
    task.statements = data.statements;
    task.digests = data.digests;
    task.own_tests = data.own_tests;
    task.shape = data.shape;
    task.file_names = data.file_names;
    task.understood = data.understood;
    for (const AgentData& agent : data.agents) task.scaling.push_back(agent.scaling);
    task.targets = target_facts(network, data);
    task.feature_norm = config.feature_norm;
    network.agree([&] {
        const TaskRecord record = named_task(config.task);
        const auto of_units =
            [](std::unique_ptr<Objective> objective, const Units& units, UnitSample sample = {}) {
                return units.empty()
                           ? std::move(objective)
                           : make_unit_objective(std::move(objective), units, std::move(sample));
            };
        for (auto& agent : data.agents) {
            if (data.shape.table && config.learns_scaling())
                task.moments.push_back(
                    of_units(make_column_moments(
                                 agent.shard,
                                 feature_names(*data.shape.table, config.table.missing).numbers),
                             agent.units));
            UnitSample sample = sample_of(agent.shard, agent.units, config.table.unit_records);
            task.objectives.push_back(
                of_units(objective_of(record, config, data, std::move(agent.shard), agent.test),
                         agent.units,
                         std::move(sample)));
        }
    });
    return task;
}

namespace {

void require_initial(const HandedInputs& inputs) {
    const Eigen::Index dimension = inputs.objectives.front()->dimension();
    if (inputs.initial.size() != dimension)
        throw ConfigError(fmt::format("initial: {} values are not allowed ({}, the dimension)",
                                      inputs.initial.size(),
                                      dimension));
    if (!inputs.initial.allFinite())
        throw ConfigError("initial: a value is not finite (allowed: finite numbers)");
}

/// Number and size of the records, and their digest if the program gives one.
Digest digest_of_data(const Digest* said, Eigen::Index records, const Eigen::VectorXd& initial) {
    Hasher hasher("sotto.handed-data.v1");
    hasher.add(static_cast<std::int64_t>(records)).add(static_cast<std::int64_t>(initial.size()));
    if (said) hasher.add_bytes(*said);
    return hasher.finish();
}

/// COLLECTIVE. @throws DataError, the same on every process, if digests differ.
/// @param message with a place for the first rank whose digest is not that of rank 0.
void require_same(Control& network, const Digest& own, fmt::format_string<std::size_t&> message) {
    const auto all = network.all_gather(std::string(own.begin(), own.end()), own.size());
    network.agree([&] {
        for (std::size_t p = 1; p < all.size(); ++p)
            if (all[p] != all[0]) throw DataError(fmt::format(message, p));
    });
}

/// COLLECTIVE. @throws DataError, the same on every process, if models differ, or what records are.
void require_same_inputs(Control& network, const LocalTask& task) {
    const std::span<const double> values(task.initial.data(),
                                         static_cast<std::size_t>(task.initial.size()));
    require_same(network,
                 Hasher("sotto.initial-model.v1").add(values).finish(),
                 "the initial model of rank {} is not that of rank 0; all must be the same "
                 "(give the generator the same seed on every rank)");
    require_same(network,
                 Hasher("sotto.person.v1").add(task.person).finish(),
                 "person: that of rank {} is not that of rank 0; records must be of the same kind "
                 "on all ranks");
}

}  // namespace

LocalTask make_handed_task(HandedInputs inputs, const TaskConfig& config, Control& network) {
    network.agree([&] {
        const Eigen::Index dimension = inputs.objectives.front()->dimension();
        require_room(dimension, 1, fmt::format("dimension: {} is too large here", dimension));
        if (inputs.initial.size() == 0) inputs.initial = Eigen::VectorXd::Zero(dimension);
        require_initial(inputs);
    });
    LocalTask task;
    task.resumable = true;
    task.own_tests = true;
    task.description = std::move(inputs.description);
    task.initial = std::move(inputs.initial);
    task.person = std::move(inputs.person);
    task.statements.push_back(
        "Gradients come from the user's program, which says which records an agent has, and of "
        "which record each gradient is. sotto clips every gradient that it gets; where a statement "
        "says that the program clips, it gets their sum.");
    if (!task.person.empty())
        task.statements.push_back(fmt::format(
            "What counts as a record is everything that an agent has of one {}, and the program "
            "says which records these are.",
            task.person));
    for (std::size_t a = 0; a < inputs.objectives.size(); ++a) {
        const Eigen::Index records = inputs.objectives[a]->records();
        const Digest* said = inputs.data.empty() ? nullptr : &inputs.data.at(a);
        task.digests.own.push_back(
            {{"data", "", records, digest_of_data(said, records, task.initial)}});
    }
    task.objectives = std::move(inputs.objectives);
    task = settled_task(std::move(task), config, network);
    require_same_inputs(network, task);
    return task;
}

}  // namespace sotto
