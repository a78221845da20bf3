#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/cli/command.hpp"
#include "commands/supervise/launched_job.hpp"
#include "commands/supervise/supervise_options.hpp"
#include "commands/supervise/supervisor.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

namespace {

/// A private folder for Open MPI's files, removed with this object. Its name is short because a
/// socket's path has at most 107 characters.
class SessionFolder {
  public:
    SessionFolder() {
        if (::mkdtemp(path_.data()) == nullptr)
            throw_write_failure(fmt::format("{}: cannot be made ({})", path_, std::strerror(errno)),
                                errno);
    }
    SessionFolder(const SessionFolder&) = delete;
    SessionFolder& operator=(const SessionFolder&) = delete;
    ~SessionFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_ = "/tmp/sotto-mpi-XXXXXX";
};

std::vector<WrittenGroup> options_of_supervise() {
    return with_general(supervise_option_set().written());
}

std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const Command& command : commands().records()) names.push_back(command.name);
    return names;
}

int launch_once(const LauncherWords& words, const std::string& session) {
    const std::vector<std::string> hosts = named_hosts(words);
    std::vector<std::string> network;
    if (hosts.size() > 1) network = network_words(words, ask_hosts(words, hosts, "", session));
    const std::vector<std::string> command = composed(words, network);
    say(stderr, "+ {}\n", shell_line(command));
    return run_launcher(command, {words.kill_seconds, session, false});
}

std::string result_json(const SuperviseResult& result) {
    nlohmann::ordered_json json;
    json["exit_code"] = result.exit_code;
    json["starts"] = result.starts;
    json["run_directory"] = result.run_directory;
    return to_text(json);
}

int supervise_main(const std::vector<std::string>& arguments) {
    const auto dashes = std::ranges::find(arguments, "--");
    const OptionTexts given = parse_options(options_of_supervise(), {arguments.begin(), dashes});
    const GeneralOptions general = read_general(given);
    SuperviseConfig config = supervise_option_set().read(given);
    config.quiet = general.quiet;
    if (dashes != arguments.end()) config.command.assign(dashes + 1, arguments.end());
    const LauncherWords words = parse_launcher(config.command, command_names());
    require_json_writable(general);
    count_stop_requests();
    const SessionFolder session;
    const SuperviseResult result = config.max_restarts == 0
                                       ? SuperviseResult{launch_once(words, session.path()), 1, {}}
                                       : Supervisor(config, words, session.path()).run();
    write_json(general, result_json(result));
    return result.exit_code;
}

}  // namespace

Command supervise_command() {
    return {
        .name = "supervise",
        .summary = "start a training, and restart it when a rank, a host or the network was lost",
        .example =
            "sotto supervise --max-restarts 10 -- mpirun -n 20 --hostfile hosts sotto "
            "train --data a9a.gz --run-directory runs/long",
        .description = R"(
Starts the command line after `--`, and restarts a training with `--resume` from its last checkpoint when a rank, a host or the
network was lost, with growing pauses. Ctrl-C stops the training cleanly after the round and a checkpoint; a second Ctrl-C ends it at
once.)",
        .files = {{"DIR/restarts.txt", "starts and restarts of the run, and why"},
                  {"DIR/logs/", "output of each rank, start by start"}},
        .options = options_of_supervise,
        .run = supervise_main};
}

}  // namespace sotto::cli
