#include "commands/supervise/supervise_command.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <utility>

#include "commands/cli/command.hpp"
#include "commands/supervise/launched_job.hpp"
#include "commands/supervise/private_files.hpp"
#include "commands/supervise/supervise_options.hpp"
#include "core/files.hpp"
#include "core/host.hpp"
#include "core/json.hpp"
#include "core/output.hpp"
#include "core/stopwatch.hpp"
#include "net/agent_blocks.hpp"
#include "options/option_formats.hpp"
#include "options/option_parser.hpp"
#include "sotto/core/error.hpp"
#include "store/run_directory.hpp"
#include "store/run_history.hpp"

namespace sotto::cli {

void Journal::note(std::string_view words) const {
    const std::time_t now = std::time(nullptr);
    std::ofstream(file_, std::ios::app)
        << fmt::format("{:%Y-%m-%dT%H:%M:%S%z} {}\n", fmt::localtime(now), words);
    if (!quiet_) say(stderr, "sotto supervise: {}\n", words);
}

namespace {

constexpr std::string_view name_mark = "sotto-host ", address_mark = "sotto-address ";

}  // namespace

bool is_here(const std::string& host) {
    if (host == "localhost" || host.starts_with("127.") || host == local_host_name()) return true;
    const std::string address = resolved_address(host);
    return address.starts_with("127.") ||
           std::ranges::any_of(own_addresses(), [&](const HostAddress& own) {
               return !address.empty() && own.address == address;
           });
}

namespace {

/// The command a host runs, in syntax that every login shell knows.
std::string question(const std::string& logs) {
    std::string text;
    if (!logs.empty()) text = fmt::format("umask 077; mkdir -p {}; ", shell_quoted(logs));
    return text + fmt::format("hostname | sed 's/^/{}/'; ip -o -4 address show | sed 's/^/{}/'",
                              name_mark,
                              address_mark);
}

std::vector<std::string> question_to(const LauncherWords& words,
                                     const std::string& host,
                                     const std::string& logs) {
    if (is_here(host)) return {"sh", "-c", question(logs)};
    std::vector<std::string> command{"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
    std::string word;
    if (words.remote_shell) {
        command.clear();
        std::istringstream shell(words.remote_shell->substr(0, words.remote_shell->find(':')));
        while (shell >> word) command.push_back(word);
    }
    std::istringstream options(words.remote_shell_options);
    while (options >> word) command.push_back(word);
    command.insert(command.end(), {host, question(logs)});
    return command;
}

/// A host that was asked and has not answered yet.
struct Asked {
    std::string file;
    ChildProcess process;
};

Asked begin_question(const std::vector<std::string>& command, const std::string& file) {
    const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    Asked asked{file, ChildProcess(command, {out, nowhere, {}, true})};
    ::close(out);
    ::close(nowhere);
    return asked;
}

/// Parses "2: eth0    inet 10.77.0.1/24 brd 10.77.0.255 scope global eth0\..."; skips loopback.
void read_address(const std::string& line, HostAnswer& answer) {
    std::istringstream words(line);
    std::string number, interface, inet, network;
    if (!(words >> number >> interface >> inet >> network) || inet != "inet" || interface == "lo")
        return;
    for (HostAddress& found : addresses_from(interface + " " + network))
        answer.addresses.push_back(std::move(found));
}

}  // namespace

HostAnswer host_answer(const std::string& printed) {
    HostAnswer answer;
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(name_mark)) answer.name = line.substr(name_mark.size());
        if (line.starts_with(address_mark)) read_address(line.substr(address_mark.size()), answer);
    }
    return answer;
}

std::vector<std::string> network_words(const LauncherWords& words,
                                       const std::map<std::string, HostAnswer>& answers) {
    const std::size_t asked = named_hosts(words).size();
    if (!words.is_mpirun() || words.names_network || asked < 2 || answers.size() < asked) return {};
    HostAddresses hosts;
    for (const auto& [host, answer] : answers) hosts[host] = answer.addresses;
    std::vector<std::string> chosen;
    if (const std::string network = chosen_network(hosts, resolved_address); !network.empty())
        chosen = {"--mca", "btl_tcp_if_include", network};
    // mpirun may run on a host without ranks.
    if (std::ranges::none_of(answers, [](const auto& host) { return is_here(host.first); }))
        hosts[local_host_name()] = own_addresses();
    if (const std::string network = chosen_network(hosts, resolved_address); !network.empty())
        chosen.insert(chosen.end(), {"--mca", "oob_tcp_if_include", network});
    return chosen;
}

