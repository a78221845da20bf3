#include "tasks/task_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "learn/label_set.hpp"
#include "learn/layered_objective.hpp"
#include "learn/layers.hpp"
#include "learn/logistic.hpp"
#include "learn/quadratic.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "tasks/record_task.hpp"
#include "tasks/task_values.hpp"

namespace sotto {

namespace {

constexpr double l2_of_averages = 1;

LocalTask build_averaging(const TaskConfig& config, Control& network, const Membership& members) {
    LocalValues data = read_local_values(config, network, members);
    LocalTask task;
    network.agree([&] {
        for (auto& shard : data.shards)
            task.objectives.push_back(make_averaging_objective(std::move(shard), data.mean));
    });
    task.description = data.description;
    task.digests = data.digests;
    task.l2 = l2_of_averages;
    task.statements.emplace_back(
        "Gossip averaging: an agent's inputs are its own clipped values, fixed in advance, "
        "whatever messages say. So figures of partial views are exact, not only those of views of "
        "all messages. The network converges to the mean of the clipped inputs.");
    return task;
}

}  // namespace

TaskRecord averaging_task() {
    return {.name = "averaging",
            .summary = "running averages of points: the network estimates their mean",
            .build = build_averaging,
            .fixed_inputs = true,
            .options = {"data", "test-data", "partition"},
            .defaults = {{"step-size", "1"},
                         {"step-schedule", "inverse"},
                         {"l2", fmt::format("{}", l2_of_averages)},
                         {"clip-norm", "1"},
                         {"batch-size", "all"},
                         {"partition", "iid"}}};
}

namespace {

/// Grey images of the data's shape, or square.
ImageShape image_shape(const TaskConfig& config, const LocalData& data) {
    const Eigen::Index known = data.shape.image_rows;
    const Eigen::Index rows =
        known > 0 ? known
                  : static_cast<Eigen::Index>(std::sqrt(static_cast<double>(data.shape.features)));
    if (rows < 1 || data.shape.features % rows != 0 ||
        (known == 0 && rows * rows != data.shape.features))
        throw DataError(
            fmt::format("{}: {} features are not an image, which task 'cnn' needs (allowed: IDX, "
                        "or a square number of features)",
                        config.data,
                        data.shape.features));
    return {rows, data.shape.features / rows, 1};
}

std::unique_ptr<Objective> make_cnn(const TaskConfig& config,
                                    const LocalData& data,
                                    Dataset shard,
                                    std::shared_ptr<const Dataset> test) {
    const Eigen::Index classes = outputs_of(config, data);
    return make_layered_objective(
        cnn_layers(image_shape(config, data), classes), std::move(shard), std::move(test));
}

}  // namespace

TaskRecord cnn_task() {
    return {.name = "cnn",
            .summary = "two convolutions and a dense layer; images with classes",
            .objective = make_cnn};
}

TaskRecord logistic_task() {
    return {.name = "logistic",
            .summary = "linear classifier of two classes",
            .objective =
                [](const TaskConfig& config,
                   const LocalData& data,
                   Dataset shard,
                   std::shared_ptr<const Dataset> test) {
                    if (data.shape.labels.size() != 2)
                        throw DataError(
                            fmt::format("{}: task 'logistic' needs two classes; the labels are {} "
                                        "(allowed for more: softmax, mlp, cnn)",
                                        config.data,
                                        labels_text(data.shape.labels)));
                    return make_logistic_objective(std::move(shard), std::move(test));
                },
            .options = {"feature-norm"}};
}

namespace {

constexpr long usual_hidden = 128, usual_hidden_for_values = 64;

std::unique_ptr<Objective> make_mlp(const TaskConfig& config,
                                    const LocalData& data,
                                    Dataset shard,
                                    std::shared_ptr<const Dataset> test) {
    const bool values = data.shape.target == Target::value;
    const long hidden = config.hidden.value_or(values ? usual_hidden_for_values : usual_hidden);
    require_in_range("hidden", static_cast<double>(hidden), 1, 1e6);
    return make_layered_objective(mlp_layers(data.shape.features, hidden, outputs_of(config, data)),
                                  std::move(shard),
                                  std::move(test));
}

}  // namespace

TaskRecord mlp_task() {
    return {.name = "mlp",
            .summary = "one hidden layer; classes, or a value to predict",
            .objective = make_mlp,
            .takes_values = true,
            .options = {"hidden"}};
}

namespace {

LocalTask refuse_python(const TaskConfig&, Control& network, const Membership&) {
    network.agree([] {
        throw ConfigError(
            "task: python has its gradients from a Python program, which makes its agents itself "
            "(sotto.Agent, also with resume=DIRECTORY; docs/python.md)");
    });
    return {};
}

}  // namespace

TaskRecord python_task() {
    return {.name = python_task_name,
            .summary = "whatever a Python program computes (sotto.Agent)",
            .build = refuse_python};
}

namespace {

LocalTask build_quadratic(const TaskConfig&, Control& network, const Membership& members) {
    LocalTask task;
    for (const int agent : network.local_agents())
        task.objectives.push_back(make_quadratic_objective(members.number(agent), members.all));
    task.description = "one quadratic function an agent";
    return task;
}

}  // namespace

TaskRecord quadratic_task() {
    return {.name = "quadratic",
            .summary = "one quadratic function of two numbers an agent; no data",
            .build = build_quadratic};
}

TaskRecord softmax_task() {
    return {.name = "softmax",
            .summary = "linear classifier of any number of classes",
            .objective = [](const TaskConfig& config,
                            const LocalData& data,
                            Dataset shard,
                            std::shared_ptr<const Dataset> test) {
                return make_layered_objective(
                    softmax_layers(data.shape.features, outputs_of(config, data)),
                    std::move(shard),
                    std::move(test));
            }};
}

Registry<TaskRecord>& tasks() {
    static Registry<TaskRecord> table("task",
                                      {quadratic_task(),
                                       logistic_task(),
                                       softmax_task(),
                                       mlp_task(),
                                       cnn_task(),
                                       averaging_task(),
                                       python_task()});
    return table;
}

std::vector<std::string> task_names_where(const std::function<bool(const TaskRecord&)>& holds) {
    std::vector<std::string> names;
    for (const TaskRecord& task : tasks().records())
        if (holds(task)) names.push_back(task.name);
    return names;
}

}  // namespace sotto
