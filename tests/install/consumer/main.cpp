// Solves a noise plan for a ring of twelve agents, and asks what it reveals to somebody who records
// every message, and to the worst single curious agent.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/design/mechanism.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/budget.hpp"

int main() try {
    sotto::TopologySpec spec;
    spec.topology = sotto::Topology::ring;
    spec.agents = 12;
    const sotto::Graph graph = sotto::make_topology(spec).graph;
    const auto mixing = sotto::MixingMatrix::from_rule(graph, sotto::MixingRule::metropolis);

    const long rounds = 100;
    const double clip_norm = 0.1;
    const auto budget = sotto::make_budget(4, 1e-5, sotto::Calibration::exact);
    const auto exposure =
        sotto::agent_exposure(sotto::Adjacency::agent, {}, clip_norm, rounds, 0, 1);
    const std::vector<sotto::Exposure> exposures(12, exposure);

    sotto::DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = rounds;
    input.kappa = Eigen::VectorXd::Constant(12, sotto::precision_limit(budget, exposure));
    const sotto::Design design = sotto::find_mechanism("mechanism", "decor").design(input);

    double epsilon = 0;
    for (const auto& guarantee : sotto::guarantees(design.plan, {}, exposures, 1e-5))
        epsilon = std::max(epsilon, guarantee.epsilon);
    std::printf("streams %zu\n", design.plan.streams.size());
    std::printf("epsilon %.6f\n", epsilon);
    if (const auto curious = sotto::worst_curious_agent(design.plan, exposures, 1e-5))
        std::printf("curious %.6f\n", curious->guarantee.epsilon);
    return 0;
} catch (const sotto::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit_code());
}
