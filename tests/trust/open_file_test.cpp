#include "trust/open_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

TEST(OpenFile, ClosesItselfOnceWhoeverHoldsItLast) {
    int descriptor = -1;
    {
        OpenFile file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        descriptor = file.get();
        EXPECT_TRUE(file.open());
        {
            const OpenFile moved(std::move(file));
            EXPECT_EQ(moved.get(), descriptor);
        }
        EXPECT_FALSE(is_open(descriptor));
    }
    EXPECT_FALSE(is_open(descriptor));
    EXPECT_FALSE(OpenFile(-1).open());
}

TEST(Unwritable, NamesThePathAndTheReason) {
    EXPECT_EQ(test::message_of<ConfigError>([] { throw_unwritable("some/file", EACCES); }),
              "some/file: cannot be written (Permission denied)");
}

}  // namespace
}  // namespace sotto
