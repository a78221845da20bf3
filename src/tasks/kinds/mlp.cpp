#include "tasks/kinds/mlp.hpp"

#include "sotto/core/names.hpp"
#include "sotto/learn/layered_objective.hpp"
#include "sotto/learn/layers/models.hpp"
#include "tasks/record_task.hpp"

namespace sotto {

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

}  // namespace sotto
