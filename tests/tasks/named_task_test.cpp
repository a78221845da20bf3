#include "tasks/named_task.hpp"

#include "sotto/core/error.hpp"
#include "tasks/kinds/table.hpp"
#include "tasks/task_fixtures.hpp"

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
