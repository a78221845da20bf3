#include "tasks/kinds/table.hpp"

#include <algorithm>

#include "tasks/kinds/averaging.hpp"
#include "tasks/kinds/cnn.hpp"
#include "tasks/kinds/logistic.hpp"
#include "tasks/kinds/mlp.hpp"
#include "tasks/kinds/python.hpp"
#include "tasks/kinds/quadratic.hpp"
#include "tasks/kinds/softmax.hpp"

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
