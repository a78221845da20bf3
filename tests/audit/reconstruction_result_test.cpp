#include "audit/reconstruction_result.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "audit/audit_report.hpp"
#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;

ReconstructionResult result_of_three() {
    const double infinity = std::numeric_limits<double>::infinity();
    ReconstructionResult result;
    result.attack = "reconstruction";
    result.mechanism = "pairs";
    result.view = "node:0";
    result.agents = 4;
    result.targets = {{1, 1, true, true, 1e-9, 0, 1e-8, true, false},
                      {2, 1, true, false, 0.2, 0.1, 0.6, false, false},
                      {3, 2, false, false, 0.7, infinity, 1, false, false}};
    result.estimates = Eigen::MatrixXd::Constant(3, 4, 0.5);
    result.truths = Eigen::MatrixXd::Ones(3, 4);
    return result;
}

TEST(ReconstructionResult, CountsWhatWasRecoveredAndWhatIsHidden) {
    const ReconstructionResult result = result_of_three();
    EXPECT_EQ(result.recovered(), 1);
    EXPECT_EQ(result.dimension(), 4);
    const Json json = Json::parse(audit_report_json(result));
    EXPECT_EQ(json.at("recovered"), 1);
    EXPECT_EQ(json.at("dimension"), 4);
    const Json& near = json.at("by_distance")[0];
    EXPECT_EQ(near.at("targets"), 2);
    EXPECT_EQ(near.at("identifiable"), 2);
    EXPECT_EQ(near.at("exact"), 1);
    EXPECT_EQ(near.at("recovered"), 1);
    EXPECT_EQ(near.at("relative_error_median"), 0.6);
    EXPECT_EQ(json.at("by_distance")[1].at("identifiable"), 0);
    EXPECT_EQ(json.at("targets")[1].at("ratio"), 2);
    EXPECT_TRUE(json.at("targets")[0].at("ratio").is_null());
    EXPECT_TRUE(json.at("targets")[2].at("cramer_rao").is_null());
    const std::string text = audit_report_text(result);
    expect_contains(text, "reconstructs the rows of 3 agents, 4 values each");
    expect_contains(text, "unbounded");
    expect_contains(text, "recovered to 10%: 1 of 3 rows");
}

TEST(ReconstructionResult, UnderLaplaceNoiseHasNoCramerRaoBound) {
    ReconstructionResult result = result_of_three();
    result.gaussian = false;
    const Json json = Json::parse(audit_report_json(result));
    EXPECT_TRUE(json.at("targets")[1].at("cramer_rao").is_null());
    EXPECT_EQ(json.at("targets")[1].at("linear_bound"), 0.1);
    expect_contains(audit_report_text(result), "best linear");
}

TEST(ReconstructionResult, LeavesAPictureOfImagesOnly) {
    const test::TemporaryFolder folder;
    for (const Eigen::Index image_rows : {0, 2}) {
        ReconstructionResult result = result_of_three();
        result.image_rows = image_rows;
        const std::filesystem::path path = folder.path(std::to_string(image_rows));
        std::filesystem::create_directories(path);
        result.write_files(RunDirectory::existing(path));
        EXPECT_EQ(read_npy(path / "reconstruction.npy"), result.estimates);
        EXPECT_EQ(std::filesystem::exists(path / "reconstruction.pgm"), image_rows > 0);
    }
}

}  // namespace
}  // namespace sotto
