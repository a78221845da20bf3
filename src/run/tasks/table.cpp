#include "run/tasks/table.hpp"

#include <algorithm>

#include "run/tasks/averaging.hpp"
#include "run/tasks/cnn.hpp"
#include "run/tasks/logistic.hpp"
#include "run/tasks/mlp.hpp"
#include "run/tasks/python.hpp"
#include "run/tasks/quadratic.hpp"
#include "run/tasks/softmax.hpp"

namespace sotto {

Registry<TaskRecord>& tasks() {
    static Registry<TaskRecord> table("task",
                                      {quadratic_task(),
                                       logistic_task(),
                                       softmax_task(),
                                       mlp_task(),
                                       cnn_task(),
                                       averaging_task(),
                                       python_task()});
    return table;
}

std::vector<std::string> task_names_where(const std::function<bool(const TaskRecord&)>& holds) {
    std::vector<std::string> names;
    for (const TaskRecord& task : tasks().records())
        if (holds(task)) names.push_back(task.name);
    return names;
}

}  // namespace sotto
