#include "sotto/plan/noise_grid.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {

double largest_deviation(const NoisePlan& plan) {
    double largest = 0;
    for (const auto& row : plan.rows) {
        double squared = 0;
        for (const double coefficient : row.coefficients) squared += coefficient * coefficient;
        largest = std::max(largest, squared * unit_variance(plan.distribution()));
    }
    return plan.scale * std::sqrt(largest);
}

double finest_grid_step(const NoisePlan& plan) {
    const int longer = plan.distribution() == StreamDistribution::laplace ? 3 : 0;
    return std::ldexp(largest_deviation(plan), finest_grid_log2 + longer);
}

}  // namespace sotto
