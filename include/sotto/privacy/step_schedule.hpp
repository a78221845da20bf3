#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// eta_t, t from 0: constant eta, eta / sqrt(t + 1), eta / (t + 1), or eta times the factor of the
/// last piece that has begun.
struct StepSchedule {
    enum class Kind { constant, inverse_sqrt, inverse, piecewise };
    struct Piece {
        long round = 0;     ///< first round it counts for; before the first piece the factor is 1
        double factor = 1;  ///< > 0
    };
    Kind kind = Kind::constant;
    double step_size = 0.05;    ///< eta > 0
    std::vector<Piece> pieces;  ///< piecewise only; rounds ascend
    long first_round = 0;       ///< of the run that round 0 here is
    [[nodiscard]] double at(long round) const;
    /// Of every round.
    [[nodiscard]] std::vector<double> over(long rounds) const;
};
/// "constant", "inverse-sqrt", "inverse", "piecewise:ROUND:FACTOR,...". @throws ConfigError.
[[nodiscard]] StepSchedule parse_step_schedule(std::string_view option,
                                               std::string_view text,
                                               double step_size);
/// Without the step size; parse_step_schedule reads it back.
[[nodiscard]] std::string name_of(const StepSchedule& schedule);

}  // namespace sotto
