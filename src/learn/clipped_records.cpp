#include "clipped_records.hpp"

#include <cmath>

#include "sotto/core/value_range.hpp"

namespace sotto {

ClippedRecords::ClippedRecords(double clip_norm_l2,
                               double grid_step,
                               Eigen::Ref<Eigen::VectorXd> sum)
    : clip_(clip_norm_l2),
      grid_step_(grid_step),
      margin_(1 - static_cast<double>(sum.size() + 64) * 0x1p-53),
      sum_(sum) {
    sum_.setZero();
}

ClippedRecords::Outcome ClippedRecords::add(Eigen::Ref<Eigen::VectorXd> gradient) {
    const auto norm = ranged_norm(gradient, false);
    if (!norm) return Outcome::set_to_zero;
    const bool longer = norm->longer_than(clip_ * margin_);
    const double scale =
        (longer ? clip_ / norm->value * margin_ : std::ldexp(margin_, norm->exponent)) / grid_step_;
    for (Eigen::Index k = 0; k < gradient.size(); ++k) sum_[k] += std::trunc(gradient[k] * scale);
    return longer ? Outcome::shortened : Outcome::whole;
}

}  // namespace sotto
