#include "design/reference_objectives.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(ReferenceObjectives, AreThoseOfIndependentNoiseAndOfNoiseOfTheMean) {
    for (const auto& setting : settings({2, 6})) {
        SCOPED_TRACE(setting.named.name);
        const int n = setting.named.graph.agents();
        const Eigen::VectorXd kappa = random_kappa(n, 31);
        const DesignInput input = setting.input(10, kappa);
        // Tr(M diag(1 / kappa)) with the smallest kappa as unit, and H / n.
        const Eigen::VectorXd variance = kappa.minCoeff() * kappa.cwiseInverse();
        EXPECT_TRUE(
            relatively_near(independent_objective(input),
                            cost(design_utility(input), variance.asDiagonal().toDenseMatrix()),
                            1e-12));
        EXPECT_TRUE(relatively_near(trusted_mean_objective(input), 10.0 / n, 1e-12));
    }
}

TEST(ReferenceObjectives, NeedAKappaThatIsFiniteAndPositive) {
    const Setting setting = settings({5}).front();
    DesignInput input = setting.input(10);
    input.kappa(2) = 0;
    EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)independent_objective(input); }),
                         "kappa of agent 2: 0 is not allowed"));
}

}  // namespace
}  // namespace sotto
