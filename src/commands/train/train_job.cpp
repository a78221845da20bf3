#include "commands/train/train_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/cli/job.hpp"
#include "commands/cli/progress.hpp"
#include "commands/cli/stop_signal.hpp"
#include "commands/train/member_requests.hpp"
#include "commands/train/train_report.hpp"
#include "run/run_history.hpp"
#include "run/training.hpp"
#include "run/training/participants.hpp"
#include "run/training_summary.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

namespace {

/// Shows a training, and knows who takes part and who of them is asked to leave or to join.
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
    /// What this process was asked. LOCAL.
    [[nodiscard]] MemberChange asked() {
        return {leave_.of(network_, members_), join_.of(network_)};
    }

  private:
    Network& network_;
    LeaveRequests leave_;
    JoinRequests join_;
    Membership members_;
};

/// How a phase ended.
struct PhaseEnd {
    int exit_code = 0;
    MemberChange change{};        ///< none: the run ends
    Membership members{};         ///< who took part
    std::string run_directory{};  ///< process 0's
};

void say_who_changes(const GeneralOptions& general, const MemberChange& change, long round) {
    std::FILE* report = report_stream(general);
    if (report == nullptr) return;
    const auto say = [&](const std::vector<int>& who, std::string_view does) {
        if (!who.empty())
            fmt::print(report,
                       "agent{} {} {}{} after round {}; the others go on\n",
                       who.size() == 1 ? "" : "s",
                       fmt::join(who, ", "),
                       does,
                       who.size() == 1 ? "s" : "",
                       round);
    };
    say(change.leaving, "leave");
    say(change.joining, "join");
}

/// Of those who take part. COLLECTIVE. @param waiting spares.
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
    if (report != nullptr && network.processes() == 1 && network.agents() > 1)
        fmt::print(report,
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
        if (report != nullptr) {
            fmt::print(report, "{}", summary_text(result, config));
            std::fflush(report);
        }
    }
    return {static_cast<int>(result.interrupted ? ExitCode::interrupted : ExitCode::ok)};
}

/// What spares must know of a phase: that it is over, and whether one with them comes next.
std::string pack_end(const PhaseEnd& end) {
    ByteWriter writer;
    writer.put(std::int32_t{end.exit_code});
    writer.put_text(end.run_directory);
    for (const std::vector<int>* numbers : {&end.change.leaving, &end.change.joining}) {
        writer.put(static_cast<std::uint64_t>(numbers->size()));
        for (const int number : *numbers) writer.put(std::int32_t{number});
    }
    return writer.take();
}

std::vector<int> unpack_numbers_of(ByteReader& reader) {
    std::vector<int> numbers(reader.get_count(sizeof(std::int32_t)));
    for (int& number : numbers) number = reader.get<std::int32_t>();
    if (!std::ranges::is_sorted(numbers)) reader.fail();
    return numbers;
}

/// The members' end as all know it, spares too. COLLECTIVE over both.
PhaseEnd share_end(Network& everybody, PhaseEnd own) {
    const std::string said = everybody.broadcast(
        pack_end(own),
        most_line_bytes + sizeof(std::int32_t) * static_cast<std::uint64_t>(everybody.agents()));
    everybody.agree([&] {
        ByteReader reader(said, "what rank 0 says of the phase that ended");
        own.exit_code = reader.get<std::int32_t>();
        own.run_directory = reader.get_text();
        own.change.leaving = unpack_numbers_of(reader);
        own.change.joining = unpack_numbers_of(reader);
        reader.require_done();
    });
    return own;
}

/// More than any run has, as --agents.
constexpr std::uint64_t most_agents_of_runs = 200000;

/// Who of a network's agents takes part, and who waits.
class Attendance {
  public:
    /// COLLECTIVE: where a run is taken up, process 0 knows who has joined.
    Attendance(Network& network, const TrainConfig& config) {
        if (network.maximum(config.spares.empty() ? 0 : 1) == 0) return;
        std::optional<RunHistory> history;
        network.agree([&] {
            if (!config.resume) require_possible_spares(config.spares, network.agents());
            if (config.resume && network.process() == 0)
                history = read_history(config.resume->directory);
        });
        ByteWriter writer;
        if (network.process() == 0) put_members(writer, config, network, history);
        const std::string said = network.broadcast(
            writer.take(), 2 * sizeof(std::uint64_t) + sizeof(std::int32_t) * most_agents_of_runs);
        network.agree([&] {
            ByteReader reader(said, "who takes part, as rank 0 says");
            waiting_ = unpack_numbers_of(reader);
            members_ = unpack_numbers_of(reader);
            reader.require_done();
            if (!std::ranges::includes(config.spares, waiting_))
                throw ConfigError(fmt::format(
                    "--spares: agents {} are to wait as rank 0 says, own option: {} (allowed: the "
                    "same on all ranks)",
                    fmt::join(waiting_, ","),
                    fmt::join(config.spares, ",")));
            require_apart(network);
            require_own_word(network, config);
        });
    }

