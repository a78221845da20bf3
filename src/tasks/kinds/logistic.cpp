#include "tasks/kinds/logistic.hpp"

#include <fmt/format.h>

#include "sotto/core/error.hpp"
#include "sotto/learn/label_set.hpp"
#include "sotto/learn/logistic.hpp"

namespace sotto {

TaskRecord logistic_task() {
    return {.name = "logistic",
            .summary = "linear classifier of two classes",
            .objective = [](const TaskConfig& config,
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
            }};
}

}  // namespace sotto