std::map<std::string, HostAnswer> ask_hosts(const LauncherWords& words,
                                            const std::vector<std::string>& hosts,
                                            const std::string& logs,
                                            const std::string& session,
                                            double patience) {
    std::map<std::string, Asked> asked;
    for (std::size_t i = 0; i < hosts.size(); ++i)
        asked.emplace(hosts[i],
                      begin_question(question_to(words, hosts[i], logs),
                                     fmt::format("{}/answer-{}", session, i)));
    const auto start = Clock::now();
    std::map<std::string, HostAnswer> answers;
    for (auto& [host, question] : asked) {
        while (!question.process.ended() && seconds_since(start) < patience)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        question.process.signal(SIGKILL);
        question.process.wait();
        std::ifstream file(question.file);
        std::ostringstream printed;
        printed << file.rdbuf();
        if (HostAnswer answer = host_answer(printed.str()); !answer.name.empty())
            answers.emplace(host, std::move(answer));
    }
    return answers;
}

namespace {

namespace fs = std::filesystem;

std::string new_directory_name() {
    const std::time_t now = std::time(nullptr);
    return fmt::format("runs/{:%Y%m%d-%H%M%S}-{}", fmt::localtime(now), ::getpid());
}

std::string hosts_text(const std::vector<std::string>& hosts) {
    return fmt::format("{}", fmt::join(hosts, " "));
}

}  // namespace

std::string reason_to_restart(int exit_code) {
    switch (exit_code) {
        case static_cast<int>(ExitCode::network):
            return "the network or a peer failed";
        case 128 + SIGKILL:
            return "a rank was killed";
        case 205:
            return "mpirun lost a host";
        case 255:
            return "mpirun did not reach a host";
        default:
            return {};
    }
}

Supervisor::Supervisor(const SuperviseConfig& config, LauncherWords words, std::string session)
    : config_(config), words_(std::move(words)), session_(std::move(session)) {
    if (words_.sotto.front() != "train")
        throw ConfigError(fmt::format("--max-restarts: only a training can be resumed, not {}",
                                      words_.sotto.front()));
    if (config.min_agents && named_hosts(words_).empty())
        throw ConfigError("--min-agents: needs the hosts' names, from --hostfile or --host");
    train_ = read_train_words({words_.sotto.begin() + 1, words_.sotto.end()});
    if (train_.dry_run)
        throw ConfigError("--max-restarts: not with --dry-run, which sends nothing");
    named_directory_ =
        train_.resume ? *train_.resume : train_.directory.value_or(new_directory_name());
    keep_files_private();
    create_folder(fs::path(named_directory_) / "logs");
    folder_ = fs::absolute(named_directory_).lexically_normal();
    journal_.emplace(folder_ / "restarts.txt", config.quiet);
    // Without checkpoints a restarted training repeats all rounds, and they count twice.
    if (!train_.resume && !train_.has_interval)
        for (auto* const place : {&words_.sotto, &train_.options})
            place->insert(place->end(), {"--checkpoint-every", "100"});
    if (!train_.resume && !train_.directory)
        words_.sotto.insert(words_.sotto.end(), {"--run-directory", named_directory_});
    first_words_ = words_.sotto;
}

