#include "commands/sweep/sweep_report.hpp"

#include <gtest/gtest.h>

#include "commands/sweep/sweep_fixtures.hpp"
#include "core/gnuplot.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::row;
using test::TemporaryFolder;

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

TEST(SweepTables, ShowTheDrawnOptionAlways) {
    SweepConfig config;
    config.variants = {{"all", {{"epsilon", {"3"}}}}};
    SweepResult result;
    result.cells = sweep_cells(config);
    result.results.resize(1);
    EXPECT_EQ(cells_csv(config, result).find("variant,epsilon,"), std::string::npos);
    config.plot = "epsilon";
    result.cells = sweep_cells(config);
    EXPECT_EQ(cells_csv(config, result).find("variant,epsilon,"), 0U);
}

TEST(SweepTables, QuoteWhatCommasWouldCut) {
    SweepConfig config;
    config.variants = {{"corn, horizon \"200\"", {{"mechanism", {"corn"}}}}};
    SweepResult result;
    result.cells = sweep_cells(config);
    result.results.resize(1);
    result.results[0].candidate = 0;
    result.results[0].test = {row(0.5)};
    expect_contains(cells_csv(config, result), "\n\"corn, horizon \"\"200\"\"\",no,1,1,0,0,0.5,,");
    expect_contains(trainings_csv(config, result),
                    "\n\"corn, horizon \"\"200\"\"\",,test,done,0.5");
}

TEST(SweepPicture, HasALineAVariantOverTheOptionDrawn) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const TemporaryFolder folder;
    SweepConfig config;
    config.directory = folder.path("");
    config.variants = {{"loud", {{"mechanism", {"ldp"}}, {"epsilon", {"1", "10"}}}},
                       {"quiet", {{"mechanism", {"none"}}, {"epsilon", {"1", "10"}}}}};
    config.plot = "epsilon";
    SweepResult result;
    result.cells = sweep_cells(config);
    result.results.resize(result.cells.size());
    EXPECT_EQ(draw_sweep(config, result), "") << "nothing is measured";
    for (std::size_t c = 0; c < result.results.size(); ++c)
        result.results[c].test = {row(static_cast<double>(c) + 1), row(static_cast<double>(c) + 2)};
    const std::string path = draw_sweep(config, result);
    EXPECT_EQ(path, (config.directory / "results.svg").string());
    const std::string picture = read_file(path);
    for (const char* mark : {">1<", ">10<"}) test::expect_contains(picture, mark);
    for (const char* text : {"<svg", "loud", "quiet", "epsilon", "test_loss"})
        test::expect_contains(picture, text);
}

TEST(SweepPicture, NamesCurvesByWhatTellsThemApart) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const TemporaryFolder folder;
    SweepConfig config;
    config.directory = folder.path("");
    config.variants = {
        {"all",
         {{"mechanism", {"ldp", "corn"}}, {"clip-norm", {"1", "2"}}, {"epsilon", {"1", "10"}}}}};
    config.plot = "epsilon";
    SweepResult result;
    result.cells = sweep_cells(config);
    result.results.resize(result.cells.size());
    for (CellResult& cell : result.results) cell.test = {row(1), row(2)};
    const std::string picture = read_file(draw_sweep(config, result));
    for (const char* name : {">ldp: clip-norm 1<", ">corn: clip-norm 2<"})
        test::expect_contains(picture, name);
    EXPECT_EQ(picture.find("mechanism"), std::string::npos);
    // Those of one mechanism have its colour: ldp's and corn's.
    for (const char* colour : {"213,  94,   0", "  0, 114, 178"})
        test::expect_contains(picture, colour);
}

TEST(SweepPicture, MarksTheAxisAtTheOnlyValue) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const TemporaryFolder folder;
    SweepConfig config;
    config.directory = folder.path("");
    config.variants = {{"quiet", {{"mechanism", {"none"}}, {"coalition-size", {"0"}}}}};
    config.plot = "coalition-size";
    SweepResult result;
    result.cells = sweep_cells(config);
    result.results.resize(1);
    result.results[0].test = {row(31), row(33)};
    const std::string picture = read_file(draw_sweep(config, result));
    test::expect_contains(picture, ">0<");
    for (const char* text : {"> -1<", ">-1<", "> 1<", "> 0.5<"})
        EXPECT_EQ(picture.find(text), std::string::npos) << text;
}

}  // namespace
}  // namespace sotto
