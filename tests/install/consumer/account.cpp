// What observers of a gossip of somebody else's learn: from a noise plan, and from plain matrices.
// Links with sotto::views only; no MPI.

#include <cmath>
#include <cstdio>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "sotto/views/view_sensitivity.hpp"

int main() try {
    // Who sends to whom, and how messages are mixed: x(t+1) = W (x(t) - step (g(t) + v(t))).
    const sotto::Graph graph =
        sotto::Graph::from_edges(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {0, 3}});
    const auto mixing = sotto::MixingMatrix::from_rule(graph, sotto::MixingRule::metropolis);

    // The noise v(t): every agent adds a normal of its own, and one with opposite signs for each
    // edge, which its two ends draw from a common seed.
    sotto::NoisePlan plan;
    plan.mechanism = "mine";
    plan.agents = graph.agents();
    plan.scale = 0.5;  // multiplies all coefficients
    plan.grid_step_log2 = -30;
    for (int u = 0; u < plan.agents; ++u) {
        plan.groups.push_back({{u}});  // who holds seed u
        plan.streams.push_back({u, 0});
        plan.rows.push_back({u, sotto::NoiseRow::all_receivers, {u}, {1}});
    }
    for (const auto& [u, v] : graph.edges()) {
        const int stream = static_cast<int>(plan.streams.size());
        plan.groups.push_back({{u, v}});
        plan.streams.push_back({stream, 0});
        for (const int end : {u, v}) {
            auto& row = plan.rows[static_cast<std::size_t>(end)];
            row.streams.push_back(stream);
            row.coefficients.push_back(end == u ? 2 : -2);
        }
    }
    plan.validate();

    sotto::MessageProcess process;
    process.graph = &graph;
    process.plan = &plan;
    process.phases.push_back({50, sotto::MixingSchedule({mixing}), {}});  // 50 rounds

    // Agent 0 sees what its neighbours send, knows its own noise and the streams of its edges.
    const std::vector<int> targets{1, 2, 4};
    const double sensitivity = 0.2, delta = 1e-5;
    for (const auto kind : {sotto::View::Kind::neighbours, sotto::View::Kind::all_messages}) {
        const sotto::View view{kind, {0}};
        const auto squared = sotto::view_sensitivity(process, view, targets, {}, {});
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const double mu = sensitivity * std::sqrt(squared[i].certified());
            std::printf("%s agent %d: mu %.4f, epsilon %.4f\n",
                        view.sound_for_training() ? "all messages" : "neighbours",
                        targets[i],
                        mu,
                        sotto::gdp_epsilon(mu, delta));
        }
    }

    // Any other system: observations O = A G + B Z. Here two agents, one round, one observed value
    // g_0 + 3 g_1 + 2 z.
    Eigen::MatrixXd a(1, 2), b(1, 1);
    a << 1, 3;
    b << 2;
    const auto squared = sotto::matrix_sensitivity(a, b, 2, std::vector<int>{0, 1}, {}, 1e-5);
    for (const int target : {0, 1})
        std::printf("matrices agent %d: mu %.4f\n",
                    target,
                    std::sqrt(squared[static_cast<std::size_t>(target)].certified()));
    return 0;
} catch (const sotto::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit_code());
}
