#include "run/named_task.hpp"

#include "run/own_task.hpp"
#include "run/tasks/table.hpp"

namespace sotto {

TaskRecord named_task(const std::string& name) {
    if (is_own_task(name)) return own_task(name);
    return tasks().find("task", name);
}

}  // namespace sotto
