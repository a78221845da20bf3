#include "run/agent_path.hpp"

#include <filesystem>
#include <system_error>

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

std::vector<std::string> listed_files(const std::string& list, int agent) {
    const std::string whole = path_of_agent(list, agent);
    std::error_code missing;
    if (std::filesystem::is_regular_file(whole, missing)) return {whole};
    std::vector<std::string> files(1);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (whole[i] == ',')
            files.emplace_back();
        else if (whole[i] == '\\' && i + 1 < whole.size() && whole[i + 1] == ',')
            files.back() += whole[++i];
        else
            files.back() += whole[i];
    }
    return files;
}

}  // namespace sotto
