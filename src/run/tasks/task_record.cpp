#include "run/tasks/task_record.hpp"

#include <algorithm>

namespace sotto {

bool TaskRecord::has_option(const std::string& option) const {
    return std::ranges::find(options, option) != options.end();
}

}  // namespace sotto
