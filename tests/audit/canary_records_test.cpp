#include "audit/canary_records.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

CanaryRecords some_canaries() { return {.target = 2, .seed = 9, .trials = 400, .members = {0, 3}}; }

TEST(CanaryRecords, AreThereByFairCoinsOfTheSeed) {
    CanaryRecords canaries = some_canaries();
    canaries.trials = 10000;
    const VectorXd signs = canaries.signs();
    EXPECT_EQ(signs.cwiseAbs(), VectorXd::Ones(10000));
    EXPECT_LT(std::abs(signs.sum()), 400);
    EXPECT_EQ(signs, canaries.signs());
    canaries.seed = 10;
    EXPECT_NE(signs, canaries.signs());
}

TEST(CanaryRecords, AreWrittenAndRead) {
    const CanaryRecords canaries = some_canaries();
    EXPECT_EQ(canary_records_from_json(to_json(canaries), "file"), canaries);
    const auto refusal = [](std::string text) {
        return test::message_of<DataError>(
            [&] { (void)canary_records_from_json(text, "file.json"); });
    };
    test::expect_contains(refusal("{}"), "file.json");
    std::string text = to_json(canaries);
    text.replace(text.find("400"), 3, "399");
    test::expect_contains(refusal(text), "trials");
    CanaryRecords twice = canaries;
    twice.members = {3, 3};
    test::expect_contains(refusal(to_json(twice)), "ascending");
}

/// Sum of clipped gradients of these records of one agent.
VectorXd sum_of(const LocalTask& task, std::size_t agent, const std::vector<Index>& rows) {
    VectorXd sum(task.objectives[agent]->dimension());
    task.objectives[agent]->clipped_gradient_sum(task.initial, rows, 0.1, 0x1p-30, sum);
    return sum;
}

TEST(CanaryRecordTask, HasCanariesAsCoinsFellAndMembersAll) {
    const CanaryRecords canaries = some_canaries();
    const auto network = make_memory_network(5, 1);
    const LocalTask task = make_canary_record_task(canaries, 0.1, *network);
    ASSERT_EQ(task.objectives.size(), 5U);
    EXPECT_EQ(task.records, std::vector<Index>(5, 1600));
    EXPECT_TRUE(task.fixed_inputs);
    EXPECT_FALSE(task.rows_are_rounds);
    EXPECT_EQ(task.initial, VectorXd::Zero(401));
    std::vector<Index> all(1600);
    std::iota(all.begin(), all.end(), Index{0});
    const VectorXd signs = canaries.signs();
    const VectorXd target = sum_of(task, 2, all), member = sum_of(task, 3, all);
    // Gradients are longer than the clip: each record contributes it.
    for (Index i = 0; i < 400; ++i) {
        EXPECT_NEAR(target(i), signs(i) > 0 ? 0.1 : 0, 1e-8);
        EXPECT_NEAR(member(i), 0.1, 1e-8);
    }
    EXPECT_NEAR(target(400), 120, 1e-5);
    EXPECT_NEAR(member(400), 120, 1e-5);
    for (const std::size_t other : {1U, 4U})
        EXPECT_EQ(sum_of(task, other, all), VectorXd::Zero(401));
    const VectorXd one = sum_of(task, 3, {7, 900});
    EXPECT_EQ((one.array() != 0).count(), 2);
    EXPECT_NEAR(one(7), 0.1, 1e-8);
    EXPECT_NEAR(one(400), 0.1, 1e-8);
    EXPECT_EQ(task.objectives[2]->records_set_to_zero(), 0);
}

}  // namespace
}  // namespace sotto
