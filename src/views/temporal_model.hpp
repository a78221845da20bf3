#pragma once

#include <Eigen/Dense>

#include "sotto/views/message_process.hpp"
#include "sotto/views/view.hpp"
#include "views/observation_model.hpp"
#include "views/process_rounds.hpp"

namespace sotto {

/// A view's model with the correlation of its noise over rounds, in whichever of two ways is less
/// work: past noise in the state, or a factor that all observations are whitened with at once.
struct TemporalModel {
    ObservationModel model;
    Eigen::MatrixXd inverse;  ///< C_time^-1, a block a stretch; 0 x 0: the model has it all
};
[[nodiscard]] TemporalModel make_temporal_model(const MessageProcess& process,
                                                const ProcessRounds& where,
                                                const View& view);

}  // namespace sotto
