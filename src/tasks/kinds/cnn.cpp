#include "tasks/kinds/cnn.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/learn/layered_objective.hpp"
#include "sotto/learn/layers/image_shape.hpp"
#include "sotto/learn/layers/models.hpp"
#include "tasks/record_task.hpp"

namespace sotto {

namespace {

/// Grey images: of the shape the data say, or else square.
ImageShape image_shape(const TaskConfig& config, const LocalData& data) {
    const Eigen::Index known = data.shape.image_rows;
    const Eigen::Index rows =
        known > 0 ? known
                  : static_cast<Eigen::Index>(std::sqrt(static_cast<double>(data.shape.features)));
    if (rows < 1 || data.shape.features % rows != 0 ||
        (known == 0 && rows * rows != data.shape.features))
        throw DataError(
            fmt::format("{}: {} features are no image; task 'cnn' needs one (IDX, or a "
                        "square number of features)",
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

}  // namespace sotto
