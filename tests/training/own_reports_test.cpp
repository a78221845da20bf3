#include "training/own_reports.hpp"

#include <fmt/format.h>

#include "sotto/core/numbers.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::Json;
using test::quadratic_config;
using test::TemporaryFolder;
using test::train;

TEST(OwnReport, SaysWhatWasCounted) {
    const Json json = Json::parse(to_json(AgentReport{2, 30, 4}));
    EXPECT_EQ(json["gradients_set_to_zero"], 2);
    EXPECT_EQ(json["records_set_to_zero"], 30);
    EXPECT_EQ(json["messages_limited"], 4);
}

TEST(OwnReport, IsWrittenForItsOwnerWhateverItSaysAndIsInNoOtherFile) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(3, "ldp", 5);
    config.run_directory = folder.path("run");
    const TrainResult result = train(config);
    EXPECT_EQ(result.own_reports, "");
    for (int agent = 0; agent < 3; ++agent) {
        const std::string file = folder.path(fmt::format("run/agents/{}/report.json", agent));
        EXPECT_EQ(test::read_json(file)["messages_limited"], 0);
        EXPECT_EQ(std::filesystem::status(file).permissions() & std::filesystem::perms::all,
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    EXPECT_EQ(read_file(folder.path("run/summary.json")).find("limited"), std::string::npos);
}

}  // namespace
}  // namespace sotto
