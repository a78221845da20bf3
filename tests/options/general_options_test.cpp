#include "options/general_options.hpp"

#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

TEST(GeneralOptionsOfACommand, StandBehindItsOwn) {
    const auto groups = with_general({{"Own", {}}});
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[1].title, "General");
    for (const char* name : {"config", "json", "quiet", "help"})
        EXPECT_NE(find_option(groups, name), nullptr) << name;
}

TEST(ReportStream, LeavesStandardOutputToTheJsonObject) {
    EXPECT_EQ(report_stream(read_general({})), stdout);
    EXPECT_EQ(report_stream(read_general({{"json", "file"}})), stdout);
    EXPECT_EQ(report_stream(read_general({{"json", "-"}})), stderr);
    EXPECT_EQ(report_stream(read_general({{"json", "-"}, {"quiet", "true"}})), nullptr);
}

TEST(JsonObject, GoesToItsFile) {
    const TemporaryFolder folder;
    const std::string file = folder.path("out.json");
    const GeneralOptions options = read_general({{"json", file}});
    require_json_writable(options);
    write_json(options, "{}\n");
    EXPECT_EQ(read_file(file), "{}\n");
    write_json(read_general({}), "nowhere");
}

TEST(JsonObject, IsRefusedEarlyWhereItCannotBeWritten) {
    const TemporaryFolder folder;
    const GeneralOptions options = read_general({{"json", folder.path("none/out.json")}});
    EXPECT_THROW(require_json_writable(options), ConfigError);
    EXPECT_NO_THROW(require_json_writable(read_general({{"json", "-"}})));
}

}  // namespace
}  // namespace sotto
