#include "commands/sweep/sweep_picture.hpp"

#include <gtest/gtest.h>

#include "commands/sweep/sweep_fixtures.hpp"
#include "core/gnuplot.hpp"

namespace sotto {
namespace {

using test::row;
using test::TemporaryFolder;

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
    for (const char* text : {"<svg", "loud", "quiet", "epsilon", "test_loss"})
        test::expect_contains(picture, text);
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
