#include "run/tasks/logistic.hpp"

#include "sotto/learn/logistic.hpp"

namespace sotto {

TaskRecord logistic_task() {
    return {.name = "logistic",
            .summary = "linear classifier of two classes",
            .objective = [](const TaskConfig&,
                            const LocalData&,
                            Dataset shard,
                            std::shared_ptr<const Dataset> test) {
                return make_logistic_objective(std::move(shard), std::move(test));
            }};
}

}  // namespace sotto
