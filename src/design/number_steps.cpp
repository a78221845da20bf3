#include "design/number_steps.hpp"

#include <algorithm>
#include <cmath>

namespace sotto {

using Eigen::Index;
using Eigen::VectorXd;

void NumberSteps::take(const VectorXd& earned, double haste, VectorXd& numbers) {
    constexpr double least = 0.5, longest = 8, growth = 1.3;
    const double most = least + haste * (longest - least);
    const double most_change = 2 * (1 + haste);
    if (power_.size() == 0) {
        power_ = VectorXd::Constant(earned.size(), least);
        rose_.assign(static_cast<std::size_t>(earned.size()), false);
    }
    for (Index i = 0; i < earned.size(); ++i) {
        const auto place = static_cast<std::size_t>(i);
        const bool rises = earned(i) > 1;
        power_(i) = rises == rose_[place] ? std::min(most, growth * power_(i)) : least;
        rose_[place] = rises;
        numbers(i) *= std::clamp(std::pow(earned(i), power_(i)), 1 / most_change, most_change);
    }
}

}  // namespace sotto
