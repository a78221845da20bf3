#include <cmath>

#include "account/ledger_views.hpp"
#include "sotto/views/view_record.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "store/run_history.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::agents;
using test::Json;
using test::resumed;
using test::rounds;
using test::run;
using test::run_until_killed;
using test::run_until_stopped;

class ViewsOfAResumedRun : public test::ResumableRun {};

TEST_F(ViewsOfAResumedRun, CarriesPartialViewsAcrossADeparture) {
    TrainConfig first = config("run");
    first.views = "node:0;coalition:0,3;eavesdropper";
    const TrainResult stopped = run_until_stopped(first, 20);
    (void)run(resumed(first, path("run"), {1}), 5);
    const RunHistory history = read_history(path("run"));
    std::vector<NoisePlan> plans;
    for (const PrivacyPhase& phase : history.phases)
        plans.push_back(renumbered(phase.plan, phase.members));
    const Topography all = build_topography(first.graph, rounds).topography;
    // The path that is left of the ring once agent 1 is gone.
    std::vector<Edge> edges;
    for (const auto& [u, v] : all.graph.edges())
        if (u != 1 && v != 1) edges.emplace_back(u, v);
    const Graph rest = Graph::from_edges(agents, edges);
    Eigen::MatrixXd mixing = Eigen::MatrixXd::Zero(agents, agents);
    for (int u = 0; u < agents; ++u) {
        double others = 0;
        for (const int v : rest.neighbours(u)) {
            const double weight = 1.0 / (1 + std::max(rest.degree(u), rest.degree(v)));
            mixing(u, v) = weight;
            others += weight;
        }
        mixing(u, u) = 1 - others;
    }
    MessageProcess process;
    process.graph = &all.graph;
    process.plan = &plans[0];
    process.phases.push_back({stopped.rounds, all.schedule(), {}, nullptr, 0});
    process.phases.push_back({rounds - stopped.rounds,
                              MixingSchedule({MixingMatrix::from_dense(all.graph, mixing)}),
                              {1},
                              &plans[1],
                              0});
    const Json json = ledger("run");
    const std::vector<View> views{{View::Kind::neighbours, {0}},
                                  {View::Kind::neighbours, {0, 3}},
                                  {View::Kind::all_messages, {}}};
    for (std::size_t i = 0; i < views.size(); ++i) {
        const Json& entry = json.at("views").at(i);
        const int target = entry.at("target");
        ViewOptions options;
        options.tight_gap = 1;
        double most = 0;
        for (int u = 0; u < agents; ++u) {
            if (std::ranges::binary_search(views[i].members, u)) continue;
            const auto squared =
                view_sensitivity(process, views[i], std::vector<int>{u}, {1}, options);
            const double mu = 2 * first.plan.clip_norm * std::sqrt(squared[0].certified());
            most = std::max(most, mu);
            if (u == target) {
                EXPECT_NEAR(entry.at("mu").get<double>(), mu, 1e-9 * mu);
            }
        }
        EXPECT_NEAR(entry.at("mu").get<double>(), most, 1e-9 * most);
        EXPECT_EQ(entry.at("rounds"), rounds);
    }
}

TEST_F(ViewsOfAResumedRun, CountsRepeatedRoundsInPartialViews) {
    TrainConfig first = config("run", "ldp");
    first.views = "node:0;eavesdropper";
    first.checkpoint_every = 10;
    run_until_killed(first, 37);
    (void)run(resumed(first, path("run")));
    TrainConfig whole = config("whole", "ldp");
    whole.views = first.views;
    (void)run(whole);
    // Somebody who saw rounds twice, under noise of their own, knows more than an equal budget of
    // rounds seen once would tell a node; the eavesdropper's is the budget in both.
    const Json twice = ledger("run").at("views"), once = ledger("whole").at("views");
    EXPECT_NEAR(twice.at(1).at("mu").get<double>(), once.at(1).at("mu").get<double>(), 1e-6);
    EXPECT_LE(twice.at(0).at("mu").get<double>(), twice.at(1).at("mu").get<double>() * (1 + 1e-9));
    EXPECT_GT(twice.at(0).at("mu").get<double>(), 0);
}

}  // namespace
}  // namespace sotto
