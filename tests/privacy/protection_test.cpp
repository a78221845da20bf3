#include "privacy/protection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/test_support.hpp"
#include "privacy/privacy_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

using namespace test;

/// A plan whose eavesdropper learns exactly as much as every agent's budget allows.
struct Setting {
    NoisePlan plan;
    std::vector<Exposure> exposures;
    std::vector<PrivacyBudget> budgets;
    std::vector<int> everybody;

    void verify() const { verify_agents_protected(plan, everybody, exposures, budgets); }
};

Setting tight_setting(const Graph& graph) {
    Setting setting;
    setting.plan = random_plan(graph, 21);
    const Eigen::VectorXd precision = observed_precision(setting.plan, {});
    for (int u = 0; u < graph.agents(); ++u) {
        setting.exposures.push_back({0.1 * (1 + u), 30.0 + u, 1});
        const double mu =
            setting.exposures.back().sensitivity *
            std::sqrt(setting.exposures.back().sensitivity_squared_over_rounds * precision(u));
        setting.budgets.push_back(make_budget(7, 1e-5, Calibration::exact));
        setting.budgets.back().limit = PrivacyLoss::gaussian(mu);
    }
    // The finest conditional deviation decides the grid.
    setting.plan.grid_step_log2 =
        static_cast<int>(std::floor(-0.5 * std::log2(precision.maxCoeff()))) - 20;
    setting.everybody.resize(static_cast<std::size_t>(graph.agents()));
    std::iota(setting.everybody.begin(), setting.everybody.end(), 0);
    return setting;
}

TEST(VerifyAgentsProtected, AcceptsAPlanThatJustMeetsEveryBudget) {
    for (const Graph& graph : sample_graphs({3, 8})) {
        Setting setting = tight_setting(graph);
        EXPECT_NO_THROW(setting.verify());
        setting.plan.scale *= 1 - 1e-11;  // rounding is forgiven
        EXPECT_NO_THROW(setting.verify());
    }
}

TEST(VerifyAgentsProtected, RefusesAPlanWithATenthOfAPercentLessNoise) {
    for (const Graph& graph : sample_graphs({3, 8})) {
        Setting setting = tight_setting(graph);
        setting.plan.scale *= 0.999;
        const std::string message = message_of<PrivacyError>([&] { setting.verify(); });
        EXPECT_TRUE(contains(message, "does not protect agent 0"));
        EXPECT_TRUE(contains(message, "mu "));
        EXPECT_TRUE(contains(message, "epsilon 7 at delta 1e-05"));
    }
}

TEST(VerifyAgentsProtected, RefusesAGridThatIsTooCoarse) {
    for (const Graph& graph : sample_graphs({3, 8})) {
        Setting setting = tight_setting(graph);
        ++setting.plan.grid_step_log2;
        EXPECT_TRUE(contains(message_of<PrivacyError>([&] { setting.verify(); }), "too coarse"));
    }
}

TEST(VerifyAgentsProtected, ChecksTheAgentsItIsAskedForAndNoOthers) {
    Setting setting = tight_setting(make_graph(Topology::ring, 6));
    PrivacyLoss& limit = setting.budgets[4].limit;
    limit = limit.with_amount(0.8 * limit.amount().value);
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] { setting.verify(); }), "agent 4"));
    setting.everybody = {0, 1, 2, 3, 5};
    EXPECT_NO_THROW(setting.verify());
    setting.everybody = {4};
    EXPECT_THROW(setting.verify(), PrivacyError);
    setting.everybody = {};
    EXPECT_NO_THROW(setting.verify());
}

TEST(VerifyAgentsProtected, UsesTheNoiseThatThePlanInjectsAndNotItsLabel) {
    Setting setting = tight_setting(make_graph(Topology::path, 5));
    setting.plan.mechanism = "corn";
    EXPECT_NO_THROW(setting.verify());
    setting.plan.rows[2].coefficients[0] *= 0.5;
    EXPECT_THROW(setting.verify(), PrivacyError);
}

TEST(VerifyAgentsProtected, RefusesPlansWithoutNoiseOrWithUncoveredAgents) {
    Setting setting = tight_setting(make_graph(Topology::ring, 5));
    setting.plan = pair_plan(make_graph(Topology::ring, 5));
    setting.plan.scale = 1e12;
    EXPECT_THROW(setting.verify(), PrivacyError);
    setting.plan = NoisePlan{};
    setting.plan.agents = 5;
    EXPECT_THROW(setting.verify(), PrivacyError);
}

TEST(VerifyAgentsProtected, RefusesABudgetForOtherNoise) {
    Setting setting = tight_setting(make_graph(Topology::ring, 5));
    setting.budgets[1] = make_pure_budget(100);
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] { setting.verify(); }), "agent 1"));
}

TEST(VerifyAgentsProtected, RefusesAnExposureThatIsNotANumber) {
    Setting setting = tight_setting(make_graph(Topology::ring, 5));
    setting.exposures[1].sensitivity = not_a_number;
    EXPECT_THROW(setting.verify(), PrivacyError);
}

TEST(Coalitions, AreAllSubsetsInLexicographicOrder) {
    for (int agents = 1; agents < 8; ++agents)
        for (int size = 0; size < agents; ++size) {
            std::vector<std::vector<int>> seen;
            for_each_coalition(agents, size, [&](const std::vector<int>& coalition) {
                EXPECT_EQ(static_cast<int>(coalition.size()), size);
                EXPECT_TRUE(std::ranges::is_sorted(coalition));
                EXPECT_EQ(std::set(coalition.begin(), coalition.end()).size(), coalition.size());
                EXPECT_TRUE(coalition.empty() || coalition.back() < agents);
                seen.push_back(coalition);
            });
            EXPECT_EQ(static_cast<double>(seen.size()), count_coalitions(agents, size));
            EXPECT_TRUE(std::ranges::is_sorted(seen));
            EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
        }
}

TEST(NextCoalition, StaysAtTheLast) {
    std::vector<int> coalition{3, 4};
    EXPECT_FALSE(next_coalition(coalition, 5));
    EXPECT_EQ(coalition, (std::vector<int>{3, 4}));
    coalition = {0, 4};
    EXPECT_TRUE(next_coalition(coalition, 5));
    EXPECT_EQ(coalition, (std::vector<int>{1, 2}));
}

TEST(CountCoalitions, IsTheBinomialCoefficient) {
    EXPECT_EQ(count_coalitions(20, 0), 1);
    EXPECT_EQ(count_coalitions(20, 3), 1140);
    EXPECT_EQ(count_coalitions(52, 5), 2598960);
}

TEST(CheckCoalitionSize, RefusesWhatIsNoCoalitionAndWhatIsTooMany) {
    EXPECT_NO_THROW(check_coalition_size(1, 0));
    EXPECT_NO_THROW(check_coalition_size(5, 4));
    for (const int size : {-1, 5, 6})
        EXPECT_TRUE(contains(message_of<ConfigError>([&] { check_coalition_size(5, size); }),
                             "0 to 4 of 5 agents"));
    EXPECT_THROW(check_coalition_size(1, 1), ConfigError);
    EXPECT_TRUE(contains(message_of<ConfigError>([] { check_coalition_size(52, 5); }), "at most"));
}

}  // namespace
}  // namespace sotto
