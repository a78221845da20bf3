#include "commands/cli/exit_codes.hpp"

#include <fmt/format.h>

#include "config/run_fixtures.hpp"
#include "core/files.hpp"

namespace sotto::cli {
namespace {

using test::expect_contains;

TEST(ExitCodes, AreAllTheProgramHasOnceAndAscending) {
    int expected = 0;
    for (const ExitCodeRecord& record : exit_codes())
        EXPECT_EQ(static_cast<int>(record.code), expected++);
    EXPECT_EQ(expected, static_cast<int>(ExitCode::storage) + 1);
}

TEST(ExitCodes, AreListedInOneLineForTheHelp) {
    expect_contains(exit_code_list(), "0 done, 1 other, 2 usage or configuration, 3 data, 4 ");
    EXPECT_TRUE(exit_code_list().ends_with(", 9 disk full or failing"));
}

TEST(ExitCodes, AreTheTableOfTheDocumentation) {
    const std::string page = read_file(SOTTO_SOURCE_DIR "/docs/cli.md");
    for (const ExitCodeRecord& record : exit_codes())
        expect_contains(page,
                        fmt::format("\n| {} | {} |{}{} |\n",
                                    static_cast<int>(record.code),
                                    record.meaning,
                                    record.helps.empty() ? "" : " ",
                                    record.helps));
}

}  // namespace
}  // namespace sotto::cli
