#include "core/output.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "core/temporary_folder.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path) { return {std::fopen(path.c_str(), "w"), std::fclose}; }

TEST(Output, ArrivesOrIsMissed) {
    const test::TemporaryFolder folder;
    const File good = open_file(folder.path("a"));
    say(good.get(), "{} of {}\n", 2, 3);
    require_written(good.get(), "a");
    EXPECT_EQ(read_file(folder.path("a")), "2 of 3\n");

    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{100'000}}) {  // of a buffer, and more than it holds
        const File full = open_file("/dev/full");
        ASSERT_TRUE(full);
        say(full.get(), "{}", std::string(bytes, 'x'));
        try {
            require_written(full.get(), "standard output");
            ADD_FAILURE() << bytes;
        } catch (const Error& error) {
            EXPECT_EQ(error.exit_code(), ExitCode::storage) << bytes;
            EXPECT_EQ(std::string(error.what()),
                      "standard output: cannot be written (No space left on device); make room, or "
                      "write to a file elsewhere");
        }
    }
}

TEST(Output, ThatWasLostOnTheWayIsMissedAtTheEnd) {
    const File full = open_file("/dev/full");
    ASSERT_TRUE(full);
    std::setvbuf(full.get(), nullptr, _IONBF, 0);
    say(full.get(), "lost\n");  // nothing is left that could fail again
    EXPECT_THROW(require_written(full.get(), "standard output"), Error);
}

}  // namespace
}  // namespace sotto
