#include "tasks/own_task.hpp"

#include <dlfcn.h>

#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(OwnTask, IsWhatANameOfALibrarySays) {
    for (const char* library : {"own.so", "./own.so", "folder/own", "/own"})
        EXPECT_TRUE(is_own_task(library)) << library;
    for (const std::string& name : task_names()) EXPECT_FALSE(is_own_task(name)) << name;
    EXPECT_FALSE(is_own_task("own.soft"));
}

TEST(OwnTask, SaysWhyAFileIsNone) {
    const test::TemporaryFolder folder;
    const std::string text = folder.write("text.so", "not a library");
    for (const std::string& path : {folder.path("none.so"), text}) {
        const auto message = message_of<ConfigError>([&] { (void)OwnTask(path); });
        expect_contains(message, path);
        expect_contains(message, "is not a shared library that can be loaded");
        TaskConfig config;
        config.task = path;
        EXPECT_EQ(message_of<ConfigError>([&] { (void)test::build(config, 2); }), message);
    }
    Dl_info loaded{};
    ASSERT_NE(::dladdr(::dlsym(RTLD_DEFAULT, "malloc"), &loaded), 0);
    expect_contains(message_of<ConfigError>([&] { (void)OwnTask(loaded.dli_fname); }),
                    "has no 'sotto_own_task_version'");
}

}  // namespace
}  // namespace sotto
