#include "views/gossip_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sotto/core/error.hpp"
#include "views/view_filter.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check_gossip_agents(const MessageProcess& process,
                         std::span<const int> observers,
                         int target) {
    if (!has_gossip_bound(process))
        throw ConfigError(
            "published bound: [G] speaks of one exchange a round (allowed: one plain gossip step, "
            "no correction, no momentum, no final gossip, no repeated rounds, an undirected "
            "graph)");
    const int agents = process.graph->agents();
    const auto require_agent = [&](const char* who, int agent) {
        if (agent < 0 || agent >= agents)
            throw ConfigError(fmt::format(
                "{}: agent {} does not exist (allowed: 0 to {})", who, agent, agents - 1));
    };
    require_agent("target", target);
    for (const int observer : observers) {
        require_agent("observer", observer);
        if (observer == target)
            throw ConfigError(
                fmt::format("target: agent {} is an observer and knows its own data", target));
    }
}

/// The target and the agents that give it weight.
std::vector<int> hearing(const MixingMatrix& mixing, int target) {
    std::vector<int> agents;
    for (int a = 0; a < mixing.agents(); ++a)
        if (a == target || mixing.weight(a, target) != 0) agents.push_back(a);
    return agents;
}

/// Posterior covariance of all models given what was seen, and their shift by the target's
/// contributions.
class SeenModels {
  public:
    explicit SeenModels(Index agents)
        : covariance_(MatrixXd::Zero(agents, agents)), apart_(VectorXd::Zero(agents)) {}

    void contribute(int target, double step) { apart_(target) += step; }
    void add_noise(int agent, double variance) { covariance_(agent, agent) += variance; }
    void mix(const MixingMatrix& mixing) {
        const SparseRows& weights = mixing.sparse();
        const MatrixXd half = weights * covariance_;
        covariance_ = weights * half.transpose();
        apart_ = weights * apart_;
    }
    /// Conditions on these agents' models.
    /// @return the increment of |B^+ a|^2.
    double see(const std::vector<int>& agents) {
        const Whitening whitening = whiten(covariance_(agents, agents),
                                           variance_rounding * covariance_.diagonal().maxCoeff());
        const MatrixXd gain = covariance_(Eigen::all, agents) * whitening.rows.transpose();
        const VectorXd innovation = whitening.rows * apart_(agents);
        covariance_ -= gain * gain.transpose();
        apart_ -= gain * innovation;
        return innovation.squaredNorm();
    }

  private:
    MatrixXd covariance_;
    VectorXd apart_;
};

}  // namespace

bool has_gossip_bound(const MessageProcess& process) {
    return process.correction == Correction::none && process.momentum == 0 &&
           process.final_gossip == 0 && !process.graph->directed() &&
           std::ranges::all_of(process.phases, [&](const Phase& phase) {
               return process.gossip_of(phase).steps() == 1 && process.gossip_of(phase).plain() &&
                      phase.repeated == 0 && phase.plan == nullptr;
           });
}

double gossip_bound(GossipTheorem theorem,
                    const MessageProcess& process,
                    std::span<const int> observers,
                    int target) {
    check_gossip_agents(process, observers, target);
    const int agents = process.graph->agents();
    SeenModels models(agents);
    double bound = 0;
    std::size_t round = 0;
    for (const Phase& phase : process.phases)
        for (long t = 0; t < phase.rounds; ++t, ++round) {
            const double step = process.step_sizes.empty() ? 1 : process.step_sizes[round];
            const MixingMatrix& mixing = phase.mixing.at(t);
            for (int u = 0; u < agents; ++u)
                if (!phase.has_departed(u) && std::ranges::find(observers, u) == observers.end())
                    models.add_noise(u, step * step);
            const bool there = !phase.has_departed(target);
            if (there) models.contribute(target, step);
            if (there && theorem == GossipTheorem::messages) bound += models.see({target});
            models.mix(mixing);
            if (there && theorem == GossipTheorem::sums)
                bound += models.see(hearing(mixing, target));
        }
    return bound;
}

double gossip_bound_work(const MessageProcess& process) {
    double work = 0;
    for (const Phase& phase : process.phases) {
        const auto agents = static_cast<double>(process.graph->agents());
        const auto entries = static_cast<double>(phase.mixing.at(0).sparse().nonZeros());
        const double heard = entries / agents;
        work += static_cast<double>(phase.rounds) *
                (2 * agents * entries + 2 * agents * agents * heard + heard * heard * heard);
    }
    return work;
}

Eigen::VectorXd muffliato_bound(const Graph& graph,
                                const MixingMatrix& mixing,
                                int observer,
                                long rounds) {
    const int n = graph.agents();
    if (mixing.agents() != n)
        throw ConfigError(
            fmt::format("mixing: {} agents, but the graph has {}", mixing.agents(), n));
    if (observer < 0 || observer >= n)
        throw ConfigError(
            fmt::format("observer: agent {} does not exist (allowed: 0 to {})", observer, n - 1));
    if (rounds < 1) throw ConfigError(fmt::format("rounds: {} is not allowed (1 or more)", rounds));
    // Columns are the rows (W^k)_w of all neighbours w, for growing k.
    const auto neighbours = graph.neighbours(observer);
    Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(n, static_cast<Eigen::Index>(neighbours.size()));
    for (std::size_t j = 0; j < neighbours.size(); ++j)
        rows(neighbours[j], static_cast<Eigen::Index>(j)) = 1;
    const SparseRows transposed = mixing.sparse().transpose();
    Eigen::VectorXd bound = Eigen::VectorXd::Zero(n);
    for (long k = 0; k < rounds; ++k) {
        // Power k appears for every round s <= rounds - k.
        const Eigen::RowVectorXd norms = rows.colwise().squaredNorm();
        bound += static_cast<double>(rounds - k) *
                 (rows.cwiseAbs2() * norms.cwiseInverse().asDiagonal()).rowwise().sum();
        rows = transposed * rows;
    }
    return bound.cwiseMin(static_cast<double>(rounds));
}

}  // namespace sotto
