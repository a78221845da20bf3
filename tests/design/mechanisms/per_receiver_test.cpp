

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "design/message_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/views/view_record.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/process_checks.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(ZipDl, LeavesTheMeanOverAgentsAsItIs) { expect_mean_untouched("zip-dl"); }

TEST(ZipDl, NeedsAnAgentThatWeighsItsOwnModel) {
    const Swap swap;
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] { (void)design_of("zip-dl", swap.input()); }),
                         "does not hide every agent"));
}

TEST(ZipDl, RefusesNegativeWeights) {
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}});
    const MixingMatrix mixing = MixingMatrix::from_dense(
        graph, Eigen::Matrix3d{{0.4, 0.6, 0}, {0.6, -0.2, 0.6}, {0, 0.6, 0.4}});
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.kappa = Eigen::VectorXd::Ones(3);
    for (const char* mechanism : {"zip-dl", "homomorphic"})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_of(mechanism, input); }),
                             "agent 1 gives the model of agent 1 weight -0.2"));
}

TEST(ZipDl, ProjectsFreshStreamsOfEveryReceiverOnWhatTheMeanDoesNotSee) {
    // Coefficients of sender u: s (I - a a^T), a = w_.u / |w_.u|.
    for_each_plan(
        find_mechanism("mechanism", "zip-dl"), [](const DesignInput& input, const NoisePlan& plan) {
            for (int u = 0; u < plan.agents; ++u) {
                const auto receivers = input.mixing->members(u);
                const auto count = static_cast<Eigen::Index>(receivers.size());
                Eigen::VectorXd a(count);
                for (Eigen::Index v = 0; v < count; ++v)
                    a(v) = input.mixing->weight(receivers[static_cast<std::size_t>(v)], u);
                a.normalize();
                Eigen::MatrixXd coefficients(count, count);
                Eigen::Index v = 0;
                for (const auto& row : plan.rows)
                    if (row.sender == u)
                        coefficients.row(v++) = Eigen::Map<const Eigen::RowVectorXd>(
                            row.coefficients.data(), std::ssize(row.coefficients));
                ASSERT_EQ(v, count);
                const Eigen::MatrixXd projection =
                    Eigen::MatrixXd::Identity(count, count) - a * a.transpose();
                const double s = coefficients.trace() / projection.trace();
                EXPECT_TRUE(coefficients.isApprox(s * projection, 1e-12)) << "agent " << u;
            }
        });
}

TEST(ZipDl, SpendsWhatTheFilterSaysOfAllMessages) {
    // Two ways to one figure: the closed form, and the Kalman filter that knows no formula.
    for (const Topology shape : {Topology::ring, Topology::star, Topology::complete}) {
        const Graph graph = make_graph(shape, 5);
        const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
        DesignInput input;
        input.graph = &graph;
        input.mixing = &mixing;
        input.rounds = 6;
        input.steps = {StepSchedule::Kind::inverse_sqrt, 0.4, {}};
        input.kappa = limits(5);
        const NoisePlan plan = design_of("zip-dl", input).plan;
        MessageProcess process;
        process.graph = &graph;
        process.plan = &plan;
        process.phases.push_back({input.rounds, MixingSchedule({mixing}), {}});
        process.step_sizes = process_steps(plan, input.steps, 0, input.rounds);
        const std::vector<int> targets{0, 1, 2, 3, 4};
        const auto filter =
            view_sensitivity(process, {View::Kind::all_messages, {}}, targets, {}, {1, 1e-6});
        const Eigen::VectorXd closed =
            run_sensitivity_squared(
                plan, {{}, input.steps, mixing.sparse().diagonal(), 1}, input.rounds)
                .cwiseProduct(observed_precision(plan, {}));
        for (int u = 0; u < 5; ++u) {
            const SquaredSensitivity& seen = filter[static_cast<std::size_t>(u)];
            EXPECT_FALSE(seen.infinite);
            EXPECT_TRUE(relatively_near(closed(u), seen.tight_upper, 1e-5))
                << name_of(shape) << " agent " << u << ": " << closed(u) << " and "
                << seen.tight_upper;
        }
    }
}

using namespace test;

TEST(Homomorphic, LeavesTheMeanOverAgentsAsItIs) { expect_mean_untouched("homomorphic"); }

TEST(Homomorphic, NeedsAnAgentThatWeighsItsOwnModel) {
    const Swap swap;
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)design_of("homomorphic", swap.input()); }),
                 "agent 0 gives its own model weight 0"));
}

TEST(Homomorphic, SpendsThePureEpsilonOfItsSource) {
    // [H] eq. 27: epsilon(i) = step G (i^2 + i) / b, for gradients of norm G in L1.
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingMatrix mixing = MixingMatrix::from_rule(graph, MixingRule::metropolis);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 9;
    input.steps = {StepSchedule::Kind::constant, 0.2, {}};
    input.kappa = Eigen::VectorXd::Constant(6, 0.7);
    const NoisePlan plan = design_of("homomorphic", input).plan;
    const double scale = std::sqrt(largest_message_variance(plan)(0) / 2) /
                         std::max(1.0, 2.0 / 3 / (1.0 / 3));  // its own copy is the loudest
    constexpr double clip = 0.4;
    for (long i = 1; i <= 9; ++i) {
        const double sensitivity = std::sqrt(
            run_sensitivity_squared(plan, {{}, input.steps, mixing.sparse().diagonal(), 1}, i)(0) *
            observed_precision(plan, {})(0));
        EXPECT_TRUE(relatively_near(
            2 * clip * sensitivity, 0.2 * clip * static_cast<double>(i * i + i) / scale, 1e-9));
        EXPECT_EQ(guarantee_of(plan, 2 * clip * sensitivity, 1e-5).epsilon, 2 * clip * sensitivity);
    }
}

}  // namespace
}  // namespace sotto
