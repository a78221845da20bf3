#include "design/unknown_precision.hpp"

#include <algorithm>

#include "sotto/core/linear_algebra.hpp"

namespace sotto {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Calls f(k) for every group with noise that meets a coalition, once.
template <class Function>
void for_each_known_group(const GroupLayout& layout,
                          const VectorXd& values,
                          const Coalition& coalition,
                          Function&& f) {
    for (const int member : coalition)
        for (const int group : layout.groups_of(member)) {
            const auto k = static_cast<std::size_t>(group);
            const auto first = std::ranges::find_if(layout.groups()[k].members, [&](int u) {
                return std::ranges::binary_search(coalition, u);
            });
            const auto numbers = values.segment(layout.first(k), layout.rank(k) * layout.rank(k));
            if (*first == member && !numbers.isZero(0)) f(k);
        }
}

}  // namespace

UnknownPrecision::UnknownPrecision(const GroupLayout& layout,
                                   const VectorXd& values,
                                   const MatrixXd& covariance,
                                   const MatrixXd& precision,
                                   const Coalition& coalition)
    : coalition_(coalition) {
    std::vector<int> place(static_cast<std::size_t>(layout.agents()), -1);
    for_each_known_group(layout, values, coalition, [&](std::size_t k) {
        for (const int u : layout.groups()[k].members) {
            int& at = place[static_cast<std::size_t>(u)];
            if (at >= 0 || std::ranges::binary_search(coalition, u)) continue;
            at = static_cast<int>(support_.size());
            support_.push_back(u);
        }
    });
    MatrixXd known = MatrixXd::Zero(std::ssize(support_), std::ssize(support_));
    for_each_known_group(layout, values, coalition, [&](std::size_t k) {
        const auto& members = layout.groups()[k].members;
        const double* const first = values.data() + layout.first(k);
        for (std::size_t i = 0; i < members.size(); ++i)
            for (std::size_t j = 0; j < members.size(); ++j) {
                const int a = place[static_cast<std::size_t>(members[i])];
                const int b = place[static_cast<std::size_t>(members[j])];
                if (a < 0 || b < 0) continue;
                // Of a difference only one member can be outside.
                known(a, b) += layout.shape() == GroupNoise::difference
                                   ? *first
                                   : first[i + j * members.size()];
            }
    });
    const bool most = 4 * support_.size() > 3 * static_cast<std::size_t>(layout.agents());
    positive_ =
        most ? invert(covariance, known) : change(precision, known) || invert(covariance, known);
}

bool UnknownPrecision::invert(const MatrixXd& covariance, const MatrixXd& known) {
    MatrixXd unknown = covariance;
    unknown(support_, support_) -= known;
    for (const int member : coalition_) {
        unknown.row(member).setZero();
        unknown.col(member).setZero();
        unknown(member, member) = 1;
    }
    if (!invert_positive_definite(unknown)) return false;
    whole_ = std::move(unknown);
    for (const int member : coalition_) whole_(member, member) = 0;
    return true;
}

bool UnknownPrecision::change(const MatrixXd& precision, const MatrixXd& known) {
    MatrixXd factor = known;
    if (!cholesky(factor)) return false;
    change_.emplace(precision, coalition_, support_, factor.sparseView());
    constexpr double least_left = 1e-9;  // below, rounding is too near
    if (change_->left() > least_left) return true;
    change_.reset();
    return false;
}

VectorXd UnknownPrecision::diagonal() const {
    return whole_.size() > 0 ? VectorXd(whole_.diagonal()) : change_->diagonal();
}

MatrixXd UnknownPrecision::columns(std::span<const int> agents) const {
    return whole_.size() > 0 ? MatrixXd(whole_(Eigen::all, agents)) : change_->columns(agents);
}

}  // namespace sotto