SuperviseResult Supervisor::run() {
    if (const auto silent = silent_hosts(); !silent.empty())
        journal_->note(fmt::format("no answer from {}", hosts_text(silent)));
    long delay = config_.delay.first;
    int code = 0;
    for (int restarts = 0;;) {
        if (stop_requests() > 0) {
            code = 128 + first_stop_signal();
            break;
        }
        code = start_once();
        if (!has_directory()) return {code, starts_, named_directory_};
        if (stop_requests() == 0 && mend(code)) continue;
        const std::string reason = reason_to_restart(code);
        if (stop_requests() > 0 || reason.empty()) break;
        const std::string what = fmt::format("exit code {}, {}; {}", code, reason, place());
        if (restarts == config_.max_restarts) {
            journal_->note(fmt::format("{}; all {} restarts are used up", what, restarts));
            note_how_to_go_on();
            return {code, starts_, named_directory_};
        }
        ++restarts;
        journal_->note(fmt::format(
            "{}; restart {} of {} in {} s", what, restarts, config_.max_restarts, delay));
        pause_unless_stopped(static_cast<double>(delay));
        delay = std::min(2 * delay, config_.delay.most);
        if (!prepare_next() && stop_requests() == 0) break;
    }
    // A rank may fail after the run is complete.
    if (starts_ > 1 && code == static_cast<int>(ExitCode::complete)) code = 0;
    journal_->note(fmt::format("end, exit code {}; {}", code, place()));
    if (code != 0 && code != static_cast<int>(ExitCode::complete)) note_how_to_go_on();
    return {code, starts_, named_directory_};
}

int Supervisor::start_once() {
    int number = 1;
    while (fs::exists(folder_ / "logs" / std::to_string(number))) ++number;
    const fs::path logs = folder_ / "logs" / std::to_string(number);
    std::vector<std::string> more = network_;
    if (words_.is_mpirun()) {
        create_folder(logs);
        more.insert(more.end(), {"--output-filename", logs});
    }
    const std::vector<std::string> hosts = named_hosts(words_);
    journal_->note(fmt::format("start {} on {}{}; {}",
                               number,
                               hosts.empty() ? local_host_name() : hosts_text(hosts),
                               left_out_.empty() ? "" : ", without " + hosts_text(left_out_),
                               place()));
    ++starts_;
    const std::vector<std::string> command = composed(words_, more);
    say(stderr, "+ {}\n", shell_line(command));
    return run_launcher(command, {words_.kill_seconds, session_, false});
}

bool Supervisor::prepare_next() {
    if (!wait_for_hosts()) return false;
    may_have_begun() ? take_words_to_resume() : take_first_words();
    return stop_requests() == 0;
}

bool Supervisor::may_have_begun() {
    begun_ = begun_ || fs::exists(folder_ / "config.ini");
    const std::vector<std::string> hosts = named_hosts(words_);
    return begun_ || (!hosts.empty() && std::ranges::none_of(hosts, is_here));
}

bool Supervisor::has_directory() {
    begun_ = begun_ || fs::exists(folder_ / "config.ini");
    if (journal_->is_there()) return true;
    if (begun_) {
        // Other hosts may have copies; --resume repeats no round uncounted.
        create_folder(folder_ / "logs");
        journal_->note("the run directory on this host was gone");
        return true;
    }
    // Its messages may have been sent: repeating them would not be counted.
    say(stderr,
        "sotto supervise: {} is gone; the training is not restarted\n",
        journal_->file().string());
    return false;
}

bool Supervisor::mend(int exit_code) {
    const auto has = [&](const char* word) {
        return std::ranges::find(words_.sotto, word) != words_.sotto.end();
    };
    if (starts_ == 1 || !has("--resume")) return false;
    if (exit_code == static_cast<int>(ExitCode::usage) && !begun_ && !train_.resume) {
        journal_->note("there is nothing to resume: no start began a run");
        take_first_words();
        return true;
    }
    if (exit_code == static_cast<int>(ExitCode::privacy) && !has("--finish") &&
        train_.without.empty()) {
        journal_->note(fmt::format(
            "exit code 4, a budget does not allow another round; {}; the run ends there", place()));
        words_.sotto.emplace_back("--finish");
        return true;
    }
    return false;
}

void Supervisor::note_how_to_go_on() {
    if (!may_have_begun()) return;
    take_words_to_resume();
    std::vector<std::string> command = composed(words_);
    // The supervisor sets this variable itself.
    const auto own = std::ranges::search(command, std::array{"-x", "SOTTO_STOPS_IN_TIME"});
    command.erase(own.begin(), own.end());
    command.insert(command.begin(), {"sotto", "supervise", "--"});
    journal_->note("to go on: " + shell_line(command));
}

void Supervisor::take_first_words() { words_.sotto = first_words_; }

