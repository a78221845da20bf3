#include "agent/liars.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "agent/agent_fixtures.hpp"
#include "learn/quadratic.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int crowd = 4;

/// The last agent's lie in the first exchange of a round, after it has heard `heard` in the round
/// before. Models are 1, honest messages 3.
VectorXd lie_of(LieKind kind, double strength, const MatrixXd& heard, double limit = 1e6) {
    const Topography where = test::topography_of(Topology::complete, crowd);
    std::vector<LocalAgent> locals;
    for (int u = 0; u < crowd; ++u)
        locals.push_back(test::local_agent(u, make_quadratic_objective(u, crowd), 1));
    LiesByPlace lies(crowd);
    lies[crowd - 1] = Lie{kind, {crowd - 1}, strength};
    Liars liars(lies, locals, MixingSchedule({where.mixing}), heard.rows(), 5);
    EXPECT_TRUE(liars.lies(crowd - 1));
    EXPECT_FALSE(liars.lies(0));
    const MatrixXd models = MatrixXd::Constant(heard.rows(), crowd, 1);
    const MatrixXd messages = MatrixXd::Constant(heard.rows(), crowd, 3);
    std::vector<const double*> columns;
    for (Index u = 0; u < crowd; ++u) columns.push_back(heard.col(u).data());
    liars.begin_round(models);
    liars.on_received(0, crowd - 1, 0, heard.rows(), columns);
    std::vector<Outgoing> outgoing(crowd);
    for (Outgoing& one : outgoing) one.to_all = messages.data();
    liars.lie({1, 0}, messages, limit, MessagePrecision::float64, outgoing);
    for (int u = 0; u + 1 < crowd; ++u)
        EXPECT_EQ(outgoing[static_cast<std::size_t>(u)].to_all, messages.data());
    return Eigen::Map<const VectorXd>(outgoing.back().to_all, heard.rows());
}

TEST(Liars, SendWhatTheirKindSays) {
    MatrixXd heard(2, crowd);
    heard << 1, 2, 3, 50,  //
        5, 5, 5, 50;
    const double deviation = std::sqrt(2 / 3.0);
    const VectorXd flipped = lie_of(LieKind::sign_flip, 2, heard);
    EXPECT_TRUE(flipped.isApprox(VectorXd::Constant(2, 1 - 2 * 2)));
    // What the liar itself sent does not count.
    const VectorXd little = lie_of(LieKind::little, 1.5, heard);
    EXPECT_NEAR(little(0), 2 - 1.5 * deviation, 1e-12);
    EXPECT_NEAR(little(1), 5, 1e-12);
    const VectorXd product = lie_of(LieKind::inner_product, 10, heard);
    EXPECT_NEAR(product(0), 1 - 10 * (2 - 1), 1e-12);
    EXPECT_NEAR(product(1), 1 - 10 * (5 - 1), 1e-12);
    // These change gradient and noise.
    for (const LieKind kind : {LieKind::label_flip, LieKind::no_pair_noise, LieKind::wrong_sign})
        EXPECT_TRUE(lie_of(kind, 1, heard).isApprox(VectorXd::Constant(2, 3)));
}

TEST(Liars, StayWithinTheLimitOfMessages) {
    const MatrixXd heard = MatrixXd::Constant(2, crowd, 1);
    EXPECT_TRUE(
        lie_of(LieKind::sign_flip, 1e9, heard, 1000).isApprox(VectorXd::Constant(2, -1000)));
}

TEST(Liars, SendNoiseOfTheirUpdatesSizeTimesTheStrength) {
    const MatrixXd heard = MatrixXd::Zero(4000, crowd);
    const VectorXd noise = lie_of(LieKind::noise, 10, heard);
    EXPECT_NEAR((noise.array() - 1).square().mean(), 20 * 20, 40);
    EXPECT_NEAR(noise.mean(), 1, 1.5);
    EXPECT_EQ(noise, lie_of(LieKind::noise, 10, heard));
}

TEST(Liars, ChangeTheirGradient) {
    const Topography where = test::topography_of(Topology::complete, 2);
    LiesByPlace lies(2);
    lies[1] = Lie{LieKind::label_flip, {1}, 3};
    const Liars liars(lies, {}, MixingSchedule({where.mixing}), 2, 5);
    VectorXd gradient(2);
    gradient << 1, -2;
    liars.change_gradient(0, gradient);
    EXPECT_EQ(gradient(1), -2);
    liars.change_gradient(1, gradient);
    EXPECT_EQ(gradient(0), -3);
    EXPECT_EQ(gradient(1), 6);
}

TEST(PlanOfLiars, ChangesOnlyTheSharedNoiseOfLiars) {
    const Topography where = test::topography_of(Topology::complete, crowd);
    const auto cases = test::mechanism_cases();
    const auto pairs = std::ranges::find(cases, "Pairs", &test::MechanismCase::label);
    const NoisePlan plan = test::plan_of(*pairs, where, test::uneven_limits(crowd));
    const MatrixXd honest = plan.coefficient_matrix();
    LiesByPlace lies(crowd);
    lies[1] = Lie{LieKind::no_pair_noise, {1}, 1};
    lies[2] = Lie{LieKind::wrong_sign, {2}, 1};
    const MatrixXd lying = plan_of_liars(plan, lies).coefficient_matrix();
    for (Index k = 0; k < honest.cols(); ++k) {
        const auto group =
            static_cast<std::size_t>(plan.streams[static_cast<std::size_t>(k)].group);
        const bool shared = plan.groups[group].members.size() > 1;
        for (Index u = 0; u < crowd; ++u) {
            const double times = !shared ? 1 : u == 1 ? 0 : u == 2 ? -1 : 1;
            EXPECT_EQ(lying(u, k), times * honest(u, k)) << u << ", " << k;
        }
    }
}

/// Honest models of a training without noise in which the last agent perhaps lies.
MatrixXd honest_models(const RobustRule& rule, bool lies) {
    const Topography where = test::topography_of(Topology::complete, crowd);
    std::vector<LocalAgent> locals;
    for (int u = 0; u < crowd; ++u)
        locals.push_back(test::local_agent(u, make_quadratic_objective(u, crowd), 1));
    TrainerOptions options;
    options.steps.step_size = 0.1;
    options.rounds = 40;
    options.robust = rule;
    if (lies) {
        options.lies.resize(crowd);
        options.lies.back() = Lie{LieKind::noise, {crowd - 1}, 1e4};
    }
    const Index dimension = locals.front().objective->dimension();
    test::SilentTraining training(where, std::move(locals), VectorXd::Ones(dimension), options);
    training.run(40);
    EXPECT_EQ(training.trainer->agents().back().lies, lies);
    return training.trainer->models().leftCols(crowd - 1);
}

TEST(Liars, AreHeardAsTheRuleOfReceiversSays) {
    const MatrixXd without = honest_models({}, false);
    const RobustRule clip{RobustRule::Kind::clip, 0.01, 0},
        trimmed{RobustRule::Kind::trimmed, {}, 1};
    const double unhindered = (honest_models({}, true) - without).norm();
    EXPECT_GT(unhindered, 10 * (honest_models(clip, true) - without).norm());
    EXPECT_GT(unhindered, 10 * (honest_models(trimmed, true) - without).norm());
}

}  // namespace
}  // namespace sotto
