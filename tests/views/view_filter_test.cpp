#include "views/view_filter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "core/seeded_random.hpp"
#include "views/adjoint_grams.hpp"
#include "views/view_fixtures.hpp"
#include "views/view_grams.hpp"

namespace sotto {
namespace {

/// factor factor^T with random entries.
Eigen::MatrixXd random_covariance(int size, int rank) {
    SeededRandom random(2, "whitening", static_cast<std::uint64_t>(100 * size + rank));
    Eigen::MatrixXd factor(size, rank);
    for (double& value : factor.reshaped()) value = random.normal();
    return factor * factor.transpose();
}

TEST(Whiten, MakesUnitCovarianceOfWhatTheNoiseCovers) {
    for (const auto& [size, rank] : {std::pair{1, 1}, {6, 6}, {6, 4}, {9, 1}, {5, 0}}) {
        const Eigen::MatrixXd covariance = random_covariance(size, rank);
        const Whitening found = whiten(covariance, 1e-12);
        EXPECT_EQ(found.rows.rows(), rank);
        EXPECT_EQ(found.blind.rows(), size - rank);
        const Eigen::MatrixXd white = found.rows * covariance * found.rows.transpose();
        EXPECT_TRUE(white.isApprox(Eigen::MatrixXd::Identity(rank, rank), 1e-8));
        EXPECT_LE((found.blind * covariance).cwiseAbs().sum(), 1e-10);
        const Eigen::MatrixXd basis = found.blind * found.blind.transpose();
        EXPECT_TRUE(basis.isApprox(Eigen::MatrixXd::Identity(size - rank, size - rank), 1e-10));
    }
}

TEST(Whiten, TakesWhatIsBelowTheFloorForRounding) {
    const Eigen::MatrixXd covariance = Eigen::Vector3d(1, 1e-6, 1e-9).asDiagonal();
    EXPECT_EQ(whiten(covariance, 1e-12).rows.rows(), 3);
    EXPECT_EQ(whiten(covariance, 1e-8).rows.rows(), 2);
    EXPECT_EQ(whiten(covariance, 2).rows.rows(), 0);
    EXPECT_EQ(whiten(Eigen::MatrixXd(0, 0), 0).blind.rows(), 0);
}

TEST(Whitening, ShowsWithoutNoiseWhatLeavesTheRangeOfTheCovariance) {
    const Whitening found = whiten(random_covariance(4, 2), 1e-12);
    const Eigen::VectorXd bare = found.blind.row(0).transpose();
    const Eigen::VectorXd covered = random_covariance(4, 2).col(1);
    EXPECT_TRUE(found.shows_without_noise(bare));
    EXPECT_FALSE(found.shows_without_noise(covered));
    EXPECT_FALSE(found.shows_without_noise(1e-10 * bare)) << "rounding";
    EXPECT_FALSE(whiten(random_covariance(3, 3), 0).shows_without_noise(Eigen::VectorXd::Ones(3)));
}

using namespace test;

TEST(ViewFilter, FindsNoMoreNoiseInGossipStepsThanTheRoundAdded) {
    // Once a view knows all noise of a round, what is left of its covariance is rounding.
    constexpr int agents = 16;
    constexpr long rounds = 24;
    const View view{View::Kind::neighbours, {3, 8, 9}};
    const NoisePlan plan = unit_plan(agents);
    for (const Topology topology :
         {Topology::path, Topology::grid, Topology::erdos_renyi, Topology::hypercube})
        for (const int gossip_steps : {2, 3, 4, 8}) {
            const Graph graph = make_graph(topology, agents);
            const MessageProcess process =
                process_of(graph, plan, {fixed_phase(metropolis(graph), rounds)}, gossip_steps);
            const LaggedNoise noise = lagged_noise({}, rounds, 0);
            const ObservationModel model = make_observation_model(process, view, {noise});
            const ViewFilter filter(model);
            Eigen::Index covered = 0;
            for (long time = 0; time < rounds * gossip_steps; ++time)
                covered += filter.at(time).whitening.rows.rows();
            EXPECT_LE(covered, (agents - 3) * rounds)
                << name_of(topology) << ", " << gossip_steps << " gossip steps";
        }
}

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
