#include "audit/audit_subject.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "audit/audit_fixtures.hpp"
#include "sotto/views/view_losses.hpp"

namespace sotto {
namespace {

using test::audit_config;
using test::expect_contains;
using test::message_of;

AuditSubject subject_of(const AuditConfig& config, bool fixed_inputs) {
    const auto network = make_memory_network(config.train.graph.topology.agents, 1);
    return build_audit_subject(config, fixed_inputs, *network);
}

TEST(AuditSubject, HasAnAccountWhereInputsAreFixedAndPointsIntoIt) {
    AuditConfig config = audit_config("pairs", 8, 6);
    config.view = "coalition:2,5";
    config.train.plan.steps.step_size = 0.25;
    const AuditSubject subject = subject_of(config, true);
    EXPECT_EQ(subject.view.kind, View::Kind::neighbours);
    EXPECT_EQ(subject.view.members, (std::vector<int>{2, 5}));
    ASSERT_NE(subject.account, nullptr);
    EXPECT_EQ(subject.process.plan, &subject.account->plan);
    EXPECT_EQ(subject.process.graph, &subject.account->built.topography.graph);
    EXPECT_EQ(subject.process.step_sizes, std::vector<double>(6, 0.25));
    EXPECT_EQ(subject.topography.graph.hash(), subject.process.graph->hash());

    const AuditSubject training = subject_of(config, false);
    EXPECT_EQ(training.account, nullptr);
    EXPECT_EQ(training.topography.graph.hash(), subject.topography.graph.hash());
}

TEST(AuditSubject, FindsTheCoalitionThatLearnsMostAboutTheTarget) {
    AuditConfig config = audit_config("decor", 8, 6);
    config.view = "worst-coalition:2";
    config.targets = {5};
    const AuditSubject subject = subject_of(config, true);
    ASSERT_EQ(subject.view.members.size(), 2U);
    EXPECT_EQ(subject.view.kind, View::Kind::neighbours);
    EXPECT_EQ(subject.view_name,
              fmt::format("coalition:{},{}", subject.view.members[0], subject.view.members[1]));
    const std::vector<int> target{5};
    const auto learnt = [&](const std::vector<int>& members) {
        return view_losses(subject.process,
                           subject.account->use,
                           {View::Kind::neighbours, members},
                           target,
                           {})
            .front()
            .certified();
    };
    const double most = learnt(subject.view.members);
    for (int u = 0; u < 8; ++u)
        for (int v = u + 1; v < 8; ++v)
            if (u != 5 && v != 5) {
                EXPECT_LE(learnt({u, v}), most * (1 + 1e-9)) << u << " " << v;
            }
    config.targets = {8};
    expect_contains(message_of<ConfigError>([&] { (void)subject_of(config, true); }), "--targets");
}

TEST(AuditSubject, MovesWithWhatItPointsTo) {
    AuditSubject subject = subject_of(audit_config("ldp", 5, 3), true);
    const AuditSubject moved = std::move(subject);
    EXPECT_EQ(moved.process.plan, &moved.account->plan);
    EXPECT_EQ(moved.process.plan->agents, 5);
}

TEST(AuditSubject, IsRefusedWhereNobodyIsLeftToLearnAbout) {
    AuditConfig config = audit_config("ldp", 3, 3);
    config.view = "coalition:0,1,2";
    expect_contains(message_of<ConfigError>([&] { (void)subject_of(config, false); }),
                    "leaves nobody");
    config.view = "worst-coalition:2";
    expect_contains(message_of<ConfigError>([&] { (void)subject_of(config, false); }),
                    "whose run is not accounted for in advance");
    config.view = "worst-coalition:3";
    expect_contains(message_of<ConfigError>([&] { (void)subject_of(config, true); }),
                    "must be 1 to 2");
    config.view = "all-nodes";
    expect_contains(message_of<ConfigError>([&] { (void)subject_of(config, true); }),
                    "one observer");
    config.view = "eavesdropper";
    for (const double level : {0.5, 1.0, std::nan("")}) {
        config.level = level;
        expect_contains(message_of<ConfigError>([&] { (void)subject_of(config, false); }),
                        "--confidence");
    }
}

TEST(AuditSubject, OfATrainingMayHaveATrustedAggregatorAndFixedInputsMayNot) {
    const AuditConfig config = audit_config("cdp", 5, 3);
    EXPECT_NO_THROW((void)subject_of(config, false));
    expect_contains(message_of<ConfigError>([&] { (void)subject_of(config, true); }),
                    "trusted aggregator");
}

TEST(MostExposed, IsTheFirstOfAgentsWhoseLossesDifferByRoundingAlone) {
    EXPECT_EQ(most_exposed({3, 5, 8}, {2, 3 - 1e-12, 3}), 5);
    EXPECT_EQ(most_exposed({3, 5, 8}, {2, 3 - 1e-4, 3}), 8);
    EXPECT_EQ(most_exposed({3, 5}, {0, 0}), 3);
    constexpr double infinite = std::numeric_limits<double>::infinity();
    EXPECT_EQ(most_exposed({3, 5, 8}, {2, infinite, infinite}), 5);
}

TEST(DistancesFromMembers, AreThoseFromTheNearest) {
    // 0 - 1 - 2 - 3 - 4 - 5
    const Graph path =
        Graph::from_edges(6, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
    const View ends{View::Kind::neighbours, {0, 5}};
    EXPECT_EQ(distances_from_members(ends, path), (std::vector<int>{0, 1, 2, 2, 1, 0}));
    EXPECT_EQ(agents_outside(ends, 6), (std::vector<int>{1, 2, 3, 4}));
    const View eavesdropper{View::Kind::all_messages, {}};
    EXPECT_EQ(distances_from_members(eavesdropper, path), std::vector<int>(6, -1));
    EXPECT_EQ(agents_outside(eavesdropper, 2), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace sotto
