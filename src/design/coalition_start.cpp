#include "design/coalition_start.hpp"

#include <algorithm>
#include <cmath>

#include "design/coalition_excess.hpp"
#include "sotto/core/numbers.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Shared noise and nothing else, with a mean diagonal of 1 / min kappa; alike in all groups, or
/// more where members are in few and where it costs less.
VectorXd shared_noise(const GroupLayout& layout,
                      const VectorXd& cost,
                      const VectorXd& kappa,
                      bool even) {
    VectorXd shared = VectorXd::Zero(layout.size());
    for (std::size_t k = 0; k < layout.groups().size(); ++k) {
        const std::vector<int>& members = layout.groups()[k].members;
        const Index rank = layout.rank(k);
        Map<MatrixXd> block(shared.data() + layout.first(k), rank, rank);
        if (rank == 1)
            block.setOnes();
        else
            block = 1.1 * MatrixXd::Identity(rank, rank) -
                    MatrixXd::Constant(rank, rank, 1 / static_cast<double>(members.size()));
        if (even) continue;
        std::size_t fewest = layout.groups().size();
        for (const int u : members) fewest = std::min(fewest, layout.groups_of(u).size());
        const Map<const MatrixXd> costs(cost.data() + layout.first(k), rank, rank);
        block /= static_cast<double>(fewest) * std::sqrt(costs.trace());
    }
    return shared / (layout.diagonal(shared).mean() * kappa.minCoeff());
}

/// Private variances times what each lacks most.
void follow_lack(const GroupLayout& layout, const VectorXd& excess, VectorXd& values) {
    VectorXd lack = VectorXd::Zero(layout.variances());
    for (int u = 0; u < layout.agents(); ++u) {
        double& most = lack(layout.variance_of(u));
        most = std::max(most, excess(u));
    }
    values.head(layout.variances()).array() *= lack.array();
}

}  // namespace

VectorXd private_values(const GroupLayout& layout, const VectorXd& kappa) {
    VectorXd values = VectorXd::Zero(layout.size());
    for (int u = 0; u < layout.agents(); ++u) {
        double& variance = values(layout.variance_of(u));
        variance = std::max(variance, 1 / kappa(u));
    }
    return values;
}

VectorXd first_values(const GroupLayout& layout,
                      const VectorXd& cost,
                      const VectorXd& cap,
                      const VectorXd& kappa,
                      const std::vector<Coalition>& coalitions) {
    const VectorXd own = private_values(layout, kappa);
    if (layout.groups().empty()) return own;
    VectorXd best;
    double best_value = infinity;
    for (const bool even : {true, false}) {
        const VectorXd shared = shared_noise(layout, cost, kappa, even);
        const double room =
            (cap - layout.diagonal(own)).cwiseQuotient(layout.diagonal(shared)).minCoeff();
        for (const double share : {0.03, 0.3, 3., 30.}) {
            VectorXd values = own + std::min(share, std::max(0.5 * room, 1e-9)) * shared;
            constexpr int steps = 3;
            for (int step = 0; step <= (even ? 0 : steps); ++step) {
                const VectorXd excess = excess_of_agents(layout, values, kappa, coalitions);
                const double worst = excess.maxCoeff();
                if (!std::isfinite(worst)) break;
                if (const double value = worst * cost.dot(values); value < best_value) {
                    best_value = value;
                    best = worst * values;
                }
                follow_lack(layout, excess, values);
            }
        }
    }
    return best;
}

bool is_uneven(const GroupLayout& layout) {
    constexpr double many_times = 8;
    double most = 0, sum = 0;
    for (int u = 0; u < layout.agents(); ++u) {
        most = std::max(most, layout.partners_of(u));
        sum += layout.partners_of(u);
    }
    return most * layout.agents() > many_times * sum;
}

}  // namespace sotto
