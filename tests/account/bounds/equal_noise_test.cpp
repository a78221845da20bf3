#include "account/bounds/equal_noise.hpp"

#include <gtest/gtest.h>

#include "account/bounds/bound_fixtures.hpp"

namespace sotto {
namespace {

using test::bounded_subject;
using test::subject_of;

std::optional<double> variance_of(const SubjectConfig& config) {
    return equal_noise_variance(config.plan, subject_of(config)->plan);
}

TEST(EqualNoise, IsThatOfAPlanOfPrivateNoise) {
    SubjectConfig config = bounded_subject("ldp");
    config.plan.noise_std = 3;
    ASSERT_TRUE(variance_of(config));
    EXPECT_NEAR(*variance_of(config), 9, 1e-9);
}

TEST(EqualNoise, IsNotSharedNorOnMessagesNorOverRoundsNorSampled) {
    for (const char* mechanism : {"decor", "anti-pgd", "zip-dl", "laplace", "cdp"}) {
        SubjectConfig config = bounded_subject(mechanism);
        if (std::string(mechanism) == "laplace") {
            config.plan.noise_std.reset();
            config.plan.epsilon = 4;
        }
        // On a ring all agents of zip-dl have the same noise.
        config.graph.topology.topology = Topology::ring;
        config.plan.adjacency = Adjacency::agent;
        config.plan.participation = {};
        EXPECT_FALSE(variance_of(config)) << mechanism;
    }
    SubjectConfig config = bounded_subject("ldp");
    const auto subject = subject_of(config);
    NoisePlan uneven = subject->plan;
    uneven.rows[2].coefficients[0] *= 1.5;
    EXPECT_FALSE(equal_noise_variance(config.plan, uneven));
    config.plan.participation.cycle = 2;
    EXPECT_FALSE(equal_noise_variance(config.plan, subject->plan));
    config.plan.participation = {1, true};
    EXPECT_FALSE(equal_noise_variance(config.plan, subject->plan));
}

TEST(GossipBoundsOf, AreLeftUndoneWhereTheyTakeLong) {
    const SubjectConfig config = bounded_subject("ldp");
    const auto subject = subject_of(config);
    const std::vector<int> targets{1, 4};
    const View view{View::Kind::neighbours, {0}};
    const auto found = [&](double observers) {
        return gossip_bounds_of(GossipTheorem::messages,
                                View::Kind::neighbours,
                                {config.plan, *subject, observers},
                                view,
                                targets);
    };
    ASSERT_TRUE(found(1));
    EXPECT_EQ(found(1)->size(), 2);
    EXPECT_FALSE(found(1e12));
}

}  // namespace
}  // namespace sotto
