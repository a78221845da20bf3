#include "planning/asked_plan.hpp"

#include <gtest/gtest.h>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "planning/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {
namespace {

using test::config_of;

constexpr int asked_agents = 6;

class RequireAskedPlan : public ::testing::TestWithParam<std::string> {};

TEST_P(RequireAskedPlan, IsWhatTheMechanismDesigns) {
    const Topography topography = test::random_topography(asked_agents);
    const PlanConfig config = config_of(GetParam());
    const std::vector<Eigen::Index> records(asked_agents, 100);
    const NoisePlan plan = test::plan(config, topography, records).planned.design.plan;
    EXPECT_NO_THROW(require_asked_plan(plan, config, topography.graph));
    for (const std::string& other : mechanisms().names()) {
        if (other == GetParam()) continue;
        EXPECT_THROW(require_asked_plan(plan, config_of(other), topography.graph), PrivacyError)
            << other;
    }
}

INSTANTIATE_TEST_SUITE_P(Every,
                         RequireAskedPlan,
                         ::testing::ValuesIn(mechanisms().names()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST(RequireAskedPlan, HasTheCovarianceOfThisAgentsOwnFile) {
    const test::TemporaryFolder folder;
    const Topography topography = test::random_topography(asked_agents);
    const auto config_with = [&](const std::string& file, double beside) {
        Eigen::MatrixXd covariance = Eigen::MatrixXd::Identity(asked_agents, asked_agents);
        covariance(1, 2) = covariance(2, 1) = beside;
        PlanConfig config = config_of("covariance");
        config.covariance_file = folder.path(file);
        write_npy(*config.covariance_file, covariance);
        return config;
    };
    const PlanConfig config = config_with("R.npy", -0.5);
    const NoisePlan plan = test::plan(config, topography).planned.design.plan;
    EXPECT_NO_THROW(require_asked_plan(plan, config, topography.graph));
    EXPECT_THROW(require_asked_plan(plan, config_with("other.npy", -0.4), topography.graph),
                 PrivacyError);
}

TEST(RequireAskedPlan, LetsDecorShareSeedsAlongEdgesOnly) {
    const Topography topography = test::random_topography(asked_agents);
    const PlanConfig config = config_of("decor");
    const NoisePlan honest = test::plan(config, topography).planned.design.plan;
    const Graph& graph = topography.graph;
    for (int v = 1; v < asked_agents; ++v) {
        NoisePlan plan = honest;
        const auto pair = std::ranges::find_if(plan.groups, [](const SeedGroup& group) {
            return group.members.size() == 2 && group.members.front() == 0;
        });
        pair->members.back() = v;
        if (std::ranges::binary_search(graph.neighbours(0), v)) {
            EXPECT_NO_THROW(require_asked_plan(plan, config, graph));
        } else {
            EXPECT_THROW(require_asked_plan(plan, config, graph), PrivacyError);
        }
    }
    ASSERT_LT(graph.degree(0), asked_agents - 1);
}

TEST(RequireAskedPlan, LetsDecorShareSeedsByTheGroupsThatWereChosen) {
    const Topography topography = test::random_topography(asked_agents);
    PlanConfig config = config_of("decor");
    config.coalition_size = 1;
    config.seed_groups = "all-pairs";
    const NoisePlan plan = test::plan(config, topography).planned.design.plan;
    EXPECT_NO_THROW(require_asked_plan(plan, config, topography.graph));
    const NoisePlan alike = test::plan(config_of("decor"), topography).planned.design.plan;
    EXPECT_THROW(require_asked_plan(plan, config_of("decor"), topography.graph), PrivacyError);
    config.seed_groups = "circulant:2";
    EXPECT_THROW(require_asked_plan(alike, config, topography.graph), PrivacyError);
}

// Which pairs are left out is the word of whoever plans; nobody else may share a seed.
TEST(RequireAskedPlan, WithAutoHasSomeOfAllPairsAndNoOtherGroups) {
    const Topography topography = test::random_topography(asked_agents);
    PlanConfig config = config_of("pairs");
    const NoisePlan all = test::plan(config, topography).planned.design.plan;
    config.seed_groups = "auto";
    const test::Planned planned = test::plan(config, topography);
    NoisePlan plan = planned.planned.design.plan;
    EXPECT_LE(planned.planned.design.relative_gap(), 0.0201);
    EXPECT_LE(plan.groups.size(), all.groups.size());
    EXPECT_NO_THROW(require_asked_plan(plan, config, topography.graph));
    EXPECT_NO_THROW(require_asked_plan(all, config, topography.graph));
    plan.groups.back() = {{0, 1, 2}};
    EXPECT_THROW(require_asked_plan(plan, config, topography.graph), PrivacyError);
}

TEST(RequireAskedPlan, OfAFileIsThatFilesOrLouder) {
    const test::TemporaryFolder folder;
    const Topography topography = test::random_topography(asked_agents);
    PlanConfig config = config_of("corn");
    NoisePlan plan = test::plan(config, topography).planned.design.plan;
    config.plan_file = folder.write("plan.json", to_json(plan));
    EXPECT_NO_THROW(require_asked_plan(plan, config, topography.graph));
    plan.scale *= 2;
    EXPECT_NO_THROW(require_asked_plan(plan, config, topography.graph));
    plan.scale /= 2.001;
    EXPECT_THROW(require_asked_plan(plan, config, topography.graph), PrivacyError);
    plan.scale *= 2.001;
    plan.rows.front().coefficients.front() *= 0.5;
    EXPECT_THROW(require_asked_plan(plan, config, topography.graph), PrivacyError);
}

}  // namespace
}  // namespace sotto
