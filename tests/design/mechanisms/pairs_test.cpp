#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

TEST(Pairs, CancelExactlyInTheMeanButForPrivateNoise) {
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        DesignInput input = setting.input(50);
        ask_like_the_program(input, find_mechanism("mechanism", "pairs"));
        const NoisePlan plan = design_of("pairs", input).plan;
        const Eigen::MatrixXd factor = plan.coefficient_matrix();
        for (std::size_t k = 0; k < plan.streams.size(); ++k) {
            const auto& members =
                plan.groups[static_cast<std::size_t>(plan.streams[k].group)].members;
            if (members.size() == 2) {
                EXPECT_EQ(factor.col(static_cast<Eigen::Index>(k)).sum(), 0.0);
            }
        }
    }
}

TEST(Pairs, RefuseLargerGroupsWhichCornHbcTakes) {
    const Setting setting = settings({7}).front();
    DesignInput input = setting.input(10);
    input.coalition_size = 1;
    input.seed_groups = make_seed_groups("neighbourhoods", setting.named.graph);
    EXPECT_TRUE(
        contains(message_of<ConfigError>([&] { (void)design_of("pairs", input); }), "corn-hbc"));
    EXPECT_GT(design_of("corn-hbc", input).objective, 0);
}

TEST(Pairs, LeavePrivateNoiseAloneInTheMeanOfTheNetwork) {
    // R = diag(s2) + sum c_e (e_u - e_v)(e_u - e_v)^T, hence R 1 = s2 and no entry beside the
    // diagonal is positive.
    for (const auto& setting : settings({7})) {
        SCOPED_TRACE(setting.named.name);
        DesignInput input = setting.input(50);
        ask_like_the_program(input, find_mechanism("mechanism", "pairs"));
        const NoisePlan plan = design_of("pairs", input).plan;
        const Eigen::MatrixXd covariance = spatial_covariance(plan);
        for (int u = 0; u < 7; ++u) {
            const double own = plan.scale * plan.rows[static_cast<std::size_t>(u)].coefficients[0];
            EXPECT_TRUE(relatively_near(covariance.row(u).sum(), own * own, 1e-9));
            for (int v = 0; v < u; ++v) EXPECT_LE(covariance(u, v), 0);
        }
    }
}

}  // namespace
}  // namespace sotto
