#include "design/coalition_problem.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Term = CoalitionTerm;

double along(const MatrixXd& a, const Term& b, const Term& c) {
    double value = a(b.u, c.u);
    if (c.v >= 0) value -= a(b.u, c.v);
    if (b.v >= 0) value -= a(b.v, c.u);
    if (b.v >= 0 && c.v >= 0) value += a(b.v, c.v);
    return value;
}

bool meets(const SeedGroup& group, const Coalition& coalition) {
    return std::any_of(coalition.begin(), coalition.end(), [&](int member) {
        return std::binary_search(group.members.begin(), group.members.end(), member);
    });
}

CoalitionProblem::CoalitionProblem(MatrixXd utility,
                                   VectorXd kappa,
                                   std::span<const SeedGroup> groups,
                                   GroupNoise shape,
                                   const CoalitionOptions& options)
    : utility_(std::move(utility)),
      kappa_(std::move(kappa)),
      groups_(groups.begin(), groups.end()),
      shape_(shape),
      common_variance_(options.common_variance),
      agents_(static_cast<int>(kappa_.size())),
      cap_(options.variance_cap * kappa_.cwiseInverse()),
      louder_at_start_(std::min(1.3, std::sqrt(options.variance_cap))) {
    for (int u = 0; u < agents_; ++u) terms_.push_back({u, -1, -1, common_variance_ ? 0 : u});
    unknowns_ = common_variance_ ? 1 : agents_;
    nonnegative_ = unknowns_;
    add_terms_of_groups();
    if (shape == GroupNoise::difference) nonnegative_ = unknowns_;
    constexpr int most_unknowns = 6000;
    if (unknowns_ > most_unknowns)
        throw ConfigError(
            fmt::format("seed-groups: {} unknowns are too many to optimise (at most {}); use "
                        "fewer or smaller groups (--seed-groups edges, or a FILE){}",
                        unknowns_,
                        most_unknowns,
                        options.instead));
    cost_ = VectorXd::Zero(unknowns_);
    for (const Term& term : terms_) cost_(term.unknown) += along(utility_, term, term);
}

void CoalitionProblem::add_terms_of_groups() {
    for (std::size_t k = 0; k < groups_.size(); ++k) {
        const auto& members = groups_[k].members;
        const auto group = static_cast<int>(k);
        first_term_.push_back(terms_.size());
        if (shape_ == GroupNoise::free)
            for (const int u : members) terms_.push_back({u, -1, group, unknowns_++});
        for (std::size_t i = 0; i < members.size(); ++i)
            for (std::size_t j = i + 1; j < members.size(); ++j)
                terms_.push_back({members[i], members[j], group, unknowns_++});
    }
    first_term_.push_back(terms_.size());
}

std::span<const Term> CoalitionProblem::terms_of(std::size_t group) const {
    return std::span(terms_).subspan(first_term_[group],
                                     first_term_[group + 1] - first_term_[group]);
}

int CoalitionProblem::threads() const { return unknowns_ < 200 ? 1 : linear_algebra_threads(); }

VectorXd CoalitionProblem::start() const {
    VectorXd own = VectorXd::Zero(unknowns_), shared = own;
    const double smallest = kappa_.minCoeff();
    for (const Term& term : terms_) {
        if (term.group < 0)
            own(term.unknown) = std::max(own(term.unknown), louder_at_start_ / kappa_(term.u));
        else if (term.v < 0 || shape_ == GroupNoise::difference)
            shared(term.unknown) = 0.1 / (smallest * agents_);
    }
    // Half of the room below the cap at most: close to it, or to no shared noise, steps are short.
    const VectorXd room = cap_ - variances(own), taken = variances(shared);
    double share = 1;
    for (int u = 0; u < agents_; ++u)
        if (taken(u) > 0) share = std::min(share, 0.5 * room(u) / taken(u));
    return own + std::max(share, 0.0) * shared;
}

VectorXd CoalitionProblem::variances(const VectorXd& phi) const {
    VectorXd variances = VectorXd::Zero(agents_);
    for (const Term& term : terms_) {
        variances(term.u) += phi(term.unknown);
        if (term.v >= 0) variances(term.v) += phi(term.unknown);
    }
    return variances;
}

MatrixXd CoalitionProblem::group_matrix(const VectorXd& phi, std::size_t group) const {
    const auto& members = groups_[group].members;
    const auto place = [&](int agent) {
        return std::lower_bound(members.begin(), members.end(), agent) - members.begin();
    };
    const auto size = static_cast<Index>(members.size());
    MatrixXd matrix = MatrixXd::Zero(size, size);
    for (const Term& term : terms_of(group)) {
        const double value = phi(term.unknown);
        const Index i = place(term.u);
        matrix(i, i) += value;
        if (term.v < 0) continue;
        const Index j = place(term.v);
        matrix(j, j) += value;
        matrix(i, j) -= value;
        matrix(j, i) -= value;
    }
    return matrix;
}

bool CoalitionProblem::blocks_positive(const VectorXd& phi) const {
    if (shape_ == GroupNoise::free)
        for (std::size_t k = 0; k < groups_.size(); ++k)
            if (Eigen::LLT<MatrixXd>(group_matrix(phi, k)).info() != Eigen::Success) return false;
    return true;
}

std::vector<Term> CoalitionProblem::unknown_terms(const Coalition& coalition) const {
    std::vector<char> unknown(groups_.size());
    for (std::size_t k = 0; k < groups_.size(); ++k) unknown[k] = !meets(groups_[k], coalition);
    std::vector<Term> terms;
    terms.reserve(terms_.size());
    for (const Term& term : terms_)
        if (term.group >= 0 ? unknown[static_cast<std::size_t>(term.group)] != 0
                            : !std::binary_search(coalition.begin(), coalition.end(), term.u))
            terms.push_back(term);
    return terms;
}

std::optional<MatrixXd> CoalitionProblem::unknown_precision(const VectorXd& phi,
                                                            const Coalition& coalition) const {
    MatrixXd covariance = MatrixXd::Zero(agents_, agents_);
    for (const Term& term : unknown_terms(coalition)) {
        const double value = phi(term.unknown);
        covariance(term.u, term.u) += value;
        if (term.v < 0) continue;
        covariance(term.v, term.v) += value;
        covariance(term.u, term.v) -= value;
        covariance(term.v, term.u) -= value;
    }
    for (const int member : coalition) covariance(member, member) = 1;
    const Eigen::LLT<MatrixXd> factor(covariance);
    if (factor.info() != Eigen::Success) return std::nullopt;
    MatrixXd inverse = factor.solve(MatrixXd::Identity(agents_, agents_));
    for (const int member : coalition) inverse(member, member) = 0;
    return inverse;
}

double CoalitionProblem::excess(const VectorXd& phi, const Coalition& coalition) const {
    const std::optional<MatrixXd> inverse = unknown_precision(phi, coalition);
    if (!inverse) return infinity;
    return inverse->diagonal().cwiseQuotient(kappa_).maxCoeff();
}

}  // namespace sotto
