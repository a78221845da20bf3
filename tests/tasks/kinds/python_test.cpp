#include "tasks/kinds/python.hpp"

#include "tasks/task_fixtures.hpp"

namespace sotto {
namespace {

TEST(PythonTask, SaysWhereItsGradientsComeFrom) {
    TaskConfig config;
    config.task = python_task_name;
    test::expect_contains(test::message_of<ConfigError>([&] { (void)test::build(config, 2); }),
                          "task: python has its gradients from a Python program");
}

}  // namespace
}  // namespace sotto
