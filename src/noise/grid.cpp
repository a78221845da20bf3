#include "sotto/noise/grid.hpp"

#include <cmath>

namespace sotto {

void round_to_grid(std::span<double> values, double grid_step) {
    // Adding 1.5 * 2^52 steps leaves no room for bits below one step: the sum is rounded to
    // nearest.
    const double shift = 6755399441055744.0 * grid_step;
    for (double& value : values) value = (value + shift) - shift;
}

void round_message_to_grid(std::span<double> values, double grid_step) {
    // As above, with a sum that stays below 2^53 steps; a value of 2^52 steps and more has no bits
    // below one step itself.
    const double shift = 0x1p52 * grid_step;
    for (double& value : values) {
        const double signed_shift = std::copysign(shift, value);
        const double rounded = (value + signed_shift) - signed_shift;
        value = std::abs(value) < shift ? rounded : value;
    }
}

void truncate_to_grid(std::span<double> values, double grid_step) {
    const double inverse = 1 / grid_step;  // exact: a power of two
    for (double& value : values) value = std::trunc(value * inverse) * grid_step;
}

}  // namespace sotto
