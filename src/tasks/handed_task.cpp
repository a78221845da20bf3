#include "tasks/handed_task.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "sotto/core/error.hpp"
#include "tasks/task.hpp"

namespace sotto {

namespace {

/// @throws ConfigError for a model that cannot be begun with.
void require_initial(const HandedInputs& inputs) {
    if (inputs.initial.size() != inputs.objective->dimension())
        throw ConfigError(fmt::format("initial: {} values are not allowed ({}, the dimension)",
                                      inputs.initial.size(),
                                      inputs.objective->dimension()));
    if (!inputs.initial.allFinite())
        throw ConfigError("initial: a value is not finite (allowed: finite numbers)");
}

/// How many records, of what size, and which, as far as the program says it.
Digest digest_of_data(const std::optional<Digest>& said,
                      Eigen::Index records,
                      const Eigen::VectorXd& initial) {
    Hasher hasher("sotto.handed-data.v1");
    hasher.add(static_cast<std::int64_t>(records)).add(static_cast<std::int64_t>(initial.size()));
    if (said) hasher.add_bytes(*said);
    return hasher.finish();
}

/// COLLECTIVE. @throws DataError, the same on every process, where models differ.
void require_same_initial(Network& network, const Eigen::VectorXd& initial) {
    const std::span<const double> values(initial.data(), static_cast<std::size_t>(initial.size()));
    const Digest own = Hasher("sotto.initial-model.v1").add(values).finish();
    const auto all = network.all_gather(std::string(own.begin(), own.end()), own.size());
    network.agree([&] {
        for (std::size_t p = 1; p < all.size(); ++p)
            if (all[p] != all[0])
                throw DataError(fmt::format(
                    "the initial model of rank {} is not that of rank 0; all must be the same "
                    "(give the generator the same seed on every rank)",
                    p));
    });
}

}  // namespace

LocalTask make_handed_task(HandedInputs inputs, const TaskConfig& config, Network& network) {
    const Eigen::Index records = inputs.objective->records();
    network.agree([&] {
        const Eigen::Index dimension = inputs.objective->dimension();
        require_room(dimension, 1, fmt::format("dimension: {} is too large here", dimension));
        if (inputs.initial.size() == 0)
            inputs.initial = Eigen::VectorXd::Zero(inputs.objective->dimension());
        require_initial(inputs);
    });
    LocalTask task;
    task.resumable = true;
    task.own_tests = true;
    task.objectives.push_back(std::move(inputs.objective));
    task.description = std::move(inputs.description);
    task.initial = std::move(inputs.initial);
    task.statements.push_back(
        "Gradients come from the user's program, which says which records an agent has and which "
        "of them a gradient is of; whatever they are, each is clipped here.");
    task.digests.own = {
        {{"data", "", records, digest_of_data(inputs.data, records, task.initial)}}};
    task = settled_task(std::move(task), config, network);
    require_same_initial(network, task.initial);
    return task;
}

}  // namespace sotto
