#include "commands/sweep/sweep_tables.hpp"

#include <gtest/gtest.h>

#include "commands/sweep/sweep_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::row;

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

}  // namespace
}  // namespace sotto
