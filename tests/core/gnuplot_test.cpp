#include "core/gnuplot.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"

namespace sotto {
namespace {

TEST(Gnuplot, QuotesAnyText) {
    EXPECT_EQ(quoted_for_gnuplot("it's `a` \"b\" \\n"), "'it''s `a` \"b\" \\n'");
    EXPECT_EQ(quoted_for_gnuplot(""), "''");
    EXPECT_EQ(quoted_for_gnuplot("a\nb"), "'a'.\"\\n\".'b'") << "a script's line ends a text";
}

TEST(Gnuplot, IsLookedForInThePathAndItsFailureIsReported) {
    const test::TemporaryFolder folder;
    const std::string before = std::getenv("PATH");
    ::setenv("PATH", folder.path("").c_str(), 1);
    EXPECT_FALSE(has_gnuplot());
    EXPECT_FALSE(draw_with_gnuplot("plot x\n"));
    const std::string program = folder.path("gnuplot");
    for (const int status : {0, 3}) {
        std::ofstream(program) << "#!/bin/sh\nwhile read -r line; do last=$line; done\n"
                                  "[ \"$last\" = \"plot x\" ] && exit "
                               << status << "\nexit 1\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        EXPECT_TRUE(has_gnuplot());
        EXPECT_EQ(draw_with_gnuplot("plot x\n"), status == 0);
    }
    ::setenv("PATH", before.c_str(), 1);
}

TEST(Gnuplot, DrawsAPicture) {
    if (!has_gnuplot()) GTEST_SKIP() << "gnuplot is not installed";
    const test::TemporaryFolder folder;
    const std::string picture = folder.path("it's.svg");
    EXPECT_TRUE(draw_with_gnuplot("set terminal svg\nset output " + quoted_for_gnuplot(picture) +
                                  "\nplot x\n"));
    EXPECT_TRUE(test::contains(read_file(picture), "<svg"));
    EXPECT_FALSE(draw_with_gnuplot("no command of gnuplot\n"));
}

}  // namespace
}  // namespace sotto
