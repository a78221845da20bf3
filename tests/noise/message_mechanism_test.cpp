#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "noise/noise_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/noise/mechanism.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/views/process_steps.hpp"
#include "sotto/views/view_sensitivity.hpp"

namespace sotto {
namespace {

using namespace test;

Eigen::VectorXd limits(int agents) {
    Eigen::VectorXd kappa(agents);
    for (int u = 0; u < agents; ++u) kappa(u) = 0.3 * (1 + 0.5 * (u % 3));
    return kappa;
}

/// Calls f(input, plan) for the mechanism over graphs, steps and ways to take part.
template <class Function>
void for_each_plan(const Mechanism& mechanism, Function&& f) {
    for (const auto& named : sample_graphs({2, 5, 9}))
        for (const auto kind : {StepSchedule::Kind::constant, StepSchedule::Kind::inverse_sqrt})
            for (const long cycle : {1L, 5L}) {
                SCOPED_TRACE(mechanism.name + " on " + named.name);
                const MixingMatrix mixing =
                    MixingMatrix::from_rule(named.graph, MixingRule::lazy_metropolis);
                DesignInput input;
                input.graph = &named.graph;
                input.mixing = &mixing;
                input.rounds = 12;
                input.steps = {kind, 0.1, {}};
                input.participation = {cycle};
                input.kappa = limits(named.graph.agents());
                f(input, mechanism.design(input).plan);
            }
}

class MessageMechanism : public ::testing::TestWithParam<const char*> {
  protected:
    const Mechanism& mechanism = find_mechanism("mechanism", GetParam());
};

TEST_P(MessageMechanism, SpendsExactlyTheBudgetOfEveryAgentOverTheWholeRun) {
    for_each_plan(mechanism, [](const DesignInput& input, const NoisePlan& plan) {
        EXPECT_NO_THROW(plan.validate());
        EXPECT_EQ(plan.entry, NoiseEntry::message);
        const PlanUse use{input.participation, input.steps, input.mixing->sparse().diagonal(), 1};
        const Eigen::VectorXd spent = run_sensitivity_squared(plan, use, input.rounds)
                                          .cwiseProduct(observed_precision(plan, {}));
        const double counted = temporal_sensitivity_squared({}, input.participation, input.rounds);
        for (int u = 0; u < plan.agents; ++u)
            EXPECT_TRUE(relatively_near(spent(u), counted * input.kappa(u), 1e-9)) << "agent " << u;
    });
}

TEST_P(MessageMechanism, ChoosesAGridFarBelowItsNoise) {
    for_each_plan(mechanism, [](const DesignInput&, const NoisePlan& plan) {
        const double quietest = 1 / std::sqrt(observed_precision(plan, {}).maxCoeff());
        EXPECT_LE(plan.grid_step(), std::ldexp(quietest, -40));
        EXPECT_GE(plan.grid_step(), std::ldexp(quietest, -42));
    });
}

INSTANTIATE_TEST_SUITE_P(All,
                         MessageMechanism,
                         ::testing::Values("zip-dl", "homomorphic", "laplace"),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::erase(name, '-');
                             return name;
                         });

TEST(NoiseThatCancels, LeavesTheMeanOverAgentsAsItIs) {
    // sum_v w_vu q_uv = 0 for every sender u and stream.
    for (const char* name : {"zip-dl", "homomorphic"})
        for_each_plan(
            find_mechanism("mechanism", name), [](const DesignInput& input, const NoisePlan& plan) {
                Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(
                    plan.agents, static_cast<Eigen::Index>(plan.streams.size()));
                for (const auto& row : plan.rows)
                    for (std::size_t j = 0; j < row.streams.size(); ++j)
                        sum(row.sender, row.streams[j]) +=
                            input.mixing->weight(row.receiver, row.sender) * row.coefficients[j];
                EXPECT_LE(sum.cwiseAbs().maxCoeff(),
                          1e-14 * std::sqrt(largest_message_variance(plan).maxCoeff()));
            });
}

TEST(NoiseThatCancels, NeedsAnAgentThatWeighsItsOwnModel) {
    // On one edge max-degree mixing gives weight 1/2 each; a matrix that swaps models gives none.
    const Graph graph = Graph::from_edges(2, {{0, 1}});
    Eigen::MatrixXd swap(2, 2);
    swap << 0, 1, 1, 0;
    const MixingMatrix mixing = MixingMatrix::from_dense(graph, swap);
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 3;
    input.kappa = Eigen::VectorXd::Ones(2);
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)design_homomorphic(input); }),
                         "agent 0 gives its own model weight 0"));
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] { (void)design_zip_dl(input); }),
                         "does not hide every agent"));
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
        const NoisePlan plan = design_zip_dl(input).plan;
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
    const NoisePlan plan = design_homomorphic(input).plan;
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
