#include "commands/sweep/sweep_report.hpp"

#include <gtest/gtest.h>

#include "commands/sweep/sweep_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::row;

SweepConfig config_of_two() {
    SweepConfig config;
    config.directory = "out";
    config.variants = {{"pairs", {{"mechanism", {"pairs"}}, {"step-size", {"0.1", "0.2"}}}},
                       {"none", {{"mechanism", {"none"}}, {"step-size", {"0.1"}}}}};
    return config;
}

SweepResult result_of(const SweepConfig& config) {
    SweepResult result;
    result.cells = sweep_cells(config);
    result.results.resize(result.cells.size());
    result.results[0].candidate = 1;
    result.results[0].at_edge = true;
    result.results[0].test = {row(1), row(2)};
    result.trainings = 6;
    result.done = 4;
    return result;
}

TEST(SweepReport, SaysWhatWasMeasuredAndChosen) {
    const SweepConfig config = config_of_two();
    SweepResult result = result_of(config);
    std::string text = sweep_report_text(config, result);
    expect_contains(text, "1.5 ± 6.4  step-size 0.2 (at the edge of what was tried)");
    expect_contains(text, "missing");
    expect_contains(text, "6 trainings: 4 done");
    EXPECT_EQ(text.find("picture"), std::string::npos);
    EXPECT_EQ(text.find("INTERRUPTED"), std::string::npos);

    result.results[1].test = {row(1), row(2)};
    result.results[1].test[0].outcome->status = SweepOutcome::Status::failed;
    result.picture = "out/results.svg";
    result.interrupted = true;
    text = sweep_report_text(config, result);
    expect_contains(text, "failed");
    expect_contains(text, "picture    out/results.svg");
    expect_contains(text, "INTERRUPTED");
    result.results[1].test[1].outcome->status = SweepOutcome::Status::diverged;
    expect_contains(sweep_report_text(config, result), "diverged");
}

TEST(SweepReport, SaysWhatAllTrainingsHaveRevealedTogether) {
    const SweepConfig config = config_of_two();
    SweepResult result = result_of(config);
    result.privacy = SweepPrivacy{6, PrivacyLoss::gaussian(1), 4.25, 1e-5};
    expect_contains(sweep_report_text(config, result),
                    "privacy    6 trainings together: epsilon 4.25 at delta 1e-05 (sotto ledger");
    EXPECT_EQ(Json::parse(sweep_report_json(config, result)).at("privacy").at("epsilon"), 4.25);
    result.privacy.reset();
    result.privacy_problem = "their losses do not add up";
    expect_contains(sweep_report_text(config, result), "privacy    their losses do not add up\n");
}

TEST(SweepReport, IsOneJsonObject) {
    const SweepConfig config = config_of_two();
    const Json json = Json::parse(sweep_report_json(config, result_of(config)));
    EXPECT_EQ(json.at("cells"), 2);
    EXPECT_EQ(json.at("trainings"), 6);
    EXPECT_EQ(json.at("results"), "out/results.csv");
    EXPECT_EQ(json.at("runs"), "out/runs.csv");
    EXPECT_TRUE(json.at("picture").is_null());
}

}  // namespace
}  // namespace sotto
