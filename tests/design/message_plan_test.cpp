#include "design/message_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "design/message_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

std::vector<std::string> message_mechanisms() {
    const Setting setting = settings({5}).front();
    return mechanisms_with([&](const Mechanism& mechanism) {
        DesignInput input = setting.input(10);
        ask_like_the_program(input, mechanism);
        return mechanism.design(input).plan.entry == NoiseEntry::message;
    });
}

class MessageMechanism : public ::testing::TestWithParam<std::string> {
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
        // Coarser only where the loudest noise would not be rounded otherwise.
        EXPECT_GE(plan.grid_step(), finest_grid_step(plan));
        EXPECT_LE(plan.grid_step(),
                  std::max(std::ldexp(quietest, -30), 2 * finest_grid_step(plan)));
        EXPECT_GE(plan.grid_step(), std::ldexp(quietest, -36));
        EXPECT_LE(plan.grid_step(), std::ldexp(quietest, -20));
    });
}

INSTANTIATE_TEST_SUITE_P(All,
                         MessageMechanism,
                         ::testing::ValuesIn(message_mechanisms()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::erase(name, '-');
                             return name;
                         });

/// Two agents whose own models weigh so little that homomorphic's own copies carry (1 - own) / own
/// times the noise of its messages.
NoisePlan uneven_plan(double own) {
    const Graph graph = Graph::from_edges(2, {{0, 1}});
    const MixingMatrix mixing = MixingMatrix::from_dense(
        graph, (Eigen::MatrixXd(2, 2) << own, 1 - own, 1 - own, own).finished());
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 3;
    input.kappa = Eigen::VectorXd::Ones(2);
    return find_mechanism("mechanism", "homomorphic").design(input).plan;
}

TEST(MessagePlan, HasAGridThatItsLoudestNoiseIsRoundedToOrIsRefused) {
    double before = 0;
    for (const double own : {0.5, 0x1p-8, 0x1p-12, 0x1p-20}) {
        const NoisePlan plan = uneven_plan(own);
        EXPECT_LE(finest_grid_step(plan), plan.grid_step()) << own;
        EXPECT_GE(plan.grid_step(), before);
        before = plan.grid_step();
    }
    const std::string message = message_of<PrivacyError>([&] { (void)uneven_plan(0x1p-40); });
    for (const char* part : {"mechanism homomorphic", "no grid for noise that uneven", "--mixing"})
        EXPECT_TRUE(contains(message, part)) << message;
}

TEST(MessagePlan, IsRefusedWhereAnAgentIsNotHidden) {
    const Setting setting = settings({5}).front();
    const DesignInput input = setting.input(10);
    NoisePlan plan = start_laplace_plan("quiet", input);
    for (int u = 0; u < 5; ++u)
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {u == 3 ? 0.0 : 1.0}});
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] { (void)finish_message_plan(plan, input); }),
                         "mechanism quiet: its noise does not hide every agent"));
    plan.rows[3].coefficients[0] = 1;
    const Design design = finish_message_plan(plan, input);
    EXPECT_TRUE(std::isnan(design.objective));
    EXPECT_TRUE(std::isnan(design.lower_bound));
}

using namespace test;

TEST(RelativeLimits, HaveTheSmallestKappaAsTheirUnit) {
    const RelativeLimits limits = relative_limits(Eigen::Vector3d(4, 0.5, 2));
    EXPECT_EQ(limits.unit, 0.5);
    EXPECT_EQ(limits.kappa, Eigen::VectorXd(Eigen::Vector3d(8, 1, 4)));
}

TEST(FinishPlan, RaisesTheScaleUntilTheBudgetIsMet) {
    const Setting setting = settings({6}).front();
    NoisePlan plan = design_of("corn", setting.input(10)).plan;
    const double scale = plan.scale;
    plan.scale *= 0.5;
    plan = finish_plan(plan, Eigen::VectorXd::Ones(6));
    EXPECT_TRUE(relatively_near(plan.scale, scale, 1e-9));
    // Up to rounding, which depends on the processor; verification forgives 1e-9.
    EXPECT_LE(observed_precision(plan, {}).maxCoeff() - 1, 1e-10);
    // More noise than necessary is left alone.
    plan.scale = 3 * scale;
    EXPECT_EQ(finish_plan(plan, Eigen::VectorXd::Ones(6)).scale, 3 * scale);
}

TEST(FinishPlan, RefusesNoiseThatDoesNotCoverEveryAgent) {
    NoisePlan plan = design_of("ldp", settings({6}).front().input(10)).plan;
    plan.rows[2].coefficients[0] = 0;
    EXPECT_TRUE(contains(
        message_of<PrivacyError>([&] { (void)finish_plan(plan, Eigen::VectorXd::Ones(6)); }),
        "does not cover every agent"));
}

TEST(CorrelateOverRounds, PaysForTheSensitivityOfTheFactorWithTheScale) {
    const Setting setting = settings({6}).front();
    DesignInput input = setting.input(10);
    input.rounds = 12;
    input.participation = {4};
    const NoisePlan plan = design_of("ldp", input).plan;
    Eigen::MatrixXd lower = Eigen::MatrixXd::Constant(12, 3, 0.7);
    lower.col(0).setConstant(3);
    lower.row(0).tail(2).setZero();
    lower(1, 2) = 0;
    const NoisePlan correlated =
        correlate_over_rounds(plan, input, {TemporalFactor::Kind::banded, lower});
    const double sensitivity =
        temporal_sensitivity_squared(correlated.temporal, input.participation, 12);
    EXPECT_GT(sensitivity, 2 * temporal_sensitivity_squared({}, input.participation, 12));
    // sens2 [R^-1]_uu = ceil(T / b) kappa_u.
    const Eigen::VectorXd spent = sensitivity * observed_precision(correlated, {});
    EXPECT_TRUE(spent.isApprox(Eigen::VectorXd::Constant(6, 3.0), 1e-9));
    // Given all other rounds the noise of one is 3 times quieter or more: two steps of 2.
    EXPECT_EQ(correlated.grid_step_log2, plan.grid_step_log2 - 2);
    EXPECT_EQ(correlate_over_rounds(plan, input, {}).hash(), plan.hash());
}

}  // namespace
}  // namespace sotto
