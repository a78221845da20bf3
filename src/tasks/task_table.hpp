#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/control.hpp"
#include "sotto/core/names.hpp"
#include "sotto/learn/objective.hpp"
#include "sotto/plan/membership.hpp"
#include "tasks/local_task.hpp"
#include "tasks/task_data.hpp"

namespace sotto {

struct OptionDefault {
    std::string option;  ///< "step-size"
    std::string text;    ///< as on a command line
};

/// A task that a configuration can name. Exactly one of `objective` and `build` is given.
struct TaskRecord {
    std::string name;
    std::string summary;  ///< one line for people

    /// For a task with training and test records: makes one agent's objective. LOCAL. @param data
    /// common to all agents.  @param shard, test of the agent. @throws ConfigError, DataError.
    std::function<std::unique_ptr<Objective>(const TaskConfig& config,
                                             const LocalData& data,
                                             Dataset shard,
                                             std::shared_ptr<const Dataset> test)>
        objective{};
    /// For any other task: makes the local agents' objectives, description and statements.
    /// COLLECTIVE. @throws ConfigError, DataError, the same on every process.
    std::function<LocalTask(const TaskConfig& config, Control& network, const Membership& members)>
        build{};

    bool takes_values = false;  ///< for `objective`: records may have a value instead of a class
    /// Gradients depend on the data alone, not on messages, so that partial views are exact.
    bool fixed_inputs = false;
    /// Options of this task that not all have: "hidden"; "feature-norm", if a record has one output
    /// and its loss is convex, with a curvature of at most R^2 / 4; with `build`, also those about
    /// its data, which every task with `objective` has.
    std::vector<std::string> options{};
    std::vector<OptionDefault> defaults{};  ///< that differ from other tasks

    [[nodiscard]] bool needs_records() const { return objective != nullptr; }
    [[nodiscard]] bool has_option(const std::string& option) const {
        const bool about_data = option != "hidden" && option != "feature-norm";
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

/// For runs whose gradients a Python program computes.
inline constexpr const char* python_task_name = "python";
/// Only the program can make its agents (sotto.Agent); without it the task says so.
[[nodiscard]] TaskRecord python_task();

/// The quadratic functions of [W] eq. 11, one per agent; no data.
[[nodiscard]] TaskRecord quadratic_task();

/// Linear classifier of any number of classes.
[[nodiscard]] TaskRecord softmax_task();

/// The tasks a configuration can name, beside shared libraries (SOTTO_OWN_TASK).
[[nodiscard]] Registry<TaskRecord>& tasks();

/// In the order of the table.
[[nodiscard]] std::vector<std::string> task_names_where(
    const std::function<bool(const TaskRecord&)>& holds);

}  // namespace sotto
