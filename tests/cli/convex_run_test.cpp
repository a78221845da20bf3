// A training with --feature-norm as its users run it: what it claims, and what account believes.

#include "program.hpp"

namespace sotto::test {
namespace {

using Json = nlohmann::json;

Arguments convex_training(const std::string& directory, const Arguments& more) {
    Arguments arguments{
        "train", "--task",          "logistic", "--data",          "synthetic", "--topology",
        "ring",  "--mechanism",     "ldp",      "--adjacency",     "record",    "--rounds",
        "20",    "--participation", "every",    "--batch-size",    "all",       "--clip-norm",
        "1",     "--view",          "node:0",   "--run-directory", directory};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

Json account_of(const TempDir& directory, const Arguments& more) {
    Arguments arguments{"account", "--run", "run", "--view", "node:0", "--json", "a.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run_sotto(directory, one_process, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return json_of(directory / "a.json");
}

TEST(ConvexTraining, HasBoundsOfPartialViewsThatAccountFindsInItsLedger) {
    const TempDir directory;
    const Outcome trained = run_sotto(
        directory, 6, convex_training("run", {"--feature-norm", "2", "--step-size", "2"}));
    ASSERT_EQ(trained.exit_code, 0) << trained.text();
    const Json ledger = json_of(directory / "run/ledger.json");
    EXPECT_EQ(ledger.at("convex"),
              (Json{{"feature_norm", 2.0},
                    {"smoothness", 1.0},
                    {"l2", 0.0},
                    {"largest_step", 2.0},
                    {"most_step", 2.0}}));
    const Json view = ledger.at("views").at(0);
    EXPECT_EQ(view.at("argument"), "bound: convex and smooth losses");
    EXPECT_NEAR(view.at("epsilon"), ledger.at("headline").at("epsilon"), 1e-6);
    EXPECT_LT(view.at("mean_epsilon"), 0.7 * view.at("epsilon").get<double>());
    for (const Arguments& how : {Arguments{}, Arguments{"--inputs", "convex"}}) {
        const Json account = account_of(directory, how);
        EXPECT_NEAR(account.at("mean_epsilon"), view.at("mean_epsilon"), 1e-3);
        for (const Json& pair : account.at("pairs"))
            EXPECT_EQ(pair.at("argument"), "bound: convex and smooth losses");
        // From the neighbour, whose messages are seen, down.
        EXPECT_NEAR(account.at("by_distance").at(0).at("max"), view.at("epsilon"), 1e-6);
        EXPECT_LT(account.at("by_distance").at(2).at("max"),
                  0.6 * account.at("by_distance").at(0).at("max").get<double>());
    }
    EXPECT_EQ(account_of(directory, {"--inputs", "adaptive"}).at("pairs").at(0).at("argument"),
              "non-adaptive ([U] Theorem 8)");
}

TEST(ConvexTraining, IsRefusedWhereItCannotKeepItsWord) {
    const TempDir directory;
    expect_refused(directory,
                   convex_training("run", {"--feature-norm", "2", "--step-size", "2.01"}),
                   2,
                   "allowed in every round: up to 2,");
    const Outcome trained =
        run_sotto(directory, one_process, convex_training("run", {"--step-size", "2"}));
    ASSERT_EQ(trained.exit_code, 0) << trained.text();
    expect_refused(directory,
                   {"account", "--run", "run", "--view", "node:0", "--inputs", "convex"},
                   2,
                   "train with --feature-norm R");
}

}  // namespace
}  // namespace sotto::test
