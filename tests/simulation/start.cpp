#include "simulation/start.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/cli/program.hpp"
#include "simulation/job.hpp"

namespace sotto::simulation {

namespace fs = std::filesystem;

namespace {

/// A loop without end ends by the first, ranks that wait for one another by the second, which a
/// machine that is busy or suspended does not reach.
constexpr rlim_t most_processor_seconds = 120;
constexpr unsigned most_real_seconds = 3600;
constexpr rlim_t most_memory = rlim_t{6} << 30;
constexpr std::size_t room = std::size_t{8} << 20;

/// What a start hands to the process that waits for it.
nlohmann::json to_json(Job& job, const std::string& stuck) {
    nlohmann::json json;
    for (const auto& rank : job.world.ranks())
        json["ranks"].push_back({{"number", rank->number},
                                 {"state", static_cast<int>(rank->state)},
                                 {"death", static_cast<int>(rank->death)},
                                 {"exit_code", rank->exit_code},
                                 {"exchanges", job.observer.exchanges(rank->place)},
                                 {"calls", rank->calls},
                                 {"writes", rank->writes},
                                 {"deviates", rank->deviates},
                                 {"lines", rank->lines}});
    json["violations"] = job.observer.violations();
    if (!stuck.empty()) json["violations"].push_back(stuck);
    for (const Use& use : job.observer.uses())
        json["uses"].push_back({use.what[0], use.what[1], use.content});
    json["fired"] = job.world.fired();
    json["digest"] = job.world.digest();
    json["steps"] = job.world.steps();
    return json;
}

StartOutcome from_json(const nlohmann::json& json) {
    StartOutcome outcome;
    for (const auto& rank : json.at("ranks"))
        outcome.ranks.push_back({rank.at("number"),
                                 static_cast<RankState>(rank.at("state").get<int>()),
                                 static_cast<Death>(rank.at("death").get<int>()),
                                 rank.at("exit_code"),
                                 rank.at("exchanges"),
                                 rank.at("calls"),
                                 rank.at("writes"),
                                 rank.at("deviates"),
                                 rank.at("lines")});
    outcome.violations = json.at("violations");
    if (json.contains("uses"))
        for (const auto& use : json.at("uses")) outcome.uses.push_back({{use[0], use[1]}, use[2]});
    outcome.fired = json.at("fired").get<std::vector<long>>();
    outcome.digest = json.at("digest");
    outcome.steps = json.at("steps");
    return outcome;
}

/// No message leaves that the ledger does not count.
void watch_ledger(Job& job, const StartOptions& options) {
    job.observer.exchanges_a_round = options.gossip_steps;
    if (options.ledger.empty()) return;
    job.observer.on_exchange = [&job, &options](const Rank& rank, long exchanges) {
        if (rank.deviates) return;
        const long rounds = (exchanges + options.gossip_steps - 1) / options.gossip_steps;
        const auto before = options.sent_before.find(rank.number);
        const long left = rounds + (before == options.sent_before.end() ? 0 : before->second);
        const auto counted = counted_rounds(options.ledger, 64);
        const auto own = counted.find(rank.number);
        const long said = own == counted.end() ? 0 : own->second;
        if (said < left)
            job.observer.violation(
                fmt::format("the ledger counts {} rounds of agent {}, but {} have left",
                            said,
                            rank.number,
                            left));
    };
}

void keep_snapshot(Job& job, const StartOptions& options) {
    job.world.on_step = [&job, &options] {
        if (job.world.steps() != options.snapshot_step) return;
        std::error_code ignored;
        fs::remove_all(options.snapshot, ignored);
        fs::copy(options.disks, options.snapshot, fs::copy_options::recursive, ignored);
    };
}

/// Only one rank runs at a time: handing over is several times faster on one core.
void stay_on_one_core() {
    const int core = ::sched_getcpu();
    if (core < 0) return;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<std::size_t>(core), &cores);
    (void)::sched_setaffinity(0, sizeof cores, &cores);
}

[[noreturn]] void be_the_start(const StartOptions& options, const Uses& before, char* result) {
    const struct rlimit processor { most_processor_seconds, most_processor_seconds };
    ::setrlimit(RLIMIT_CPU, &processor);
    ::alarm(most_real_seconds);
    // A shell lets what it starts in the background ignore it, and the program would go on doing
    // so.
    std::signal(SIGINT, SIG_DFL);
    stay_on_one_core();
#if !defined(__SANITIZE_ADDRESS__)
    const struct rlimit memory { most_memory, most_memory };
    ::setrlimit(RLIMIT_AS, &memory);
#endif
    seed_randomness(options.world.seed);
    Job own(options.world, before, options.link_encryption);
    own.planted = options.planted;
    set_job(&own);
    set_world(&own.world);
    keep_lines_apart();
    own.world.on_power_loss = [&own](const Rank& rank) {
        own.disk.lose_power(rank);
        set_content(boot_file_of(rank), fmt::format("boot-{}-{}\n", rank.number, rank.calls));
    };
    watch_ledger(own, options);
    keep_snapshot(own, options);
    const std::string stuck =
        own.world.run([&](int) { return cli::run_program(options.arguments); });
    own.observer.read_everything(own.wire.log());
    const std::string text =
        to_json(own, stuck).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() + 1 < room) std::memcpy(result, text.c_str(), text.size() + 1);
    ::_exit(0);
}

}  // namespace

StartOutcome run_start(const StartOptions& options, const Uses& before) {
    auto* const result = static_cast<char*>(
        ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (result == MAP_FAILED) std::abort();
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) be_the_start(options, before, result);
    int status = 0;
    ::waitpid(child, &status, 0);
    StartOutcome outcome;
    if (*result != '\0') outcome = from_json(nlohmann::json::parse(result));
    ::munmap(result, room);
    if (WIFSIGNALED(status))
        outcome.violations.push_back(fmt::format("the process of the ranks ends by signal {} ({})",
                                                 WTERMSIG(status),
                                                 ::strsignal(WTERMSIG(status))));
    else if (outcome.ranks.empty())
        outcome.violations.push_back(
            fmt::format("the process of the ranks ends with {}", WEXITSTATUS(status)));
    return outcome;
}

int run_reference(const std::vector<std::string>& arguments, const std::string& folder) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::chdir(folder.c_str()) != 0) ::_exit(99);
        stdout = std::fopen("/dev/null", "w");
        ::_exit(cli::run_program(arguments));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::map<int, long> counted_rounds(const std::string& ledger, int agents) {
    std::map<int, long> counted;
    const auto text = content_of(ledger);
    if (!text) return counted;
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_discarded()) return counted;
    for (const auto& phase : json.at("phases")) {
        const auto gone = phase.at("agents_gone").get<std::vector<int>>();
        for (int agent = 0; agent < agents; ++agent)
            if (std::ranges::find(gone, agent) == gone.end())
                counted[agent] += phase.at("rounds").get<long>();
    }
    return counted;
}

}  // namespace sotto::simulation
