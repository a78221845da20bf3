#include "account/worst_coalition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "account/account_fixtures.hpp"
#include "commands/account/account_text.hpp"
#include "privacy/protection.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using test::account;
using test::Accounted;
using test::config_of;
using test::expect_contains;
using test::Json;
using test::message_of;

/// Largest mu of any coalition of this size, found by trying all.
double worst_by_trying(const AccountSubject& subject, View::Kind kind, int size) {
    double largest = 0;
    for_each_coalition(subject.plan.agents, size, [&](const std::vector<int>& members) {
        std::vector<int> targets;
        for (int u = 0; u < subject.plan.agents; ++u)
            if (!std::ranges::binary_search(members, u)) targets.push_back(u);
        for (const auto& squared :
             view_sensitivity(subject.process, {kind, members}, targets, {}, {}))
            largest = std::max(largest, std::sqrt(squared.certified()));
    });
    return largest;
}

TEST(WorstCoalition, IsFoundByTryingAllWhereTheyAreFew) {
    for (const std::string mechanism : {"ldp", "decor", "pairs"}) {
        const Accounted accounted = account(config_of(mechanism, "worst-coalition:2"));
        ASSERT_TRUE(accounted.result.search);
        EXPECT_TRUE(accounted.result.search->exhaustive);
        EXPECT_EQ(accounted.result.search->evaluated, 21);
        EXPECT_EQ(accounted.result.pairs.size(), 7u) << "one for each target";
        EXPECT_NEAR(accounted.result.pairs[0].guarantee.loss.mu().value(),
                    worst_by_trying(*accounted.subject, View::Kind::neighbours, 2),
                    1e-9);
        EXPECT_LE(accounted.result.pairs[0].guarantee.loss.mu().value(),
                  accounted.result.search->upper.loss.mu().value() * (1 + 1e-9));
    }
    const Accounted all = account(config_of("decor", "worst-all-messages:2"));
    EXPECT_NEAR(all.result.pairs[0].guarantee.loss.mu().value(),
                std::sqrt(6 * coalition_precision(all.subject->plan, 2).maxCoeff()),
                1e-9);
    EXPECT_TRUE(all.result.search->bound_attained);
}

TEST(WorstCoalition, IsSearchedForWhereTheyAreMany) {
    for (const std::string mechanism : {"ldp", "decor"}) {
        AccountConfig config = config_of(mechanism, "worst-coalition:3", 3);
        config.subject.graph.topology.agents = 20;
        config.subject.graph.topology.edge_probability = 0.2;
        config.subject.graph.topology.graph_seed = 3;
        const Accounted accounted = account(config);
        const CoalitionSearch& search = *accounted.result.search;
        EXPECT_FALSE(search.exhaustive);
        EXPECT_EQ(search.total, 1140);
        EXPECT_LT(search.evaluated, 1140);
        const double worst = worst_by_trying(*accounted.subject, View::Kind::neighbours, 3);
        const PairFigure& found = accounted.result.pairs[0];
        EXPECT_LE(found.guarantee.loss.mu().value(), worst * (1 + 1e-9));
        EXPECT_GE(found.guarantee.loss.mu().value(), 0.99 * worst) << mechanism;
        EXPECT_LE(worst, search.upper.loss.mu().value() * (1 + 1e-9)) << "the upper bound holds";
        if (search.bound_attained) {
            EXPECT_NEAR(found.guarantee.loss.mu().value(), worst, 1e-6 * worst);
        }
        // The pair stands for what it says.
        const auto again = view_sensitivity(accounted.subject->process,
                                            {View::Kind::neighbours, found.observers},
                                            std::vector<int>{found.target},
                                            {},
                                            {});
        EXPECT_NEAR(std::sqrt(again[0].certified()), found.guarantee.loss.mu().value(), 1e-9);
    }
}

TEST(AccountForDropouts, SaysWhatWorstDropoutsRevealToTheEavesdropper) {
    AccountConfig config = config_of("pairs", "eavesdropper");
    config.dropouts = 1;
    const Accounted accounted = account(config);
    const DropoutAccount& dropouts = accounted.result.dropouts.value();
    ASSERT_EQ(dropouts.figures.size(), 7U);
    const auto& exposures = accounted.subject->exposures;
    const double delta = accounted.subject->delta;
    const auto as_sent = guarantees(accounted.subject->plan, {}, exposures, delta);
    const auto revealed = coalition_guarantees(accounted.subject->plan, 1, exposures, delta);
    for (std::size_t u = 0; u < 7; ++u) {
        EXPECT_NEAR(dropouts.figures[u].silent->epsilon, as_sent[u].epsilon, 1e-9);
        EXPECT_NEAR(dropouts.figures[u].revealed->epsilon, revealed[u].epsilon, 1e-9);
        EXPECT_GE(dropouts.figures[u].late->epsilon, revealed[u].epsilon - 1e-9);
    }
    EXPECT_NEAR(dropouts.worst.revealed->epsilon, largest(revealed).epsilon, 1e-9);
}

