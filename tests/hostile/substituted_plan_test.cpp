// Rank 0 solves the plan for all. One that protects an agent less than the agent's own options ask
// for, or that claims to be what it is not, must not be trained with.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "cli/program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

/// `sotto plan` for the agents and rounds of short_training.
void solve_plan(const TempDir& directory, const std::string& file, const Arguments& more) {
    Arguments arguments{
        "plan", "--agents", "3", "--topology", "complete", "--rounds", "20", "--out", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome planned = run_sotto(directory, one_process, arguments);
    ASSERT_EQ(planned.exit_code, 0) << planned.text();
}

void expect_refused_by_rank_1(const TempDir& directory,
                              const Arguments& rank_0,
                              const Arguments& others,
                              const std::string& reason) {
    const Outcome outcome =
        Process(disagreeing_command(short_training(rank_0), short_training(others)),
                directory.path())
            .wait();
    EXPECT_EQ(outcome.exit_code, 4) << outcome.text();
    const auto errors = error_lines(outcome.err);
    ASSERT_EQ(errors.size(), 1U) << outcome.text();
    EXPECT_NE(errors.front().find(reason), std::string::npos) << errors.front();
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "run/ledger.json"));
}

struct OtherMechanism {
    std::string sent, asked;
};

class PlanOfAnotherMechanism : public ::testing::TestWithParam<OtherMechanism> {};

TEST_P(PlanOfAnotherMechanism, IsRefused) {
    const TempDir directory;
    const auto& [sent, asked] = GetParam();
    expect_refused_by_rank_1(directory,
                             {"--mechanism", sent},
                             {"--mechanism", asked},
                             fmt::format("mechanism is '{}', asked for is '{}'", sent, asked));
}

INSTANTIATE_TEST_SUITE_P(OfRank0,
                         PlanOfAnotherMechanism,
                         ::testing::Values(OtherMechanism{"cdp", "ldp"},
                                           OtherMechanism{"corn", "decor"},
                                           OtherMechanism{"corn", "muffliato"},
                                           OtherMechanism{"corn", "anti-pgd"},
                                           OtherMechanism{"corn", "zip-dl"},
                                           OtherMechanism{"cdp", "corn"},
                                           OtherMechanism{"ldp", "pairs"}),
                         [](const auto& test) {
                             std::string name = test.param.sent + "_for_" + test.param.asked;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

struct FalseLabel {
    std::string name;
    std::string solved, asked;            ///< mechanisms: of the plan, and its label
    std::function<void(Json&)> change{};  ///< of the plan beside the label
    std::string reason{};
};

class PlanWithAFalseLabel : public ::testing::TestWithParam<FalseLabel> {};

TEST_P(PlanWithAFalseLabel, IsRefused) {
    const FalseLabel& wrong = GetParam();
    const TempDir directory;
    ASSERT_NO_FATAL_FAILURE(solve_plan(directory, "honest.json", {"--mechanism", wrong.solved}));
    Json plan = json_of(directory / "honest.json");
    plan["mechanism"] = wrong.asked;
    if (wrong.change) wrong.change(plan);
    (void)directory.write("false.json", plan.dump());
    expect_refused_by_rank_1(directory,
                             {"--mechanism", wrong.asked, "--plan", "false.json"},
                             {"--mechanism", wrong.asked},
                             wrong.reason);
}

INSTANTIATE_TEST_SUITE_P(
    OfRank0,
    PlanWithAFalseLabel,
    ::testing::Values(
        FalseLabel{"trusted_mean_as_ldp", "cdp", "ldp", {}, "aggregation is 'trusted-mean'"},
        FalseLabel{"common_seed_as_decor", "corn", "decor", {}, "lets agents 0,1,2 share a seed"},
        FalseLabel{
            "common_seed_as_muffliato", "corn", "muffliato", {}, "lets agents 0,1,2 share a seed"},
        FalseLabel{"common_seed_as_pairs",
                   "corn",
                   "pairs",
                   [](Json& plan) { plan["coalition_size"] = 1; },
                   "lets agents 0,1,2 share a seed"},
        FalseLabel{"pair_seeds_as_ldp", "decor", "ldp", {}, "share a seed"},
        FalseLabel{"private_seed_known_to_rank_0",
                   "ldp",
                   "ldp",
                   [](Json& plan) {
                       plan["seed_groups"][1] = {0, 1};
                   },
                   "lets agents 0,1 share a seed"},
        FalseLabel{"gaussian_as_laplace", "zip-dl", "laplace", {}, "distribution is 'gaussian'"},
        FalseLabel{
            "noise_on_gradients_as_noise_on_messages", "ldp", "zip-dl", {}, "entry is 'gradient'"},
        FalseLabel{"grid_switched_off",
                   "ldp",
                   "ldp",
                   [](Json& plan) { plan["grid_step_log2"] = -1000; },
                   "grid_step_log2 is -1000"},
        FalseLabel{
            "grid_of_messages_too_fine",
            "laplace",
            "laplace",
            [](Json& plan) { plan["grid_step_log2"] = plan["grid_step_log2"].get<int>() - 9; },
            "is too fine"}),
    [](const auto& test) { return test.param.name; });

TEST(PlanOfRank0, ForFewerColludersThanAskedIsRefused) {
    const TempDir directory;
    expect_refused_by_rank_1(directory,
                             {"--mechanism", "pairs", "--coalition-size", "0"},
                             {"--mechanism", "pairs", "--coalition-size", "1"},
                             "does not protect agent 1");
}

TEST(PlanOfRank0, ThatIsNotTheFileOfTheOthersIsRefused) {
    const TempDir directory;
    for (const auto& [file, epsilon] : {std::pair("quiet.json", "10"), {"loud.json", "5"}})
        ASSERT_NO_FATAL_FAILURE(
            solve_plan(directory, file, {"--mechanism", "ldp", "--epsilon", epsilon}));
    expect_refused_by_rank_1(directory,
                             {"--plan", "quiet.json", "--epsilon", "20"},
                             {"--plan", "loud.json", "--epsilon", "20"},
                             "scale is");
}

TEST(PlanOfRank0, AsAskedForIsTrainedWith) {
    const TempDir directory;
    const Outcome outcome =
        Process(
            disagreeing_command(short_training({"--mechanism", "pairs"}),
                                short_training({"--mechanism", "pairs", "--coalition-size", "1"})),
            directory.path())
            .wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
}

}  // namespace
}  // namespace sotto::test
