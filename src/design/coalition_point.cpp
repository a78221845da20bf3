#include "design/coalition_point.hpp"

#include <algorithm>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Fills in precision and slack of one coalition. False if it is not strictly feasible.
bool complete(const CoalitionProblem& problem, CoalitionPoint& point, Index c) {
    const auto place = static_cast<std::size_t>(c);
    std::optional<MatrixXd> inverse =
        problem.unknown_precision(point.phi, problem.coalitions()[place]);
    if (!inverse) return false;
    bool positive = true;
    for (int u = 0; u < problem.agents(); ++u) {
        const double f = (*inverse)(u, u);
        if (f == 0) continue;  // member of the coalition
        point.slack(u, c) = 1 / f - 1 / problem.kappa()(u);
        positive = positive && point.slack(u, c) > 0;
    }
    point.precision[place] = *std::move(inverse);
    return positive;
}

}  // namespace

std::optional<CoalitionPoint> feasible_point(const CoalitionProblem& problem, VectorXd phi) {
    const Index signs = problem.nonnegative();
    if (signs > 0 && !(phi.head(signs).minCoeff() > 0)) return std::nullopt;
    CoalitionPoint point;
    point.phi = std::move(phi);
    point.room = problem.cap() - problem.variances(point.phi);
    if (!(point.room.minCoeff() > 0)) return std::nullopt;
    if (!problem.blocks_positive(point.phi)) return std::nullopt;
    const std::size_t count = problem.coalitions().size();
    point.precision.resize(count);
    point.slack = MatrixXd::Ones(problem.agents(), static_cast<Index>(count));
    std::vector<char> feasible(count, 0);
    parallel_for(coalition_parts, problem.threads(), [&](long part) {
        for (Index c = part; c < std::ssize(feasible); c += coalition_parts)
            feasible[static_cast<std::size_t>(c)] = complete(problem, point, c);
    });
    if (!std::ranges::all_of(feasible, [](char f) { return f != 0; })) return std::nullopt;
    return point;
}

CoalitionPrices balanced_prices(const CoalitionProblem& problem,
                                const CoalitionPoint& point,
                                double target) {
    CoalitionPrices price{target * point.slack.cwiseInverse(),
                          target * point.room.cwiseInverse(),
                          target * point.phi.head(problem.nonnegative()).cwiseInverse()};
    for (std::size_t c = 0; c < problem.coalitions().size(); ++c)
        for (const int member : problem.coalitions()[c])
            price.limit(member, static_cast<Index>(c)) = 0;
    return price;
}

double complementarity(const CoalitionProblem& problem, const CoalitionPoint& point) {
    const Index signs = problem.nonnegative();
    double count = static_cast<double>(signs + problem.agents());
    for (const auto& coalition : problem.coalitions())
        count += problem.agents() - static_cast<double>(coalition.size());
    return (point.price.limit.cwiseProduct(point.slack).sum() + point.price.cap.dot(point.room) +
            point.price.zero.dot(point.phi.head(signs))) /
           count;
}

double excess(const CoalitionProblem& problem, const CoalitionPoint& point) {
    double excess = 0;
    for (const MatrixXd& inverse : point.precision)
        excess = std::max(excess, inverse.diagonal().cwiseQuotient(problem.kappa()).maxCoeff());
    return excess;
}

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Calls f(k) once for every group with noise that meets a coalition.
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
                // A difference has only one member outside.
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
    constexpr double least_left = 1e-9;  // below, rounding dominates
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

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::optional<InvertedCovariance> inverse_of(const GroupLayout& layout, const VectorXd& values) {
    InvertedCovariance inverse{layout.covariance(values), {}};
    inverse.precision = inverse.covariance;
    if (!invert_positive_definite(inverse.precision)) return std::nullopt;
    return inverse;
}

namespace {

/// Excess of all agents for every coalition of a list; calls take(part, c, excess).
template <class Function>
void for_each_excess(const GroupLayout& layout,
                     const VectorXd& values,
                     const VectorXd& kappa,
                     const std::vector<Coalition>& coalitions,
                     Function&& take) {
    const std::optional<InvertedCovariance> inverse = inverse_of(layout, values);
    parallel_for(coalition_parts, linear_algebra_threads(), [&](long part) {
        const auto first = static_cast<std::size_t>(part);
        for (std::size_t c = first; c < coalitions.size(); c += coalition_parts) {
            VectorXd excess = VectorXd::Constant(layout.agents(), infinity);
            if (inverse) {
                const UnknownPrecision unknown(
                    layout, values, inverse->covariance, inverse->precision, coalitions[c]);
                if (unknown.positive()) excess = unknown.diagonal().cwiseQuotient(kappa);
            }
            take(first, c, excess);
        }
    });
}

}  // namespace

std::vector<double> excesses(const GroupLayout& layout,
                             const VectorXd& values,
                             const VectorXd& kappa,
                             const std::vector<Coalition>& coalitions) {
    std::vector<double> largest(coalitions.size());
    for_each_excess(
        layout, values, kappa, coalitions, [&](std::size_t, std::size_t c, const VectorXd& excess) {
            largest[c] = excess.maxCoeff();
        });
    return largest;
}

VectorXd excess_of_agents(const GroupLayout& layout,
                          const VectorXd& values,
                          const VectorXd& kappa,
                          const std::vector<Coalition>& coalitions) {
    MatrixXd largest = MatrixXd::Zero(layout.agents(), coalition_parts);
    for_each_excess(layout,
                    values,
                    kappa,
                    coalitions,
                    [&](std::size_t part, std::size_t, const VectorXd& excess) {
                        auto column = largest.col(static_cast<Eigen::Index>(part));
                        column = column.cwiseMax(excess);
                    });
    return largest.rowwise().maxCoeff();
}

double largest_excess(const GroupLayout& layout,
                      const VectorXd& values,
                      const VectorXd& kappa,
                      int coalition_size) {
    double worst = 0;
    for_each_part_of_coalitions(
        layout.agents(), coalition_size, [&](const std::vector<Coalition>& part) {
            worst = std::max(worst, std::ranges::max(excesses(layout, values, kappa, part)));
        });
    return worst;
}

}  // namespace sotto