    [[nodiscard]] const std::vector<int>& waiting() const { return waiting_; }

    /// Places of the spares among all.
    [[nodiscard]] std::vector<int> waiting_places() const { return everybody().places(waiting_); }
    /// Places of those that leave among all. @param members who took part.
    [[nodiscard]] std::vector<int> places_of(const std::vector<int>& leaving,
                                             const Membership& members) const {
        return waiting_.empty() ? members.places(leaving) : everybody().places(leaving);
    }
    void change(const MemberChange& change) {
        if (waiting_.empty()) return;
        std::vector<int> rest, joined, waiting;
        std::ranges::set_difference(members_, change.leaving, std::back_inserter(rest));
        std::ranges::set_union(rest, change.joining, std::back_inserter(joined));
        std::ranges::set_difference(waiting_, change.joining, std::back_inserter(waiting));
        members_ = std::move(joined);
        waiting_ = std::move(waiting);
    }

  private:
    static void put_numbers(ByteWriter& writer, const std::vector<int>& numbers) {
        writer.put(static_cast<std::uint64_t>(numbers.size()));
        for (const int number : numbers) writer.put(std::int32_t{number});
    }
    /// On process 0. Where the spares were not started nobody waits.
    static void put_members(ByteWriter& writer,
                            const TrainConfig& config,
                            const Network& network,
                            const std::optional<RunHistory>& history) {
        std::vector<int> waiting = waiting_spares(config.spares, history ? &*history : nullptr);
        std::vector<int> members;
        if (history) {
            const ResumeConfig& change = *config.resume;
            members = members_after(*history, change).numbers;
            std::vector<int> rest;
            std::ranges::set_difference(waiting, change.joining, std::back_inserter(rest));
            waiting = std::move(rest);
            if (std::ssize(members) == network.agents()) waiting.clear();
        } else {
            std::ranges::set_difference(Membership::everybody(network.agents()).numbers,
                                        waiting,
                                        std::back_inserter(members));
        }
        if (std::ssize(members) + std::ssize(waiting) != network.agents()) waiting.clear();
        put_numbers(writer, waiting);
        put_numbers(writer, members);
    }
    /// @throws ConfigError.
    void require_apart(const Network& network) const {
        if (waiting_.empty() || network.processes() == 1) return;
        if (!network.blocks().one_each())
            throw ConfigError(
                "--spares: not possible where ranks host several agents (allowed: as many ranks as "
                "agents, or one process)");
        if (waiting_.front() < members_.front())
            throw ConfigError(fmt::format(
                "--spares: agent {} cannot wait; the first rank leads the run", waiting_.front()));
    }
    /// Whoever takes up a run waits by its own word only: where its files are not at hand, it could
    /// not tell that it has taken part. @throws NetworkError.
    void require_own_word(const Network& network, const TrainConfig& config) const {
        if (!config.resume || network.processes() == 1) return;
        const std::vector<std::string>& given = config.resume->given;
        if (std::ranges::find(given, "spares") != given.end()) return;
        const std::vector<int> places = waiting_places();
        for (const int place : network.local_agents())
            if (std::ranges::binary_search(places, place))
                throw NetworkError(fmt::format(
                    "rank 0 says that agent {} waits; whoever waits must be given --spares itself",
                    everybody().number(place)));
    }
    /// Members and spares, by place in the network.
    [[nodiscard]] Membership everybody() const {
        Membership all;
        std::ranges::set_union(members_, waiting_, std::back_inserter(all.numbers));
        all.all = all.numbers.empty() ? 0 : all.numbers.back() + 1;
        return all;
    }

    std::vector<int> waiting_, members_;
};

/// One phase of those who take part, while spares wait. COLLECTIVE over all.
PhaseEnd phase_beside_spares(Network& everybody,
                             const Attendance& there,
                             const GeneralOptions& general,
                             const TrainConfig& config) {
    PhaseEnd end;
    if (const auto members = everybody.without(there.waiting_places())) {
        const int code = run_together(*members, [&] {
            end = train_phase(*members, general, config, there.waiting());
            return end.exit_code;
        });
        // Spares hear of a failure as of any other end.
        if (code != end.exit_code) end = {code};
    } else {
        constexpr double between_looks = 0.05;
        everybody.watch_for_stalls({0, 0, "", {}, between_looks});
    }
    return share_end(everybody, std::move(end));
}

}  // namespace

int train_on(Network& network, const GeneralOptions& general, const TrainConfig& config) {
    watch_for_stop();
    watch_for_leaving();
    TrainConfig now = config;
    Attendance there(network, now);
    Network* all = &network;
    std::unique_ptr<Network> rest;
    for (;;) {
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
        now.resume = ResumeConfig{end.run_directory, end.change.leaving, end.change.joining};
    }
}

}  // namespace sotto::cli
