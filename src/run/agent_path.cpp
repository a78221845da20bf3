#include "run/agent_path.hpp"

namespace sotto {

bool differs_by_agent(std::string_view path) {
    return path.find(agent_placeholder) != std::string_view::npos;
}

std::string path_of_agent(std::string path, int agent) {
    const std::string number = std::to_string(agent);
    for (std::size_t at = path.find(agent_placeholder); at != std::string::npos;
         at = path.find(agent_placeholder, at + number.size()))
        path.replace(at, agent_placeholder.size(), number);
    return path;
}

}  // namespace sotto
