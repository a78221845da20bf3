#include "config/agent_path.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

bool is_pattern(std::string_view path) {
    return path.find_first_of("*?") != std::string_view::npos;
}

std::vector<std::string> matching_files(const std::string& pattern) {
    glob_t found{};
    const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
    std::vector<std::string> files;
    if (status == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    if (files.empty()) throw DataError(fmt::format("{}: no file matches", pattern));
    std::ranges::sort(files, [](const std::string& a, const std::string& b) {
        const int order = strverscmp(a.c_str(), b.c_str());
        return order != 0 ? order < 0 : a < b;
    });
    return files;
}

bool differs_by_agent(std::string_view path) {
    return path.find(agent_placeholder) != std::string_view::npos || is_pattern(path);
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
    if (is_pattern(whole)) {
        const std::vector<std::string> all = matching_files(whole);
        if (agent < 0 || std::cmp_greater_equal(agent, all.size()))
            throw DataError(fmt::format(
                "{}: matches {} file{} here, and agent {} has none (needed: one file for every "
                "agent on every host; where a host has only its own, name it with the agent's "
                "number and "
                "put %r in its place: site_%r.csv)",
                list,
                all.size(),
                all.size() == 1 ? "" : "s",
                agent));
        return {all[static_cast<std::size_t>(agent)]};
    }
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
