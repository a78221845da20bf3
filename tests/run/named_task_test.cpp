#include "run/named_task.hpp"

#include "run/task_fixtures.hpp"
#include "run/tasks/table.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

TEST(NamedTask, IsOneOfTheTableOrALibrary) {
    for (const std::string& name : task_names()) EXPECT_EQ(named_task(name).name, name);
    EXPECT_TRUE(named_task("folder/own.so").build);
    expect_contains(message_of<ConfigError>([] { (void)named_task("sofmax"); }), "softmax");
}

}  // namespace
}  // namespace sotto
