#include "tasks/kinds/python.hpp"

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

LocalTask refuse_python(const TaskConfig&, Network& network, const Membership&) {
    network.agree([] {
        throw ConfigError(
            "task: python has its gradients from a Python program, which makes its agents itself "
            "(sotto.Agent, also with resume=DIRECTORY; docs/python.md)");
    });
    return {};
}

}  // namespace

TaskRecord python_task() {
    return {.name = python_task_name,
            .summary = "whatever a Python program computes (sotto.Agent)",
            .build = refuse_python};
}

}  // namespace sotto
