#include "design/coalition_problem.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/test_support.hpp"
#include "design/coalition_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<MatrixXd> blocks_of(const CoalitionProblem& problem, const VectorXd& phi) {
    std::vector<MatrixXd> blocks;
    for (std::size_t k = 0; k < problem.groups().size(); ++k)
        blocks.push_back(problem.group_matrix(phi, k));
    return blocks;
}

/// s2_u of every agent.
VectorXd private_variance(const CoalitionProblem& problem, const VectorXd& phi) {
    VectorXd variance(problem.agents());
    for (const CoalitionTerm& term : problem.terms())
        if (term.group < 0) variance(term.u) = phi(term.unknown);
    return variance;
}

MatrixXd covariance_of(const CoalitionProblem& problem,
                       const VectorXd& phi,
                       const Coalition& coalition) {
    return covariance_unknown_to(
        coalition, private_variance(problem, phi), blocks_of(problem, phi), problem.groups());
}

TEST(CoalitionProblem, CostsWhatTheUtilityOfItsCovarianceSays) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        VectorXd phi = problem.start();
        phi += random_direction(problem, phi);
        const MatrixXd covariance = covariance_of(problem, phi, {});
        EXPECT_TRUE(
            relatively_near(problem.cost().dot(phi), cost(problem.utility(), covariance), 1e-12));
        EXPECT_TRUE(problem.variances(phi).isApprox(covariance.diagonal(), 1e-12));
    });
}

TEST(CoalitionProblem, KnowsWhatACoalitionDoesNotKnow) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const VectorXd phi = problem.start();
        for (const Coalition& coalition : {Coalition{}, Coalition{2}, Coalition{0, 5}}) {
            const std::vector<int> outside = agents_outside(coalition, problem.agents());
            const MatrixXd expected =
                covariance_of(problem, phi, coalition)(outside, outside).inverse();
            const auto found = problem.unknown_precision(phi, coalition);
            ASSERT_TRUE(found.has_value());
            EXPECT_TRUE((*found)(outside, outside).isApprox(expected, 1e-10));
            for (const int member : coalition) EXPECT_EQ(found->row(member).squaredNorm(), 0);
            const VectorXd kappa = problem.kappa()(outside);
            EXPECT_TRUE(relatively_near(problem.excess(phi, coalition),
                                        expected.diagonal().cwiseQuotient(kappa).maxCoeff(),
                                        1e-10));
        }
        EXPECT_FALSE(problem.unknown_precision(VectorXd::Zero(phi.size()), {}).has_value());
        EXPECT_EQ(problem.excess(VectorXd::Zero(phi.size()), {}),
                  std::numeric_limits<double>::infinity());
    });
}

TEST(CoalitionProblem, StartsStrictlyInside) {
    for_each_problem_of_coalitions([](const CoalitionProblem& problem) {
        const VectorXd phi = problem.start();
        EXPECT_GT(phi.head(problem.nonnegative()).minCoeff(), 0);
        EXPECT_TRUE(problem.blocks_positive(phi));
        EXPECT_GT((problem.cap() - problem.variances(phi)).minCoeff(), 0);
        for (const Coalition& coalition : problem.coalitions())
            EXPECT_LT(problem.excess(phi, coalition), 1);
    });
}

TEST(CoalitionProblem, HasAFreeBlockThatMayBeAnySymmetricMatrix) {
    const CoalitionProblem problem = small_problem(GroupNoise::free);
    SeededRandom random(3, "phi");
    for (std::size_t k = 0; k < problem.groups().size(); ++k) {
        const auto size = problem.groups()[k].members.size();
        EXPECT_EQ(problem.terms_of(k).size(), size * (size + 1) / 2);
    }
    VectorXd phi = problem.start();
    EXPECT_TRUE(problem.blocks_positive(phi));
    phi(problem.terms_of(0).front().unknown) = -10;
    EXPECT_FALSE(problem.blocks_positive(phi));
    // Of a group's members, ascending; a term along e_u - e_v has -1 beside the diagonal.
    const CoalitionProblem pairs = small_problem(GroupNoise::difference);
    VectorXd one = VectorXd::Zero(pairs.unknowns());
    one(pairs.terms_of(2).front().unknown) = 3;
    EXPECT_EQ(pairs.group_matrix(one, 2), (MatrixXd(2, 2) << 3, -3, -3, 3).finished());
    EXPECT_EQ(pairs.group_matrix(one, 1), MatrixXd::Zero(2, 2));
}

TEST(Along, IsTheProductWithTheVectorsOfBothTerms) {
    const MatrixXd a = MatrixXd::Random(4, 4);
    const CoalitionTerm own{2, -1, -1, 0}, pair{1, 3, 0, 1};
    const VectorXd e_own = VectorXd::Unit(4, 2);
    const VectorXd e_pair = VectorXd::Unit(4, 1) - VectorXd::Unit(4, 3);
    EXPECT_NEAR(along(a, own, own), e_own.dot(a * e_own), 1e-15);
    EXPECT_NEAR(along(a, own, pair), e_own.dot(a * e_pair), 1e-15);
    EXPECT_NEAR(along(a, pair, own), e_pair.dot(a * e_own), 1e-15);
    EXPECT_NEAR(along(a, pair, pair), e_pair.dot(a * e_pair), 1e-15);
}

TEST(Meets, WhereAMemberOfTheCoalitionHoldsTheSeed) {
    const SeedGroup group{{1, 4, 5}};
    EXPECT_TRUE(meets(group, {0, 4}));
    EXPECT_FALSE(meets(group, {0, 2, 3}));
    EXPECT_FALSE(meets(group, {}));
}

}  // namespace
}  // namespace sotto
