#include "commands/compare/compare_command.hpp"

#include <gtest/gtest.h>

#include "config/run_fixtures.hpp"
#include "core/files.hpp"
#include "core/gnuplot.hpp"
#include "core/numbers.hpp"
#include "core/temporary_folder.hpp"

namespace sotto {
namespace {

using test::expect_contains;

std::vector<ComparedFigures> some_figures() {
    std::vector<ComparedFigures> figures{
        {"ldp", 1, 2.5, 10, 10, {}},
        {"corn", 0.125, 2, 10, infinity, {}},
        {"R.npy", not_a_number, not_a_number, not_a_number, not_a_number, "covariance: no"}};
    figures[1].loss = SweepMean{0.5, 0.01};
    figures[1].accuracy = SweepMean{0.75, not_a_number};
    figures[1].step_size = "0.2";
    return figures;
}

TEST(Comparison, SaysTheSameInATextATableAndJson) {
    const std::string text = comparison_text(some_figures());
    expect_contains(text, "infinite");
    expect_contains(text, "0.5 +- 0.01");
    expect_contains(text, "R.npy      covariance: no\n");
    EXPECT_EQ(comparison_csv(some_figures()),
              "mechanism,noise_of_ldp,noise_std,epsilon_outsider,epsilon_curious,test_accuracy,"
              "test_loss,step_size\n"
              "ldp,1,2.5,10,10,,,\n"
              "corn,0.125,2,10,infinite,0.75,0.5,0.2\n"
              "R.npy,,,,,,,\n");
    const auto json = comparison_json(some_figures());
    EXPECT_EQ(json[1]["curious_infinite"], true);
    EXPECT_TRUE(json[1]["epsilon_curious"].is_null());
    EXPECT_EQ(json[1]["test_loss"]["mean"], 0.5);
    EXPECT_EQ(json[2]["problem"], "covariance: no");
}

TEST(Comparison, IsDrawn) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const test::TemporaryFolder folder;
    EXPECT_EQ(draw_comparison(folder.path(""), {}), "") << "nothing to draw";
    ComparedFigures trained{"ldp", not_a_number, not_a_number, not_a_number, not_a_number, {}};
    EXPECT_EQ(draw_comparison(folder.path(""), {trained}), "") << "its plan is not known";
    trained.accuracy = SweepMean{0.75, 0.01};
    expect_contains(read_file(draw_comparison(folder.path(""), {trained})), "Test accuracy");
    const std::string picture = read_file(draw_comparison(folder.path(""), some_figures()));
    for (const char* part :
         {"<svg", "ldp", "corn", "infinite", "outsider", "one agent", "accuracy"})
        expect_contains(picture, part);
    EXPECT_EQ(picture.find("R.npy"), std::string::npos);
}

TEST(Comparison, NamesTheOutsiderAlsoWhereOneAgentIsNotComputed) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const test::TemporaryFolder folder;
    std::vector<ComparedFigures> figures = some_figures();
    for (ComparedFigures& row : figures) row.curious = not_a_number;
    const std::string picture = read_file(draw_comparison(folder.path(""), figures));
    expect_contains(picture, "outsider");
    EXPECT_EQ(picture.find("one agent"), std::string::npos);
}

TEST(Comparison, IsDrawnWithLongLabelsInLines) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const test::TemporaryFolder folder;
    std::vector<ComparedFigures> figures = some_figures();
    figures[0].label = "pairs+coalition-size=2";
    const std::string picture = read_file(draw_comparison(folder.path(""), figures));
    expect_contains(picture, ">pairs<");
    expect_contains(picture, "+coalition-size=2<");
}

}  // namespace
}  // namespace sotto
