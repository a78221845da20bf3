#include "tasks/named_task.hpp"

#include "tasks/kinds/table.hpp"
#include "tasks/own_task.hpp"

namespace sotto {

TaskRecord named_task(const std::string& name) {
    if (is_own_task(name)) return own_task(name);
    return tasks().find("task", name);
}

}  // namespace sotto
