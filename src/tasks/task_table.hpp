#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/network.hpp"
#include "sotto/core/names.hpp"
#include "sotto/learn/objective.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/local_task.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

/// What an option means where the user does not say.
struct OptionDefault {
    std::string option;  ///< "step-size"
    std::string text;    ///< as on a command line
};

/// A task that a configuration can name, and all there is to say about it. Exactly one of
/// `objective` and `build` is given.
struct TaskRecord {
    std::string name;
    std::string summary;  ///< one line for people

    /// Of a task that learns from records, some of which are held out to test on: makes one agent's
    /// objective. LOCAL. @param data what all agents have in common.  @param shard, test of the
    /// agent. @throws ConfigError, DataError.
    std::function<std::unique_ptr<Objective>(const TaskConfig& config,
                                             const LocalData& data,
                                             Dataset shard,
                                             std::shared_ptr<const Dataset> test)>
        objective{};
    /// Of any other task: makes the objectives of all agents of this process, description and
    /// statements. COLLECTIVE. @throws ConfigError, DataError, the same on every process.
    std::function<LocalTask(const TaskConfig& config, Network& network, const Membership& members)>
        build{};

    bool takes_values = false;  ///< of `objective`: records may have a value instead of a class
    /// Gradients depend on the data alone, not on messages: partial views are exact.
    bool fixed_inputs = false;
    /// That not every task has, but this one: "hidden"; of a task with `build`, also those that
    /// name its data. A task with `objective` has all of these.
    std::vector<std::string> options{};
    std::vector<OptionDefault> defaults{};  ///< where they are not those of other tasks

    /// Learns from records, some of which are held out.
    [[nodiscard]] bool needs_records() const { return objective != nullptr; }
    [[nodiscard]] bool has_option(const std::string& option) const {
        const bool about_data = option != "hidden";
        if (needs_records() && about_data) return true;
        return std::ranges::find(options, option) != options.end();
    }
};

/// Gossip averaging ([G]): the network estimates the mean of all points.
[[nodiscard]] TaskRecord averaging_task();

/// Convolutions, for images with classes.
[[nodiscard]] TaskRecord cnn_task();

/// Logistic regression on two classes.
[[nodiscard]] TaskRecord logistic_task();

/// One hidden layer, for classes or a value to predict.
[[nodiscard]] TaskRecord mlp_task();

/// Of a run whose gradients a Python program computes.
inline constexpr const char* python_task_name = "python";
/// The program alone makes its agents (sotto.Agent); without it the task only says so.
[[nodiscard]] TaskRecord python_task();

/// The quadratic functions of [W] eq. 11, one an agent; no data.
[[nodiscard]] TaskRecord quadratic_task();

/// Linear classifier of any number of classes.
[[nodiscard]] TaskRecord softmax_task();

/// The tasks a configuration can name. Beside them the name of a shared library is one too
/// (SOTTO_OWN_TASK).
[[nodiscard]] Registry<TaskRecord>& tasks();

/// Names of the tasks for which something holds, in the order of the table.
[[nodiscard]] std::vector<std::string> task_names_where(
    const std::function<bool(const TaskRecord&)>& holds);

}  // namespace sotto
