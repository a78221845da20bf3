#include <gtest/gtest.h>

#include <limits>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

/// Noise that neighbours on a ring partly cancel, with variances that exceed what is beside them.
Eigen::MatrixXd dominant(int agents) {
    Eigen::MatrixXd covariance = 3 * Eigen::MatrixXd::Identity(agents, agents);
    for (int u = 0; u < agents; ++u) {
        const int next = (u + 1) % agents;
        covariance(u, next) = covariance(next, u) = u == 0 ? 0.5 : -1;
    }
    return covariance;
}

/// Of rank one but for a share of the identity: no seeds of pairs make it.
Eigen::MatrixXd common(int agents) {
    return Eigen::MatrixXd::Ones(agents, agents) + 0.1 * Eigen::MatrixXd::Identity(agents, agents);
}

Eigen::MatrixXd relative(const Eigen::MatrixXd& covariance) {
    return covariance / covariance.trace();
}

class Covariance : public ::testing::Test {
  protected:
    Setting setting_ = settings({6}).front();
    DesignInput input_ = setting_.input(20, random_kappa(6, unequal_kappa_seed));

    Design design(const Eigen::MatrixXd& covariance) {
        input_.covariance = covariance;
        return design_of("covariance", input_);
    }
    std::string refusal(const Eigen::MatrixXd& covariance) {
        return message_of<ConfigError>([&] { (void)design(covariance); });
    }
};

TEST_F(Covariance, IsTheUsersScaledToTheWholeBudgetOfWhomItHidesLeast) {
    for (const Eigen::MatrixXd& covariance : {dominant(6), common(6)}) {
        const Design made = design(covariance);
        const Eigen::MatrixXd found = spatial_covariance(made.plan);
        EXPECT_TRUE(relative(found).isApprox(relative(covariance), 1e-12));
        const Eigen::VectorXd spent = found.inverse().diagonal().cwiseQuotient(input_.kappa);
        EXPECT_NEAR(spent.maxCoeff(), 1, 1e-9);
        EXPECT_NEAR(made.objective,
                    design_utility(input_).cwiseProduct(found).sum() * input_.kappa.minCoeff(),
                    1e-9 * made.objective);
        // A factor of one's own says nothing.
        EXPECT_TRUE(spatial_covariance(design(1e-3 * covariance).plan).isApprox(found, 1e-9));
    }
}

TEST_F(Covariance, TakesSeedsOfPairsWherePossibleAndWithstandsCuriousAgentsThen) {
    input_.coalition_size = 2;
    const NoisePlan plan = design(dominant(6)).plan;
    for (const SeedGroup& group : plan.groups) EXPECT_LE(group.members.size(), 2U);
    EXPECT_EQ(plan.groups.size(), 6U + 6U);
    const Eigen::VectorXd precision = coalition_precision(plan, 2);
    EXPECT_NEAR(precision.cwiseQuotient(input_.kappa).maxCoeff(), 1, 1e-9);
    EXPECT_TRUE(relative(spatial_covariance(plan)).isApprox(relative(dominant(6)), 1e-12));
}

TEST_F(Covariance, TakesOneSeedOfAllOtherwiseAndSaysThatAgentsCanRemoveIt) {
    const NoisePlan plan = design(common(6)).plan;
    ASSERT_EQ(plan.groups.size(), 1U);
    EXPECT_EQ(plan.groups[0].members.size(), 6U);
    EXPECT_TRUE(std::isinf(observed_precision(plan, {{0}})(1)));
    input_.coalition_size = 1;
    EXPECT_TRUE(contains(refusal(common(6)), "coalition-size: 1 is not possible"));
}

TEST_F(Covariance, IsCheckedAndWhatIsWrongIsNamed) {
    EXPECT_TRUE(contains(refusal(dominant(5)), "5 x 5 is given for 6 agents"));
    EXPECT_TRUE(contains(refusal(Eigen::MatrixXd::Ones(6, 1)), "6 x 1"));
    Eigen::MatrixXd covariance = dominant(6);
    covariance(4, 1) = 0.25;
    EXPECT_TRUE(contains(refusal(covariance), "0.25 in row 4, column 1 and 0 in its mirror"));
    covariance = dominant(6);
    covariance(3, 3) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(contains(refusal(covariance), "nan in row 3, column 3"));
    EXPECT_TRUE(contains(refusal(Eigen::MatrixXd::Ones(6, 6)), "positive definite"));
    EXPECT_TRUE(contains(refusal(-Eigen::MatrixXd::Identity(6, 6)), "smallest eigenvalue of -1"));
}

}  // namespace
}  // namespace sotto
