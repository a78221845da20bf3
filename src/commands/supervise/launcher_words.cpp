#include "commands/supervise/launcher_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/text_input.hpp"

namespace sotto::cli {

namespace {

using Words = std::vector<std::string>;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, word) != names.end();
}

std::optional<int> whole_number(const std::string& text) {
    int number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// A parameter of Open MPI, from the words or the environment.
void take_parameter(LauncherWords& words, const std::string& name, const std::string& value) {
    if (name == "plm_rsh_agent") words.remote_shell = value;
    if (name == "plm_rsh_args") words.remote_shell_options = value;
    // mpirun says what is wrong with it.
    if (name == "odls_base_sigkill_timeout") words.kill_seconds = whole_number(value).value_or(1);
    if (name == "btl_tcp_if_include" || name == "btl_tcp_if_exclude") words.names_network = true;
}

void take_environment(LauncherWords& words) {
    for (const char* name : {"plm_rsh_agent",
                             "plm_rsh_args",
                             "odls_base_sigkill_timeout",
                             "btl_tcp_if_include",
                             "btl_tcp_if_exclude"})
        if (const char* value = std::getenv(("OMPI_MCA_" + std::string(name)).c_str()))
            take_parameter(words, name, value);
}

/// One option of the launcher with what belongs to it. @return how many words that are.
std::size_t take_option(LauncherWords& words, const Words& all, std::size_t at) {
    const std::string& word = all[at];
    const std::size_t left = all.size() - at - 1;
    if (is_one_of(word, {"--mca", "-mca"}) && left >= 2) {
        take_parameter(words, all[at + 1], all[at + 2]);
        words.launcher.insert(words.launcher.end(), {word, all[at + 1], all[at + 2]});
        return 3;
    }
    if (left == 0 || !is_one_of(word,
                                {"-n",
                                 "-np",
                                 "--n",
                                 "--np",
                                 "-c",
                                 "--hostfile",
                                 "-hostfile",
                                 "--machinefile",
                                 "-machinefile",
                                 "-H",
                                 "--host",
                                 "-host"})) {
        words.launcher.push_back(word);
        return 1;
    }
    const std::string& value = all[at + 1];
    if (is_one_of(word, {"-H", "--host", "-host"})) {
        words.hosts = value;
    } else if (word.find("file") != std::string::npos) {
        words.hostfile = value;
    } else {
        words.ranks = whole_number(value);
        if (!words.ranks || *words.ranks < 1)
            throw ConfigError(
                fmt::format("{}: '{}' is not a number of ranks (at least 1)", word, value));
    }
    return 2;
}

/// The name with which a line of a file of hosts begins; empty: none.
std::string host_of_line(const std::string& line) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    words >> name;
    return name;
}

/// The items of --host.
Words listed(const std::string& hosts) {
    Words items;
    std::istringstream stream(hosts);
    for (std::string item; std::getline(stream, item, ',');) items.push_back(item);
    return items;
}

std::string name_of_item(const std::string& item) { return item.substr(0, item.find(':')); }

}  // namespace

bool LauncherWords::is_mpirun() const {
    return !launcher.empty() &&
           is_one_of(std::filesystem::path(launcher.front()).filename().string(),
                     {"mpirun", "mpiexec", "orterun"});
}

LauncherWords parse_launcher(const Words& words, const Words& commands) {
    const auto is_command = [&](const std::string& word) {
        return std::ranges::find(commands, word) != commands.end();
    };
    if (std::ranges::find(words, ":") != words.end())
        throw ConfigError("supervise: ':' starts several programs; one command line is supervised");
    const auto command = std::find_if(words.begin(), words.end(), is_command);
    if (command == words.end() || command == words.begin())
        throw ConfigError(
            "supervise: a command line that starts sotto is missing after --, for example: sotto "
            "supervise -- mpirun -n 20 sotto train --data a9a.gz");
    LauncherWords result;
    take_environment(result);
    result.sotto.assign(command, words.end());
    result.program = *(command - 1);
    const Words before(words.begin(), command - 1);
    for (std::size_t at = 0; at < before.size();) at += take_option(result, before, at);
    return result;
}

Words composed(const LauncherWords& words, const Words& more) {
    Words all;
    if (!words.launcher.empty()) {
        all.push_back(words.launcher.front());
        if (words.ranks) all.insert(all.end(), {"-n", std::to_string(*words.ranks)});
        all.insert(all.end(), words.launcher.begin() + 1, words.launcher.end());
        if (words.hostfile) all.insert(all.end(), {"--hostfile", *words.hostfile});
        if (words.hosts) all.insert(all.end(), {"--host", *words.hosts});
        // Ranks need not hurry: the supervisor asks them to stop, and waits.
        if (words.is_mpirun()) all.insert(all.end(), {"-x", "SOTTO_STOPS_IN_TIME"});
        all.insert(all.end(), more.begin(), more.end());
    }
    all.push_back(words.program);
    all.insert(all.end(), words.sotto.begin(), words.sotto.end());
    return all;
}

Words named_hosts(const LauncherWords& words) {
    Words names;
    if (words.hostfile) {
        std::istringstream lines(std::string(without_byte_order_mark(read_file(*words.hostfile))));
        for (std::string line; std::getline(lines, line);)
            if (std::string name = host_of_line(line); !name.empty())
                names.push_back(std::move(name));
    } else if (words.hosts) {
        for (const std::string& item : listed(*words.hosts)) names.push_back(name_of_item(item));
    }
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    return names;
}

void leave_out(LauncherWords& words, const Words& hosts, const std::string& file) {
    const auto stays = [&](const std::string& name) {
        return std::ranges::find(hosts, name) == hosts.end();
    };
    if (words.hostfile) {
        std::istringstream lines(std::string(without_byte_order_mark(read_file(*words.hostfile))));
        std::string kept;
        for (std::string line; std::getline(lines, line);)
            if (const std::string name = host_of_line(line); !name.empty() && stays(name))
                kept += line + "\n";
        write_file_atomically(file, kept);
        words.hostfile = file;
    } else if (words.hosts) {
        Words kept;
        for (const std::string& item : listed(*words.hosts))
            if (stays(name_of_item(item))) kept.push_back(item);
        words.hosts = fmt::format("{}", fmt::join(kept, ","));
    }
}

}  // namespace sotto::cli
