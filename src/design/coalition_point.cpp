#include "design/coalition_point.hpp"

#include <algorithm>

#include "sotto/core/parallel.hpp"

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
        if (f == 0) continue;  // in the coalition
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

}  // namespace sotto
