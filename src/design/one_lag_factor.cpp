#include "design/one_lag_factor.hpp"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>

#include "sotto/core/numbers.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/temporal_sensitivity.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

TemporalFactor one_lag_factor(double rho, Index rounds, Index block) {
    Eigen::MatrixXd lower = Eigen::MatrixXd::Ones(rounds, 2);
    for (Index t = 0; t < rounds; ++t) lower(t, 1) = t % block == 0 ? 0 : -rho;
    return {TemporalFactor::Kind::one_lag, std::move(lower)};
}

struct Minimum {
    double at = 0, value = 0;
};

/// Over [0, 1]: the best of a grid, refined between its neighbours.
template <class Function>
Minimum minimise_on_unit_interval(const Function& value) {
    constexpr int grid = 40;
    int best = 0;
    double best_value = value(0);
    for (int i = 1; i <= grid; ++i)
        if (const double found = value(static_cast<double>(i) / grid); found < best_value) {
            best = i;
            best_value = found;
        }
    const auto refined =
        boost::math::tools::brent_find_minima(value,
                                              std::max(0.0, static_cast<double>(best - 1) / grid),
                                              std::min(1.0, static_cast<double>(best + 1) / grid),
                                              40);
    return {refined.second < best_value ? refined.first : static_cast<double>(best) / grid,
            std::min(refined.second, best_value)};
}

}  // namespace

ShapedFactor solve_one_lag_factor(const VectorXd& diagonal,
                                  const VectorXd& subdiagonal,
                                  long cycle,
                                  long restart) {
    const Index rounds = diagonal.size();
    const Index block = restart > 0 ? restart : rounds;
    const double participations = temporal_sensitivity_squared({}, {cycle}, rounds);
    const auto value = [&](double rho) {
        const TemporalFactor factor = one_lag_factor(rho, rounds, block);
        double noise = diagonal.sum();
        for (Index t = 0; t < rounds; ++t) {
            const double past = factor.lower(t, 1);
            if (past != 0) noise += past * past * diagonal(t) + 2 * past * subdiagonal(t);
        }
        return noise * temporal_sensitivity_squared(factor, {cycle}, rounds) / participations;
    };
    const Minimum best = minimise_on_unit_interval(value);
    return {one_lag_factor(best.at, rounds, block), best.value, not_a_number};
}

}  // namespace sotto
