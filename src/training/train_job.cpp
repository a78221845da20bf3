#include "training/train_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/agent_path.hpp"
#include "core/bytes.hpp"
#include "core/output.hpp"
#include "options/option_parser.hpp"
#include "options/train_options.hpp"
#include "planning/build_topography.hpp"
#include "sotto/core/error.hpp"
#include "store/copies.hpp"
#include "store/run_directory.hpp"
#include "store/run_history.hpp"
#include "training/job.hpp"
#include "training/participants.hpp"
#include "training/progress.hpp"
#include "training/stop_signal.hpp"
#include "training/train_report.hpp"
#include "training/training.hpp"

namespace sotto {

namespace {

/// Shows a training, and tracks its participants and which agents are asked to leave or join.
class WatchedTraining final : public Progress {
  public:
    WatchedTraining(std::FILE* report,
                    Network& network,
                    const TrainConfig& config,
                    const std::vector<int>& waiting)
        : Progress(report),
          network_(network),
          leave_(config.leave_file.value_or("")),
          join_(config.join_file.value_or(""), waiting) {}
    void on_members(const Membership& members) override { members_ = members; }

    [[nodiscard]] const Membership& members() const { return members_; }
    /// Requests to this process. LOCAL.
    [[nodiscard]] MemberChange asked() {
        return {leave_.of(network_, members_), join_.of(network_)};
    }

