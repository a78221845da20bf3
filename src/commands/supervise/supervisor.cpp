#include "commands/supervise/supervisor.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <ctime>
#include <utility>

#include "commands/supervise/launched_job.hpp"
#include "commands/supervise/leaving_agents.hpp"
#include "commands/supervise/private_files.hpp"
#include "commands/supervise/stop_requests.hpp"
#include "core/output.hpp"
#include "core/shell_words.hpp"
#include "options/agent_numbers.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/host.hpp"
#include "sotto/core/stopwatch.hpp"
#include "store/folders.hpp"

namespace sotto::cli {

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
        throw ConfigError(fmt::format(
            "--max-restarts: only a training can be taken up again, not {}", words_.sotto.front()));
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
    // Without checkpoints on the way a training that is started again repeats all rounds, which
    // count twice.
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
            journal_->note(fmt::format("{}; no restart is left of {}", what, restarts));
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
    // A rank may have been lost after the run was complete.
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
        // Other hosts may have copies; with --resume no round is done again uncounted.
        create_folder(folder_ / "logs");
        journal_->note("the run directory here had gone");
        return true;
    }
    // Its messages may have left: a run that cannot be seen must not be done again in secret.
    say(stderr,
        "sotto supervise: {} is gone; nothing is trained again\n",
        journal_->file().string());
    return false;
}

bool Supervisor::mend(int exit_code) {
    const auto has = [&](const char* word) {
        return std::ranges::find(words_.sotto, word) != words_.sotto.end();
    };
    if (starts_ == 1 || !has("--resume")) return false;
    if (exit_code == static_cast<int>(ExitCode::usage) && !begun_ && !train_.resume) {
        journal_->note("nothing to take up: no start came to a run");
        take_first_words();
        return true;
    }
    if (exit_code == static_cast<int>(ExitCode::privacy) && !has("--finish") &&
        train_.without.empty()) {
        journal_->note(
            fmt::format("exit code 4, a budget does not allow another round; {}; the run ends "
                        "there",
                        place()));
        words_.sotto.emplace_back("--finish");
        return true;
    }
    return false;
}

void Supervisor::note_how_to_go_on() {
    if (!may_have_begun()) return;
    take_words_to_resume();
    std::vector<std::string> command = composed(words_);
    // What this program sets itself.
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
    // What else `sotto doctor` finds, it found before the first start.
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
            journal_->note(fmt::format("{} has never answered: who was there is not known", host));
            return std::nullopt;
        }
        names.insert(name->second);
    }
    // A host that takes another's name must not make that one's agents leave.
    for (const auto& [host, name] : name_of_)
        if (std::ranges::find(silent, host) == silent.end() && names.contains(name)) {
            journal_->note(
                fmt::format("{} says it is {}, as one of {} did", host, name, hosts_text(silent)));
            return std::nullopt;
        }
    return names;
}

/// The agents on silent hosts leave, if enough are left. Those hosts are not used again, whether
/// they come back or not.
bool Supervisor::leave_out_silent(const std::vector<std::string>& silent) {
    const auto names = names_of(silent);
    if (!names) return false;
    RemainingAgents remaining;
    try {
        remaining = remaining_agents(folder_, *names, train_.without);
    } catch (const Error& error) {
        journal_->note(
            fmt::format("who was on {} is not known ({})", hosts_text(silent), error.what()));
        return false;
    }
    if (remaining.left < *config_.min_agents) {
        journal_->note(fmt::format("without {} {} agents would be left, less than {}",
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

}  // namespace sotto::cli