void Supervisor::take_words_to_resume() {
    words_.sotto = {"train"};
    const auto add = [&](const std::vector<std::string>& words) {
        words_.sotto.insert(words_.sotto.end(), words.begin(), words.end());
    };
    if (train_.resume) {
        add(train_.options);
    } else {
        add({"--resume", named_directory_});
        add(train_.beside);
    }
    train_.without = still_there(folder_, train_.without);
    add(without_words(train_.without));
}

std::vector<std::string> Supervisor::silent_hosts() {
    const std::vector<std::string> hosts = named_hosts(words_);
    std::vector<std::string> silent;
    const auto answers = ask_hosts(words_, hosts, folder_ / "logs", session_);
    for (const std::string& host : hosts) {
        const auto answer = answers.find(host);
        if (answer == answers.end())
            silent.push_back(host);
        else
            name_of_[host] = answer->second.name;
    }
    if (silent.empty()) network_ = network_words(words_, answers);
    return silent;
}

bool Supervisor::ranks_answer() const {
    if (words_.launcher.empty()) return true;
    // Only the network matters here: other problems were there before the first start.
    LauncherWords doctor = words_;
    doctor.sotto = {"doctor", "--quiet"};
    const std::vector<std::string> command = composed(doctor, network_);
    say(stderr, "+ {}\n", shell_line(command));
    const int code = run_launcher(command, {words_.kill_seconds, session_, true});
    return code != static_cast<int>(ExitCode::network) && code <= 128;
}

bool Supervisor::wait_for_hosts() {
    const auto start = Clock::now();
    const auto wait = static_cast<double>(config_.host_wait);
    std::vector<std::string> silent;
    std::string who;
    for (bool said = false;; said = true) {
        silent = silent_hosts();
        if (silent.empty() && ranks_answer()) return true;
        if (stop_requests() > 0) return false;
        who = silent.empty() ? "a rank, says sotto doctor" : hosts_text(silent);
        const double left = wait - seconds_since(start);
        if (left <= 0) break;
        if (!said)
            journal_->note(
                fmt::format("no answer from {}; waiting at most {} s", who, config_.host_wait));
        pause_unless_stopped(std::min(left, 10.0));
    }
    if (!config_.min_agents || silent.empty()) {
        journal_->note(fmt::format("no answer from {} for {} s", who, config_.host_wait));
        return false;
    }
    if (!leave_out_silent(silent)) return false;
    if (ranks_answer()) return true;
    journal_->note("no answer from a rank, says sotto doctor");
    return false;
}

std::optional<std::set<std::string>> Supervisor::names_of(
    const std::vector<std::string>& silent) const {
    std::set<std::string> names;
    for (const std::string& host : silent) {
        const auto name = name_of_.find(host);
        if (name == name_of_.end()) {
            journal_->note(
                fmt::format("{} has never answered, so it is not known which agents it has", host));
            return std::nullopt;
        }
        names.insert(name->second);
    }
    // If two hosts have one name, the wrong host's agents could be removed.
    for (const auto& [host, name] : name_of_)
        if (std::ranges::find(silent, host) == silent.end() && names.contains(name)) {
            journal_->note(fmt::format(
                "{} says that it is {}, the name of one of {}", host, name, hosts_text(silent)));
            return std::nullopt;
        }
    return names;
}

/// Removes the agents on silent hosts if enough agents are left. Those hosts are not used again,
/// even if they come back.
bool Supervisor::leave_out_silent(const std::vector<std::string>& silent) {
    const auto names = names_of(silent);
    if (!names) return false;
    RemainingAgents remaining;
    try {
        remaining = remaining_agents(folder_, *names, train_.without);
    } catch (const Error& error) {
        journal_->note(
            fmt::format("the agents on {} are not known ({})", hosts_text(silent), error.what()));
        return false;
    }
    if (remaining.left < *config_.min_agents) {
        journal_->note(fmt::format("without {}, {} agents would be left, fewer than {}",
                                   hosts_text(silent),
                                   remaining.left,
                                   *config_.min_agents));
        return false;
    }
    train_.without = remaining.leave;
    words_.ranks = remaining.ranks;
    leave_out(words_, silent, session_ + "/hosts");
    for (const std::string& host : silent) name_of_.erase(host);
    left_out_.insert(left_out_.end(), silent.begin(), silent.end());
    const std::string leaving = agent_numbers_text(train_.without);
    journal_->note(fmt::format("no answer from {} for {} s; agents {} leave, {} are left",
                               hosts_text(silent),
                               config_.host_wait,
                               leaving.empty() ? "none" : leaving,
                               remaining.left));
    return true;
}

