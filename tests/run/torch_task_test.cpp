#include "run/torch_task.hpp"

#include "run/record_task.hpp"
#include "run/task_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::message_of;
using test::on;
using test::TemporaryFolder;

// With libtorch: tests/learn/torch and tests/cli/torch_task_test.cpp.

TEST(TorchTask, IsWhatTheEndingOfAFileSays) {
    for (const char* file : {"model.pt", "./model.pt", "/a/model.pt"})
        EXPECT_TRUE(is_torch_task(file)) << file;
    for (const std::string& name : task_names()) EXPECT_FALSE(is_torch_task(name)) << name;
    for (const char* other : {"model.so", "model.pt.so", "model.ptx", "pt"})
        EXPECT_FALSE(is_torch_task(other)) << other;
}

TEST(TorchTask, LooksForItsPluginBesideTheProgramAndWhereItIsInstalled) {
    const auto places = torch_plugin_places("/opt/sotto/bin/sotto");
    ASSERT_EQ(places.size(), 2U);
    EXPECT_EQ(places[0], "/opt/sotto/bin/sotto_torch.so");
    EXPECT_TRUE(places[1].string().starts_with("/opt/sotto/lib")) << places[1];
    EXPECT_TRUE(places[1].string().ends_with("/sotto/sotto_torch.so")) << places[1];
}

TEST(TorchTask, SaysWhatToInstallWhereThePluginIsNotThere) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("data.txt", test::records_with_own_feature(20)));
    config.task = folder.write("model.pt", "a module");
    // The plugin stands beside the program sotto, not beside this test.
    const auto message = message_of<ConfigError>([&] { (void)build(config, 2); });
    expect_contains(message, "needs the plugin sotto_torch.so, which is not there");
    expect_contains(message, "deploy/install torch");
}

TEST(TorchTask, RefusesAFileThatIsMissingAndOptionsOfOtherTasks) {
    const TemporaryFolder folder;
    TaskConfig config = on(folder.write("data.txt", test::records_with_own_feature(20)));
    config.task = folder.path("none.pt");
    expect_contains(message_of<ConfigError>([&] { (void)build(config, 2); }),
                    "none.pt is not there, or no file");
    config.hidden = 5;
    expect_contains(message_of<ConfigError>([&] { require_options_fit(config); }),
                    "has no hidden layer");
}

}  // namespace
}  // namespace sotto