  private:
    Network& network_;
    LeaveRequests leave_;
    JoinRequests join_;
    Membership members_;
};

void say_who_changes(const GeneralOptions& general, const MemberChange& change, long round) {
    std::FILE* report = report_stream(general);
    if (report == nullptr) return;
    const auto tell = [&](const std::vector<int>& who, std::string_view does) {
        if (!who.empty())
            say(report,
                "agent{} {} {}{} after round {}; the others go on\n",
                who.size() == 1 ? "" : "s",
                fmt::join(who, ", "),
                does,
                who.size() == 1 ? "s" : "",
                round);
    };
    tell(change.leaving, "leave");
    tell(change.joining, "join");
}

/// Trains one phase with its participants. COLLECTIVE. @param waiting spares.
PhaseEnd train_phase(Network& network,
                     const GeneralOptions& general,
                     const TrainConfig& config,
                     const std::vector<int>& waiting) {
    const bool leader = network.process() == 0;
    std::FILE* report = leader ? report_stream(general) : nullptr;
    WatchedTraining progress(report, network, config, waiting);
    network.agree([&] {
        if (leader) require_json_writable(general);
    });
    if (report != nullptr && config.verbose && network.processes() == 1 && network.agents() > 1)
        say(report,
            "all {} agents run in this process; `mpirun -n {} sotto train ...` gives each "
            "its own\n",
            network.agents(),
            network.agents());
    watch_for_leaving();
    const auto stops = [&] { return stop_requested() || !progress.asked().none(); };
    const TrainResult result = run_training(config, network, progress, stops);
    progress.finish();
    if (result.interrupted) {
        MemberChange change = agree_on_change(
            network, progress.members(), waiting, progress.asked(), stop_requested());
        if (!change.none()) {
            if (leader) say_who_changes(general, change, result.rounds);
            return {0, std::move(change), progress.members(), result.run_directory};
        }
    }
    if (leader) {
        write_json(general, summary_json(result, config.plan));
        tell_result(report, result, config);
    }
    return {static_cast<int>(result.interrupted ? ExitCode::interrupted : ExitCode::ok)};
}

/// Trains one phase while spares wait. COLLECTIVE over participants and spares.
PhaseEnd phase_beside_spares(Network& everybody,
                             const Attendance& there,
                             const GeneralOptions& general,
                             const TrainConfig& config) {
    std::optional<PhaseEnd> end;
    if (const auto members = everybody.without(there.waiting_places())) {
        const int code = run_together(*members, [&] {
            end = train_phase(*members, general, config, there.waiting());
            return end->exit_code;
        });
        // Spares learn of a failure as of any other end.
        if (!end) end = PhaseEnd{code};
    } else {
        // Wait until the participants have stopped.
        watch_for_stop();
        constexpr double between_looks = 0.05;
        everybody.watch_for_stalls({0, 0, "", {}, between_looks});
    }
    return share_end(everybody, end, there.waiting());
}

}  // namespace

int train_on(Network& network, const GeneralOptions& general, const TrainConfig& config) {
    watch_for_leaving();
    TrainConfig now = config;
    Attendance there(network, now);
    Network* all = &network;
    std::unique_ptr<Network> rest;
    for (;;) {
        end_when_stopped();
        const auto phase = [&] {
            return there.waiting().empty() ? train_phase(*all, general, now, {})
                                           : phase_beside_spares(*all, there, general, now);
        };
        PhaseEnd end;
        if (rest == nullptr) {
            end = phase();
        } else {
            const int code = run_together(*all, [&] {
                end = phase();
                return end.exit_code;
            });
            if (code != end.exit_code) return code;
        }
        if (end.change.none()) return end.exit_code;
        if (!end.change.leaving.empty()) {
            std::unique_ptr<Network> staying =
                all->without(there.places_of(end.change.leaving, end.members));
            if (!staying) return static_cast<int>(ExitCode::ok);
            rest = std::move(staying);
            all = rest.get();
        }
        there.change(end.change);
        now.resume = ResumeConfig{
            own_directory(config.resume ? std::optional(config.resume->directory) : std::nullopt,
                          config.run_directory,
                          end.run_directory)
                .string(),
            end.change.leaving,
            end.change.joining};
    }
}

namespace {

/// Agents that remain in a resumed run.
int agents_left(const RunHistory& history, const ResumeConfig& resume) {
    return history.phases.back().members.size() - static_cast<int>(resume.without.size()) +
           static_cast<int>(resume.joining.size());
}

/// Agents of a single process, including waiting spares.
int agents_left_alone(const TrainConfig& config) {
    const RunHistory history = read_history(config.resume->directory);
    return agents_left(history, *config.resume) +
           static_cast<int>(waiting_spares(config.spares, &history).size()) -
           static_cast<int>(config.resume->joining.size());
}

/// Restored files stay, except after a dry run.
Stay stay_of(const OptionTexts& given) {
    const auto dry_run = given.find("dry-run");
    return dry_run != given.end() && dry_run->second == "true" ? Stay::for_a_look : Stay::for_good;
}

/// Shares config.ini of the run to resume, as rank 0 reads it, since other ranks may not see its
/// files. Nothing for a new run. COLLECTIVE. @throws Error if some ranks resume a run and others do
/// not.
/// @param restored receives the files that rank 0 had lost.
std::optional<ConfigText> share_config_of_run(Network& ranks,
                                              const OptionTexts& given,
                                              RestoredFiles& restored) {
    const bool resumes = given.contains("resume");
    const std::string own = resumes ? "--resume" : "";
    const auto all = ranks.all_gather(own, std::string_view("--resume").size());
    if (std::ranges::all_of(all, [](const std::string& said) { return said.empty(); }))
        return std::nullopt;
    ConfigText of_run{"", "the run's config.ini"};
    ranks.agree([&] {
        const auto without = std::ranges::find(all, std::string());
        const auto with = std::ranges::find_if(all, [](const auto& said) { return !said.empty(); });
        if (without != all.end())
            throw NetworkError(
                fmt::format("rank {} was started without --resume, rank {} with it; start all "
                            "ranks with the same options",
                            without - all.begin(),
                            with - all.begin()));
    });
    // A rank that lost its disk gets the files back from the others' copies.
    (void)restore_history(restored, given.at("resume"), ranks);
    ranks.agree([&] {
        if (ranks.process() == 0) of_run = config_of_run("--resume", given.at("resume"));
    });
    of_run.text = ranks.broadcast(of_run.text, largest_config_bytes);
    return of_run;
}

/// The same text, or two ways to write a number.
bool same_value(const std::string& name, const std::string& text, const std::string& other) {
    if (text == other) return true;
    try {
        return parse_real(name, text) == parse_real(name, other);
    } catch (const ConfigError&) {
        return false;
    }
}

/// Adds the options of the run's config.ini. @return names of the options that were given before
/// and may stand beside a run, as the agent's own word. @throws ConfigError for another one, unless
/// it only repeats what the run's config.ini says.
std::vector<std::string> add_options_of_run(OptionTexts& given,
                                            const std::vector<WrittenGroup>& options,
                                            const ConfigText& of_run) {
    require_kept_options(of_run);
    const OptionTexts kept = parse_options(options, {}, of_run);
    std::vector<std::string> names;
    for (const auto& [name, text] : given)
        if (find_option(options, name)->beside_run) names.push_back(name);
    std::erase_if(given, [&](const auto& option) {
        const auto same = kept.find(option.first);
        return same != kept.end() && same_value(option.first, option.second, same->second);
    });
    require_beside_run(options,
                       given,
                       "cannot be given with --resume, which goes on with the run's own options, "
                       "unless its value is that of the run");
    given.insert(kept.begin(), kept.end());
    return names;
}

}  // namespace

TrainSetup read_train_setup(Network& ranks,
                            const std::vector<std::string>& arguments,
                            bool alone,
                            const std::vector<WrittenGroup>& options) {
    OptionTexts given;
    ranks.agree([&] { given = parse_options(options, arguments); });
    TrainSetup setup;
    const auto resumed = given.find("resume");
    setup.restored = std::make_shared<RestoredFiles>(
        stay_of(given), resumed == given.end() ? std::string() : resumed->second);
    const std::optional<ConfigText> of_run = share_config_of_run(ranks, given, *setup.restored);
    ranks.agree([&] {
        std::vector<std::string> named;
        if (of_run)
            named = add_options_of_run(given, options, *of_run);
        else if (!alone)
            resolve_agents(given, ranks.processes());
        setup.config = read_train_config(given);
        if (setup.config.resume) setup.config.resume->given = std::move(named);
        setup.config.threads = granted_threads(setup.config.asked_threads, alone);
    });
    setup.general = read_general(given);
    return setup;
}

int agents_alone(const TrainConfig& config) {
    return config.resume ? agents_left_alone(config) : agents_of(config.graph);
}

int agents_of_ranks(Network& ranks, const TrainConfig& config) {
    if (!config.resume) return agree_on_agents(ranks, config.graph.topology.agents);
    int agents = 1;
    ranks.agree([&] {
        if (ranks.process() == 0)
            agents =
                std::max(1, agents_left(read_history(config.resume->directory), *config.resume));
    });
    return agents_of_rank_0(ranks, agents);
}

namespace {

volatile std::sig_atomic_t leaves = 0;

void note_leaving(int /*signal*/) { leaves = 1; }

bool appeared(const std::string& file, int number) {
    std::error_code ignored;
    return !file.empty() && std::filesystem::exists(path_of_agent(file, number), ignored);
}

/// The numbers from rank `process`. @throws NetworkError for an invalid message.
std::vector<int> unpack_numbers(std::string_view bytes, int process) {
    ByteReader reader(bytes,
                      fmt::format("what rank {} says about agents that leave and join", process));
    std::vector<int> numbers = get_numbers(reader);
    reader.require_done();
    return numbers;
}

std::string pack_numbers(const std::vector<int>& numbers) {
    ByteWriter writer;
    put_numbers(writer, numbers);
    return writer.take();
}

std::uint64_t most_packed_bytes(std::uint64_t numbers) {
    return sizeof(std::uint64_t) + sizeof(std::int32_t) * numbers;
}

/// The leaving agents of all processes. COLLECTIVE. @throws NetworkError if a process names agents
/// that are not its own.
std::vector<int> gather_leaving(Network& network,
                                const Membership& members,
                                const std::vector<int>& own) {
    const std::vector<std::string> said = network.all_gather(
        pack_numbers(own), most_packed_bytes(network.most_agents_of_a_process()));
    std::vector<int> leaving;
    network.agree([&] {
        for (int p = 0; p < network.processes(); ++p)
            for (const int number : unpack_numbers(said[static_cast<std::size_t>(p)], p)) {
                const int place = members.place(number);
                if (place < 0 || network.blocks().process_of(place) != p)
                    throw NetworkError(fmt::format(
                        "rank {} says that agent {} leaves, which it does not host", p, number));
                leaving.push_back(number);
            }
        std::ranges::sort(leaving);
    });
    return leaving;
}

/// The joining agents that process 0 names. COLLECTIVE. @throws NetworkError for agents that do not
/// wait.
std::vector<int> share_joining(Network& network,
                               const std::vector<int>& waiting,
                               const std::vector<int>& own) {
    const std::string said =
        network.broadcast(pack_numbers(own), most_packed_bytes(waiting.size()));
    std::vector<int> joining;
    network.agree([&] {
        joining = unpack_numbers(said, 0);
        if (!std::ranges::includes(waiting, joining))
            throw NetworkError(
                fmt::format("rank 0 says that agents {} join (allowed: those that wait, {})",
                            fmt::join(joining, ","),
                            fmt::join(waiting, ",")));
    });
    return joining;
}

/// @throws ConfigError if agents cannot leave this run.
void require_can_leave(const Network& network,
                       const Membership& members,
                       const std::vector<int>& leaving) {
    const auto refuse = [&](const char* why) {
        throw ConfigError(
            fmt::format("agents {} cannot leave while the run goes on: {} (the run stops; resume "
                        "it with --resume and --without to leave them out)",
                        fmt::join(leaving, ","),
                        why));
    };
    if (leaving.empty() || network.processes() == 1) return;
    if (members.place(leaving.front()) == 0) refuse("the first agent that takes part leads it");
    if (!network.blocks().one_each()) refuse("ranks host several agents");
}

}  // namespace

void put_numbers(ByteWriter& writer, const std::vector<int>& numbers) {
    writer.put(static_cast<std::uint64_t>(numbers.size()));
    for (const int number : numbers) writer.put(std::int32_t{number});
}

std::vector<int> get_numbers(ByteReader& reader) {
    std::vector<int> numbers(reader.get_count(sizeof(std::int32_t)));
    for (int& number : numbers) number = reader.get<std::int32_t>();
    if (std::ranges::adjacent_find(numbers, std::greater_equal()) != numbers.end()) reader.fail();
    return numbers;
}

void watch_for_leaving() {
    leaves = 0;
    std::signal(SIGUSR2, note_leaving);
}

bool SeldomLook::due() {
    constexpr double seconds_between_looks = 0.2;
    if (looked_ && seconds_since(*looked_) < seconds_between_looks) return false;
    looked_ = Clock::now();
    return true;
}

const std::vector<int>& LeaveRequests::of(const Network& network, const Membership& members) {
    if (leaves == 0 && (file_.empty() || !look_.due())) return asked_;
    asked_.clear();
    for (const int place : network.local_agents()) {
        const int number = members.number(place);
        if (leaves != 0 || appeared(file_, number)) asked_.push_back(number);
    }
    return asked_;
}

const std::vector<int>& JoinRequests::of(const Network& network) {
    if (network.process() != 0 || file_.empty() || !look_.due()) return asked_;
    asked_.clear();
    for (const int number : waiting_)
        if (appeared(file_, number)) asked_.push_back(number);
    return asked_;
}

MemberChange agree_on_change(Network& network,
                             const Membership& members,
                             const std::vector<int>& waiting,
                             const MemberChange& own,
                             bool stopped) {
    if (network.maximum(stopped ? 1 : 0) > 0) return {};
    MemberChange change{gather_leaving(network, members, own.leaving),
                        share_joining(network, waiting, own.joining)};
    if (std::ssize(change.leaving) == members.size()) return {};
    network.agree([&] { require_can_leave(network, members, change.leaving); });
    return change;
}

namespace {

std::vector<int> without_those(const std::vector<int>& numbers, const std::vector<int>& gone) {
    std::vector<int> rest;
    std::ranges::set_difference(numbers, gone, std::back_inserter(rest));
    return rest;
}

}  // namespace

Attendance::Attendance(Network& network, const TrainConfig& config) {
    if (network.maximum(config.spares.empty() ? 0 : 1) == 0) return;
    network.agree([&] {
        if (!config.resume) require_possible_spares(config.spares, network.agents());
        if (network.process() == 0) find(network, config);
    });
    ByteWriter writer;
    put_numbers(writer, waiting_);
    put_numbers(writer, members_);
    const auto agents = static_cast<std::uint64_t>(network.agents());
    const std::string said =
        network.broadcast(writer.take(), 2 * sizeof(std::uint64_t) + sizeof(std::int32_t) * agents);
    network.agree([&] {
        ByteReader reader(said, "who takes part, as rank 0 says");
        waiting_ = get_numbers(reader);
        members_ = get_numbers(reader);
        reader.require_done();
        if (waiting_.empty()) return;
        if (everybody().size() != network.agents() || members_.empty()) reader.fail();
        require_possible(network, config);
        require_own_word(network, config);
    });
}

void Attendance::find(const Network& network, const TrainConfig& config) {
    std::optional<RunHistory> history;
    if (config.resume) history = read_history(config.resume->directory);
    std::vector<int> waiting = waiting_spares(config.spares, history ? &*history : nullptr);
    if (config.resume) waiting = without_those(waiting, config.resume->joining);
    std::vector<int> members =
        history ? members_after(*history, *config.resume).numbers
                : without_those(Membership::everybody(network.agents()).numbers, waiting);
    if (std::ssize(members) + std::ssize(waiting) != network.agents()) return;
    waiting_ = std::move(waiting);
    members_ = std::move(members);
}

void Attendance::require_possible(const Network& network, const TrainConfig& config) const {
    if (!std::ranges::includes(config.spares, waiting_))
        throw ConfigError(fmt::format(
            "--spares: agents {} are to wait as rank 0 says, own option: {} (allowed: the same on "
            "all ranks)",
            fmt::join(waiting_, ","),
            fmt::join(config.spares, ",")));
    if (network.processes() == 1) return;
    if (!network.blocks().one_each())
        throw ConfigError(
            "--spares: not possible where ranks host several agents (allowed: as many ranks as "
            "agents, or one process)");
    if (waiting_.front() < members_.front())
        throw ConfigError(fmt::format(
            "--spares: agent {} cannot wait; the first rank leads the run", waiting_.front()));
}

/// In a resumed run an agent waits only if its own process was given --spares: without its files,
/// the agent could not tell that it participated before.
void Attendance::require_own_word(const Network& network, const TrainConfig& config) const {
    if (!config.resume || network.processes() == 1) return;
    const std::vector<std::string>& given = config.resume->given;
    if (std::ranges::find(given, "spares") != given.end()) return;
    const std::vector<int> places = waiting_places();
    for (const int place : network.local_agents())
        if (std::ranges::binary_search(places, place))
            throw NetworkError(
                fmt::format("rank 0 says that agent {} waits; an agent that waits must be given "
                            "--spares itself",
                            everybody().number(place)));
}

void Attendance::change(const MemberChange& change) {
    if (waiting_.empty()) return;
    std::vector<int> now;
    std::ranges::set_union(
        without_those(members_, change.leaving), change.joining, std::back_inserter(now));
    waiting_ = without_those(waiting_, change.joining);
    members_ = std::move(now);
}

Membership Attendance::everybody() const {
    Membership all;
    std::ranges::set_union(members_, waiting_, std::back_inserter(all.numbers));
    all.all = all.numbers.empty() ? 0 : all.numbers.back() + 1;
    return all;
}

PhaseEnd share_end(Network& everybody,
                   const std::optional<PhaseEnd>& own,
                   const std::vector<int>& waiting) {
    ByteWriter writer;
    if (own) {
        writer.put(std::int32_t{own->exit_code});
        writer.put_text(own->run_directory);
        put_numbers(writer, own->change.leaving);
        put_numbers(writer, own->change.joining);
    }
    const auto agents = static_cast<std::uint64_t>(everybody.agents());
    const std::string said =
        everybody.broadcast(writer.take(), most_line_bytes + sizeof(std::int32_t) * agents);
    PhaseEnd end;
    everybody.agree([&] {
        if (own) {
            end = *own;
            return;
        }
        ByteReader reader(said, "what rank 0 says of the phase that ended");
        end.exit_code = reader.get<std::int32_t>();
        end.run_directory = reader.get_text();
        end.change.leaving = get_numbers(reader);
        end.change.joining = get_numbers(reader);
        reader.require_done();
        if (!std::ranges::includes(waiting, end.change.joining)) reader.fail();
    });
    return end;
}

}  // namespace sotto
