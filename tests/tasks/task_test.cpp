#include "tasks/task.hpp"

#include <dlfcn.h>

#include "core/numbers.hpp"
#include "learn/quadratic.hpp"
#include "sotto/core/error.hpp"
#include "tasks/task_fixtures.hpp"
#include "tasks/task_table.hpp"

namespace sotto {
namespace {

using test::build;
using test::expect_contains;
using test::message_of;

TEST(Task, SuggestsTheTaskThatWasMeant) {
    TaskConfig config;
    config.task = "logistik";
    const auto message = message_of<ConfigError>([&] { (void)build(config, 2); });
    expect_contains(message, "logistik");
    expect_contains(message, "did you mean");
    expect_contains(message, "logistic");
    EXPECT_EQ(task_names(),
              (std::vector<std::string>{
                  "quadratic", "logistic", "softmax", "mlp", "cnn", "averaging", "python"}));
}

TEST(Task, KnowsTheRecordsOfEveryAgentAndOneStart) {
    const test::TemporaryFolder folder;
    const TaskConfig config =
        test::on(folder.write("data.txt", test::records_with_own_feature(101)));
    const LocalTask task = build(config, 3);
    ASSERT_EQ(task.records.size(), 3U);
    for (std::size_t a = 0; a < 3; ++a) {
        EXPECT_EQ(task.records[a], task.objectives[a]->records());
        EXPECT_EQ(task.objectives[a]->dimension(), task.initial.size());
        EXPECT_EQ(task.objectives[a]->initial_model(config.seed), task.initial);
    }
}

TEST(Task, HasFixedInputsWhereItsRecordSaysSo) {
    for (const std::string& name : task_names()) {
        TaskConfig config;
        config.task = name;
        EXPECT_EQ(has_fixed_inputs(config), tasks().find("task", name).fixed_inputs) << name;
    }
    TaskConfig config;
    config.task = "averaging";
    EXPECT_TRUE(build(config, 2).fixed_inputs);
    config.task = "quadratic";
    EXPECT_FALSE(build(config, 2).fixed_inputs);
    config.task = "./own.so";
    EXPECT_FALSE(has_fixed_inputs(config));
}

TEST(NamedTask, IsOneOfTheTableOrALibrary) {
    for (const std::string& name : task_names()) EXPECT_EQ(named_task(name).name, name);
    EXPECT_TRUE(named_task("folder/own.so").build);
    expect_contains(message_of<ConfigError>([] { (void)named_task("sofmax"); }), "softmax");
}

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
