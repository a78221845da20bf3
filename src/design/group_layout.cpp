#include "design/group_layout.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

GroupLayout::GroupLayout(int agents,
                         std::span<const SeedGroup> groups,
                         GroupNoise shape,
                         bool common_variance)
    : agents_(agents),
      groups_(groups.begin(), groups.end()),
      shape_(shape),
      common_variance_(common_variance),
      groups_of_(static_cast<std::size_t>(agents)),
      size_(common_variance ? 1 : agents) {
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        for (const int u : groups_[k].members)
            groups_of_[static_cast<std::size_t>(u)].push_back(static_cast<int>(k));
        first_.push_back(size_);
        size_ += rank(k) * rank(k);
    }
}

double GroupLayout::partners_of(int agent) const {
    double partners = 0;
    for (const int k : groups_of(agent))
        partners += static_cast<double>(groups_[static_cast<std::size_t>(k)].members.size()) - 1;
    return partners;
}

Index GroupLayout::rank(std::size_t group) const {
    return shape_ == GroupNoise::difference ? 1 : std::ssize(groups_[group].members);
}

MatrixXd GroupLayout::covariance(const VectorXd& values) const {
    MatrixXd covariance = MatrixXd::Zero(agents_, agents_);
    for (int u = 0; u < agents_; ++u) covariance(u, u) = values(variance_of(u));
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto& members = groups_[k].members;
        if (shape_ == GroupNoise::free) {
            covariance(members, members) += block(values, k);
            continue;
        }
        const int u = members[0], v = members[1];
        const double weight = values(first_[k]);
        covariance(u, u) += weight;
        covariance(v, v) += weight;
        covariance(u, v) -= weight;
        covariance(v, u) -= weight;
    }
    return covariance;
}

VectorXd GroupLayout::diagonal(const VectorXd& values) const {
    VectorXd diagonal(agents_);
    for (int u = 0; u < agents_; ++u) diagonal(u) = values(variance_of(u));
    for (std::size_t k = 0; k < groups_.size(); ++k)
        for (std::size_t i = 0; i < groups_[k].members.size(); ++i)
            diagonal(groups_[k].members[i]) +=
                values(first_[k] + static_cast<Index>(i) *
                                       (shape_ == GroupNoise::difference ? 0 : rank(k) + 1));
    return diagonal;
}

MatrixXd GroupLayout::block(const VectorXd& values, std::size_t group) const {
    const double* first = values.data() + first_[group];
    if (shape_ == GroupNoise::free) return Map<const MatrixXd>(first, rank(group), rank(group));
    MatrixXd block(2, 2);
    block << *first, -*first, -*first, *first;
    return block;
}

VectorXd GroupLayout::along(const MatrixXd& a) const {
    VectorXd along = VectorXd::Zero(size_);
    for (int u = 0; u < agents_; ++u) along(variance_of(u)) += a(u, u);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto& members = groups_[k].members;
        if (shape_ == GroupNoise::free) {
            Map<MatrixXd>(along.data() + first_[k], rank(k), rank(k)) = a(members, members);
            continue;
        }
        const int u = members[0], v = members[1];
        along(first_[k]) = a(u, u) + a(v, v) - a(u, v) - a(v, u);
    }
    return along;
}

VectorXd GroupLayout::along_diagonal(const VectorXd& a) const {
    VectorXd along = VectorXd::Zero(size_);
    for (int u = 0; u < agents_; ++u) along(variance_of(u)) += a(u);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto& members = groups_[k].members;
        if (shape_ == GroupNoise::free)
            Map<MatrixXd>(along.data() + first_[k], rank(k), rank(k)).diagonal() = a(members);
        else
            along(first_[k]) = a(members[0]) + a(members[1]);
    }
    return along;
}

}  // namespace sotto
