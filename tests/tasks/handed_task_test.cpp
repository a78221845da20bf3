#include "tasks/handed_task.hpp"

#include "config/run_fixtures.hpp"
#include "fuzz/support.hpp"
#include "sotto/learn/handed_objective.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

HandedInputs inputs(const Eigen::VectorXd& initial = Eigen::VectorXd()) {
    return {std::make_unique<HandedObjective>(3, 40, 8), initial, "a program", std::nullopt};
}

TEST(HandedTask, IsThatOfTheProgram) {
    const auto network = make_memory_network(1, 1);
    HandedInputs handed = inputs(Eigen::Vector3d(1, 2, 3));
    handed.data = Digest{9};
    const LocalTask task = make_handed_task(std::move(handed), {}, *network);
    EXPECT_EQ(task.initial, Eigen::Vector3d(1, 2, 3));
    EXPECT_EQ(task.records, std::vector<Eigen::Index>{40});
    EXPECT_EQ(task.description, "a program");
    EXPECT_TRUE(task.has_records);
    EXPECT_TRUE(task.resumable);
    EXPECT_FALSE(task.fixed_inputs);
}

TEST(HandedTask, SaysWhichDataItsAgentsHaveAsFarAsItIsKnown) {
    const auto digest_of = [](Eigen::Index records, std::optional<Digest> data) {
        const auto network = make_memory_network(1, 1);
        HandedInputs handed = inputs();
        handed.objective = std::make_unique<HandedObjective>(3, records, 8);
        handed.data = data;
        return make_handed_task(std::move(handed), {}, *network).digests.own.at(0).at(0).digest;
    };
    EXPECT_EQ(digest_of(40, std::nullopt), digest_of(40, std::nullopt));
    EXPECT_NE(digest_of(40, std::nullopt), digest_of(41, std::nullopt));
    EXPECT_NE(digest_of(40, std::nullopt), digest_of(40, Digest{9}));
    EXPECT_NE(digest_of(40, Digest{8}), digest_of(40, Digest{9}));
}

TEST(HandedTask, BeginsWithZeroUnlessToldOtherwise) {
    const auto network = make_memory_network(1, 1);
    EXPECT_EQ(make_handed_task(inputs(), {}, *network).initial, Eigen::Vector3d::Zero());
}

TEST(HandedTask, RefusesAModelThatCannotBeBegunWith) {
    const auto network = make_memory_network(1, 1);
    expect_contains(message_of<ConfigError>([&] {
                        (void)make_handed_task(inputs(Eigen::Vector2d(1, 2)), {}, *network);
                    }),
                    "initial: 2 values are not allowed (3");
    const Eigen::Vector3d bad(1, not_a_number, 0);
    expect_contains(
        message_of<ConfigError>([&] { (void)make_handed_task(inputs(bad), {}, *network); }),
        "not finite");
}

TEST(HandedTask, RefusesAModelThatNoMemoryHolds) {
    const auto network = make_memory_network(1, 1);
    HandedInputs huge{.objective = std::make_unique<HandedObjective>(1000000000000000, 3, 1),
                      .initial = {},
                      .description = "huge"};
    const auto message =
        message_of<DataError>([&] { (void)make_handed_task(std::move(huge), {}, *network); });
    expect_contains(message, "dimension: 1000000000000000 is too large here");
    expect_contains(message, "GiB");
}

TEST(HandedTask, RefusesAgentsThatBeginWithDifferentModels) {
    // Dimensions and records are alike; digests of models come last.
    int gathers = 0;
    fuzz::ScriptedNetwork network(2, 0, "", [&](int) {
        const std::string number = ++gathers == 1 ? "3 " : "40 ";
        return gathers <= 2 ? std::vector<std::string>(2, number)
                            : std::vector<std::string>{std::string(32, 'a'), std::string(32, 'b')};
    });
    expect_contains(message_of<DataError>([&] { (void)make_handed_task(inputs(), {}, network); }),
                    "the initial model of rank 1 is not that of rank 0");
}

}  // namespace
}  // namespace sotto
