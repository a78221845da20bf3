#include "views/target_grams.hpp"

#include <gtest/gtest.h>

#include "views/response_tree.hpp"
#include "views/view_fixtures.hpp"
#include "views/whole_run_grams.hpp"

namespace sotto {
namespace {

using namespace test;

void expect_same(const std::vector<TargetGram>& a, const std::vector<TargetGram>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].infinite, b[i].infinite);
        if (a[i].infinite || b[i].infinite) continue;
        EXPECT_LE((a[i].gram - b[i].gram).cwiseAbs().maxCoeff(),
                  1e-10 * a[i].gram.cwiseAbs().maxCoeff());
    }
}

TEST(Grams, FollowedCarriedAndWhitenedAtOnceAgree) {
    const Graph graph = make_graph(Topology::erdos_renyi, 12, 5);
    const NoisePlan plain = unit_plan(12), decor = decor_plan(graph), pairs = pair_plan(graph);
    for (const NoisePlan* plan : {&plain, &decor, &pairs})
        for (const int gossip_steps : {1, 3})
            for (const long rounds : {1L, 2L, 7L, 150L}) {
                MessageProcess process = process_of(
                    graph, *plan, {fixed_phase(metropolis(graph), rounds)}, gossip_steps);
                const View view{View::Kind::neighbours, {0, 4}};
                const LaggedNoise noise = lagged_noise({}, rounds, 0);
                const ObservationModel model = make_observation_model(process, view, {noise});
                const ViewFilter filter(model);
                if (rounds == 150) {
                    EXPECT_LT(filter.steady_round(), 140);
                }
                const std::vector<int> targets{1, 2, 3, 5, 6, 7, 8, 9, 10, 11};
                const auto followed = target_grams(filter, targets);
                expect_same(followed, ResponseTree(filter).grams(targets));
                const auto whole = whole_run_grams(model, targets);
                EXPECT_EQ(whole.has_value(), plan == &plain && gossip_steps == 1 && rounds > 1);
                if (whole) expect_same(followed, *whole);
            }
}

}  // namespace
}  // namespace sotto
