#include "run/asked_plan.hpp"

#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "run/planning_fixtures.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/plan_json.hpp"

namespace sotto {
namespace {

using test::config_of;

constexpr int asked_agents = 6;

class AskedPlan : public ::testing::TestWithParam<std::string> {};

TEST_P(AskedPlan, IsWhatTheMechanismDesigns) {
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
                         AskedPlan,
                         ::testing::ValuesIn(mechanisms().names()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST(AskedPlan, LetsDecorShareSeedsAlongEdgesOnly) {
    const Topography topography = test::random_topography(asked_agents);
    const PlanConfig config = config_of("decor");
    NoisePlan plan = test::plan(config, topography).planned.design.plan;
    const Graph& graph = topography.graph;
    for (auto& group : plan.groups)
        if (group.members.size() == 2)
            for (int v = group.members.front() + 1; v < asked_agents; ++v) {
                group.members.back() = v;
                const bool edge =
                    std::ranges::binary_search(graph.neighbours(group.members.front()), v);
                if (edge) {
                    EXPECT_NO_THROW(require_asked_plan(plan, config, graph));
                } else {
                    EXPECT_THROW(require_asked_plan(plan, config, graph), PrivacyError);
                }
            }
}

TEST(AskedPlan, OfAFileIsThatFilesOrLouder) {
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
