#include "tasks/kinds/softmax.hpp"

#include "sotto/learn/layered_objective.hpp"
#include "sotto/learn/layers/models.hpp"
#include "tasks/record_task.hpp"

namespace sotto {

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

}  // namespace sotto
