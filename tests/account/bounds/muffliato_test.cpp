#include <gtest/gtest.h>

#include "account/bounds/bound_fixtures.hpp"
#include "sotto/views/muffliato_bound.hpp"

namespace sotto {
namespace {

using test::bound_of;
using test::bounded_subject;

const View node{View::Kind::neighbours, {3}};

TEST(MuffliatoRecord, IsThePublishedBoundAtTheNoiseOfThePlan) {
    SubjectConfig config = bounded_subject("ldp");
    config.plan.noise_std = 2;
    const auto subject = test::subject_of(config);
    const Topography& topography = subject->built.topography;
    const Eigen::VectorXd bound = muffliato_bound(topography.graph, topography.mixing, 3, 6);
    const auto found = bound_of(muffliato_record(), config, node);
    ASSERT_TRUE(found);
    EXPECT_NEAR((*found)(0), bound(1) / 4, 1e-9);
    EXPECT_NEAR((*found)(1), bound(4) / 4, 1e-9);
}

TEST(MuffliatoRecord, IsOfSingleNodes) {
    const SubjectConfig config = bounded_subject("ldp");
    const PublishedBound bound = muffliato_record();
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::neighbours, {0, 3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::secure_sum, {3}}));
    EXPECT_FALSE(bound_of(bound, config, {View::Kind::all_messages, {3}}));
}

TEST(MuffliatoRecord, IsOfIndependentNoiseInEqualRounds) {
    const auto applies = [&](const std::string& mechanism, auto&& change) {
        SubjectConfig config = bounded_subject(mechanism);
        change(config);
        return bound_of(muffliato_record(), config, node).has_value();
    };
    EXPECT_TRUE(applies("ldp", [](SubjectConfig&) {}));
    EXPECT_FALSE(applies("decor", [](SubjectConfig&) {}));
    EXPECT_FALSE(applies("anti-pgd", [](SubjectConfig& c) {
        c.plan.adjacency = Adjacency::agent;
        c.plan.participation = {};
    }));
    EXPECT_FALSE(applies("ldp", [](SubjectConfig& c) { c.departures = "3:1"; }));
    EXPECT_FALSE(applies(
        "ldp", [](SubjectConfig& c) { c.plan.steps.kind = StepSchedule::Kind::inverse_sqrt; }));
    EXPECT_FALSE(applies("muffliato", [](SubjectConfig& c) { c.plan.gossip_steps = 2; }));
}

}  // namespace
}  // namespace sotto
