#include "training/preconditioning.hpp"

#include <gtest/gtest.h>

#include <string>

#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::quadratic_config;

TEST(Preconditioning, IsRefusedWhereAgentsCannotShareIt) {
    const test::TemporaryFolder folder;
    const auto refusal = [&](auto&& change) {
        TrainConfig config = quadratic_config(4, "ldp", 30);
        config.run_directory = folder.path("run");
        config.plan.precondition_every = 5;
        change(config);
        return message_of<ConfigError>([&] { (void)test::train(config); });
    };
    const std::string not_possible = "precondition-every: 5 is not possible with ";
    for (const std::string mechanism : {"anti-pgd", "zip-dl"})
        expect_contains(refusal([&](TrainConfig& c) { c.plan.mechanism = mechanism; }),
                        not_possible + "mechanism " + mechanism);
    expect_contains(refusal([](TrainConfig& c) { c.secure_sum = true; }),
                    not_possible + "--secure-sum on");
    expect_contains(refusal([](TrainConfig& c) { c.record_views = {1}; }),
                    not_possible + "--record-view");
    expect_contains(refusal([](TrainConfig& c) { c.graph.mixing_schedule = "random"; }),
                    not_possible + "mixing matrices that");
}

TEST(Preconditioning, IsStatedInTheLedger) {
    TrainConfig config = quadratic_config(4, "ldp", 30);
    EXPECT_TRUE(preconditioner_statements(config).empty());
    config.plan.precondition_every = 7;
    ASSERT_EQ(preconditioner_statements(config).size(), 1U);
    expect_contains(preconditioner_statements(config)[0], "every 7 rounds");
}

TEST(Preconditioning, OfATrainingScalesItsSteps) {
    const test::TemporaryFolder folder;
    const auto loss = [&](long every) {
        TrainConfig config = quadratic_config(4, "none", 30);
        config.run_directory = folder.path("every" + std::to_string(every));
        config.plan.precondition_every = every;
        return test::train(config).evaluation.test_loss;
    };
    const double plain = loss(0);
    EXPECT_NE(loss(5), plain);
    EXPECT_EQ(loss(31), plain);  // none is renewed in 30 rounds
}

}  // namespace
}  // namespace sotto
