#include "views/dense_temporal_grams.hpp"

#include <gtest/gtest.h>

#include "views/phase_fixtures.hpp"
#include "views/process_rounds.hpp"
#include "views/response_tree.hpp"
#include "views/whole_run_grams.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(PhaseGrams, FollowedCarriedAndWhitenedAtOnceAgree) {
    const Graph graph = make_graph(Topology::erdos_renyi, 10, 5);
    const std::vector<int> gone{leavers(graph).back()};
    const NoisePlan first = decor_plan(graph),
                    banded = with_factor(random_plan(graph, 5),
                                         random_factor(TemporalFactor::Kind::banded, 2, 6)),
                    last = with_factor(plan_without(graph, gone, 0.7), difference_factor(40));
    const View view{View::Kind::neighbours, {0}};
    const std::vector<int> targets{1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (const int gossip_steps : {1, 2})
        for (const auto& shapes : std::vector<std::vector<PhaseShape>>{
                 {{8}, {6, 3, {}, &banded}, {40, 5, gone, &last}},
                 {{4, 0, {}, &banded}, {3}, {5, 5}, {4, 1, {}, &last}, {90, 2}}}) {
            const auto process = process_of(graph, first, phases_of(graph, shapes), gossip_steps);
            std::vector<LaggedNoise> lagged, elsewhere;
            Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(process.rounds(), process.rounds());
            for (const NoiseStretch& stretch : process_rounds(process).stretches) {
                const auto rounds = stretch.rounds;
                lagged.push_back(
                    lagged_noise(stretch.plan->temporal, rounds, static_cast<int>(rounds)));
                elsewhere.push_back(lagged_noise({}, rounds, 0));
                elsewhere.back().independent_rounds = false;
                inverse.block(stretch.begin, stretch.begin, rounds, rounds) =
                    time_factor(stretch).inverse();
            }
            const ObservationModel model = make_observation_model(process, view, lagged);
            const ViewFilter filter(model);
            if (shapes.back().plan == nullptr) {
                EXPECT_LT(filter.steady_round(), process.rounds() - 5);
            }
            const auto followed = target_grams(filter, targets);
            const auto carried = ResponseTree(filter).grams(targets);
            const auto at_once = dense_temporal_grams(
                make_observation_model(process, view, elsewhere), inverse, targets);
            EXPECT_FALSE(whole_run_grams(model, targets));
            for (std::size_t i = 0; i < targets.size(); ++i) {
                ASSERT_FALSE(followed[i].infinite || carried[i].infinite || at_once[i].infinite);
                const double size = followed[i].gram.cwiseAbs().maxCoeff();
                EXPECT_GT(size, 1e-4);
                EXPECT_LE((carried[i].gram - followed[i].gram).cwiseAbs().maxCoeff(), 1e-9 * size);
                EXPECT_LE((at_once[i].gram - followed[i].gram).cwiseAbs().maxCoeff(), 1e-9 * size);
            }
        }
}

}  // namespace
}  // namespace sotto
