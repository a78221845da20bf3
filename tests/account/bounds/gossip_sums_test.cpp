#include <gtest/gtest.h>

#include "account/bounds/bound_fixtures.hpp"
#include "sotto/views/gossip_bounds.hpp"

namespace sotto {
namespace {

using test::bound_of;
using test::bounded_subject;

TEST(GossipSumsBound, IsTheOneOfTheTheoremAtTheNoiseOfThePlan) {
    SubjectConfig config = bounded_subject("ldp");
    config.plan.noise_std = 2;
    const auto subject = test::subject_of(config);
    for (const std::vector<int>& observers : {std::vector<int>{3}, std::vector<int>{0, 3}}) {
        const auto found =
            bound_of(gossip_sums_record(), config, {View::Kind::secure_sum, observers});
        ASSERT_TRUE(found);
        for (const auto& [i, target] : {std::pair{0, 1}, std::pair{1, 4}})
            EXPECT_NEAR((*found)(i),
                        gossip_bound(GossipTheorem::sums, subject->process, observers, target) / 4,
                        1e-12);
    }
}

TEST(GossipSumsBound, IsOfNoOtherViewAndNoOtherNoise) {
    const PublishedBound bound = gossip_sums_record();
    const SubjectConfig config = bounded_subject("ldp");
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::neighbours, {3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::all_messages, {3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::all_messages, {}}));
    EXPECT_FALSE(bound_of(bound, bounded_subject("decor"), {View::Kind::secure_sum, {3}}));
}

}  // namespace
}  // namespace sotto