long Supervisor::newest_round() const {
    long newest = -1;
    std::error_code failure;
    for (const auto& entry : fs::directory_iterator(folder_ / "checkpoints", failure)) {
        const std::string name = entry.path().filename();
        long round = 0;
        const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), round);
        if (status == std::errc() && end == name.data() + name.size() &&
            fs::exists(entry.path() / "manifest.json"))
            newest = std::max(newest, round);
    }
    return newest;
}

std::string Supervisor::place() const {
    const long round = newest_round();
    return round < 0 ? "no checkpoint" : fmt::format("checkpoint of round {}", round);
}

namespace {

/// The agents in the newest phase of the run.
std::vector<int> members_of(const fs::path& directory) {
    const JsonDocument document(read_file(directory / "history.json"));
    const auto phases = document.root().at("phases").items();
    if (phases.empty()) throw DataError(fmt::format("{}: no phases", directory.string()));
    return phases.back().at("agents").integers();
}

/// The agents of a start, by rank, and the hosts of the ranks.
struct StartedRanks {
    std::vector<std::string> hosts;
    std::vector<int> members;
};

StartedRanks newest_start(const fs::path& directory) {
    // A start that failed early has no manifest.
    constexpr int most_without = 1000;
    fs::path newest;
    for (int start = 0, missing = 0; missing < most_without; ++start) {
        fs::path file = directory / numbered_file("manifest", ".json", start);
        const bool there = fs::exists(file);
        missing = there ? 0 : missing + 1;
        if (there) newest = std::move(file);
    }
    if (newest.empty())
        throw DataError(
            fmt::format("{}: there is no manifest.json that says which agents were on which host",
                        directory.string()));
    const JsonDocument document(read_file(newest));
    const JsonValue json = document.root();
    StartedRanks started;
    for (const JsonValue& host : json.at("hosts").items()) started.hosts.push_back(host.text());
    const std::vector<int> gone = json.at("agents_gone").integers();
    const int agents = json.at("agents").integer<int>(1, 1 << 24);
    for (int number = 0; static_cast<int>(started.members.size()) < agents; ++number)
        if (std::ranges::find(gone, number) == gone.end()) started.members.push_back(number);
    const auto ranks = static_cast<int>(started.hosts.size());
    if (ranks < 1 || ranks > agents)
        throw DataError(fmt::format("{}: {} ranks, {} agents", newest.string(), ranks, agents));
    return started;
}

}  // namespace

std::vector<int> still_there(const fs::path& directory, const std::vector<int>& asked) {
    std::vector<int> found(asked);
    if (fs::exists(directory / "history.json")) {
        const std::vector<int> members = members_of(directory);
        std::erase_if(
            found, [&](int number) { return std::ranges::find(members, number) == members.end(); });
    }
    std::ranges::sort(found);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    return found;
}

RemainingAgents remaining_agents(const fs::path& directory,
                                 const std::set<std::string>& host_names,
                                 const std::vector<int>& asked) {
    const StartedRanks started = newest_start(directory);
    const auto ranks = static_cast<int>(started.hosts.size());
    const auto agents = static_cast<int>(started.members.size());
    const AgentBlocks blocks(agents, ranks);
    std::vector<int> leave(asked);
    int kept = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        if (!host_names.contains(started.hosts[static_cast<std::size_t>(rank)])) {
            ++kept;
            continue;
        }
        for (int agent = blocks.first(rank); agent < blocks.first(rank + 1); ++agent)
            leave.push_back(started.members[static_cast<std::size_t>(agent)]);
    }
    RemainingAgents remaining;
    remaining.leave = still_there(directory, leave);
    remaining.left =
        static_cast<int>(members_of(directory).size()) - static_cast<int>(remaining.leave.size());
    remaining.ranks = agents == ranks ? remaining.left : std::min(kept, remaining.left);
    return remaining;
}

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