TEST(AccountForDropouts, TakesMissingAgentsByName) {
    AccountConfig config = config_of("pairs", "node:0");
    config.missing = "2,5";
    const Accounted accounted = account(config);
    const DropoutAccount& dropouts = accounted.result.dropouts.value();
    EXPECT_EQ(dropouts.missing, (std::vector<int>{2, 5}));
    for (const DropoutFigure& figure : dropouts.figures) {
        const bool missing = figure.target == 2 || figure.target == 5;
        EXPECT_EQ(figure.silent.has_value(), !missing);
        EXPECT_EQ(figure.late.has_value(), missing);
    }
    const auto known = guarantees(accounted.subject->plan,
                                  {{0, 2, 5}},
                                  accounted.subject->exposures,
                                  accounted.subject->delta);
    EXPECT_EQ(dropouts.figures.front().target, 1);
    EXPECT_NEAR(dropouts.figures.front().revealed->epsilon, known[1].epsilon, 1e-9);
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    EXPECT_EQ(json["dropouts"]["missing"], Json({2, 5}));
    EXPECT_TRUE(json["dropouts"]["by_target"][1]["revealed"].is_null());
    expect_contains(account_report_text(accounted.result, config, *accounted.subject),
                    "messages of 2,5 missing in every round");
}

TEST(AccountForDropouts, CountsTheSeedsOfEveryCoalitionThatIsAskedAbout) {
    AccountConfig config = config_of("pairs", "all-nodes");
    config.dropouts = 1;
    const Accounted accounted = account(config);
    const auto two = coalition_guarantees(
        accounted.subject->plan, 2, accounted.subject->exposures, accounted.subject->delta);
    EXPECT_NEAR(accounted.result.dropouts->worst.revealed->epsilon, largest(two).epsilon, 1e-9);
    config.dropouts.reset();
    EXPECT_FALSE(account(config).result.dropouts);
}

TEST(AccountForDropouts, RefusesWhatItCannotSay) {
    const auto refusal = [](const AccountConfig& config) {
        return message_of<ConfigError>([&] { (void)account(config); });
    };
    AccountConfig config = config_of("pairs", "eavesdropper");
    config.dropouts = 7;
    expect_contains(refusal(config), "dropouts: 7 of 7 agents");
    config.missing = "1";
    expect_contains(refusal(config), "--missing");
    config.dropouts = 1;
    config.missing.clear();
    config.subject.departures = "3:1";
    expect_contains(refusal(config), "--departures");
    config = config_of("anti-pgd", "eavesdropper");
    config.dropouts = 1;
    expect_contains(refusal(config), "dropouts: not with mechanism anti-pgd");
}

TEST(WorstCoalition, OfALargePlanIsBoundedByWhatIsNearEachAgent) {
    AccountConfig config = config_of("pairs", "worst-all-messages:1");
    config.subject.graph.topology.agents = 2100;
    config.subject.graph.topology.edge_probability = 0.006;
    config.subject.plan.seed_groups = "edges";
    config.subject.plan.noise_std.reset();
    config.subject.plan.epsilon = 2;
    config.subject.plan.plan_gap = 0.3;
    config.targets = "0,2099";
    const Accounted accounted = account(config);
    ASSERT_TRUE(accounted.result.search);
    ASSERT_TRUE(accounted.result.search->near_gap);
    EXPECT_LT(*accounted.result.search->near_gap, 0.005);
    EXPECT_TRUE(accounted.result.search->bound_attained);
    ASSERT_EQ(accounted.result.pairs.size(), 2u);
    const NoisePlan& plan = accounted.subject->plan;
    for (const PairFigure& pair : accounted.result.pairs) {
        ASSERT_EQ(pair.observers.size(), 1u);
        EXPECT_EQ(pair.distance, 1) << "who shares seeds along edges is a neighbour";
        const double bound = pair.squared.certified();
        const auto learnt = [&](const std::vector<int>& members) {
            return 6 * observed_precision(plan, {members})(pair.target);
        };
        EXPECT_GE(learnt(pair.observers), 0.99 * bound) << "the one named learns about so much";
        const auto neighbours = accounted.subject->process.graph->neighbours(pair.target);
        for (const int member : neighbours.first(3))
            EXPECT_LE(learnt({member}), 1.005 * bound) << member << " about " << pair.target;
        EXPECT_LE(pair.guarantee.epsilon, 2.001);
        EXPECT_GT(pair.guarantee.epsilon, 1.5);
    }
    const Json json =
        Json::parse(account_report_json(accounted.result, config, *accounted.subject));
    EXPECT_EQ(json.at("worst_coalition").at("method"), "near");
    EXPECT_LT(json.at("worst_coalition").at("near_gap").get<double>(), 0.005);
}

}  // namespace
}  // namespace sotto
