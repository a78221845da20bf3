#include "account/worst_coalition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "account/account_fixtures.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/coalitions.hpp"

namespace sotto {
namespace {

using test::account;
using test::Accounted;
using test::config_of;

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

}  // namespace
}  // namespace sotto
