#include "learn/clipped_records.hpp"

#include <cmath>
#include <span>
#include <vector>

#include "core/column_sums.hpp"

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

double ClippedRecords::scale_of(const RangedNorm& norm) const {
    return (shortens(norm) ? clip_ / norm.value * margin_ : std::ldexp(margin_, norm.exponent)) /
           grid_step_;
}

namespace {

/// The norm, if no square leaves the range of doubles, nor their sum; the same bits for values of
/// both types.
template <class Value>
std::optional<RangedNorm> plain_norm(std::span<const Value> values) {
    constexpr double smallest_safe = 0x1p-600, largest_safe = 0x1p600;
    const double squares = sum_of_squares(values);
    if (!(squares >= smallest_safe && squares <= largest_safe)) return std::nullopt;
    return RangedNorm{std::sqrt(squares), 0};
}

}  // namespace

ClippedRecords::Outcome ClippedRecords::add(Eigen::Ref<Eigen::VectorXd> gradient) {
    const auto size = static_cast<std::size_t>(gradient.size());
    auto norm = plain_norm(std::span<const double>(gradient.data(), size));
    if (!norm) norm = ranged_norm(gradient, false);
    if (!norm) return Outcome::set_to_zero;
    const double* const column = gradient.data();
    const double scale = scale_of(*norm);
    add_truncated({&column, 1}, {&scale, 1}, {sum_.data(), static_cast<std::size_t>(sum_.size())});
    return shortens(*norm) ? Outcome::shortened : Outcome::whole;
}

template <class Gradients>
void ClippedRecords::add_all(const Gradients& gradients, const std::function<void(Outcome)>& tell) {
    using Value = typename Gradients::Scalar;
    const auto size = static_cast<std::size_t>(gradients.rows());
    std::vector<const Value*> columns;
    std::vector<double> scales;
    for (Eigen::Index j = 0; j < gradients.cols(); ++j) {
        const Value* const column = gradients.data() + j * gradients.rows();
        const auto norm = plain_norm(std::span(column, size));
        if (!norm) {
            Eigen::VectorXd gradient = gradients.col(j).template cast<double>();
            tell(add(gradient));
            continue;
        }
        columns.push_back(column);
        scales.push_back(scale_of(*norm));
        tell(shortens(*norm) ? Outcome::shortened : Outcome::whole);
    }
    add_truncated(columns, scales, std::span(sum_.data(), size));
}

void ClippedRecords::add_columns(const Eigen::Map<const Eigen::MatrixXd>& gradients,
                                 const std::function<void(Outcome)>& tell) {
    add_all(gradients, tell);
}

void ClippedRecords::add_columns(const Eigen::Map<const Eigen::MatrixXf>& gradients,
                                 const std::function<void(Outcome)>& tell) {
    add_all(gradients, tell);
}

}  // namespace sotto
