#include "tasks/kinds/quadratic.hpp"

#include "sotto/learn/quadratic.hpp"
#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::build;

TEST(QuadraticTask, HasNoRecords) {
    TaskConfig config;
    config.task = "quadratic";
    const LocalTask task = build(config, 6);
    EXPECT_FALSE(task.has_records);
    EXPECT_EQ(task.initial, Eigen::Vector2d::Zero());
    EXPECT_EQ(task.records, std::vector<Eigen::Index>(6, 1));
    for (int u = 0; u < 6; ++u) {
        Eigen::Vector2d wanted, got;
        make_quadratic_objective(u, 6)->mean_gradient(task.initial, {}, wanted);
        task.objectives[static_cast<std::size_t>(u)]->mean_gradient(task.initial, {}, got);
        EXPECT_EQ(got, wanted);
    }
}

TEST(QuadraticTask, GoesByTheNumbersOfAgentsThatAreThere) {
    TaskConfig config;
    config.task = "quadratic";
    const auto network = make_memory_network(2, 1);
    const LocalTask task = build_task(config, *network, Membership{6, {1, 4}});
    for (const auto& [place, number] : {std::pair(0, 1), {1, 4}}) {
        Eigen::Vector2d wanted, got;
        make_quadratic_objective(number, 6)->mean_gradient(task.initial, {}, wanted);
        task.objectives[static_cast<std::size_t>(place)]->mean_gradient(task.initial, {}, got);
        EXPECT_EQ(got, wanted);
    }
}

}  // namespace
}  // namespace sotto
