#include "simulation/run_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "simulation/disk.hpp"
#include "simulation/job.hpp"
#include "simulation/start.hpp"
#include "sotto/core/error.hpp"
#include "trust/identity.hpp"

namespace sotto::simulation {

namespace fs = std::filesystem;

namespace {

constexpr int most_starts = 4;

/// Bootstraps may take ten times as long as rounds; so may what follows them, and 300 s what comes
/// before options are read.
constexpr double limit_seconds = 400 + 40 * stall_abort_seconds;

/// Sixty records with four features.
std::string small_data() {
    Random random(7);
    std::string text;
    for (int record = 0; record < 60; ++record)
        text += fmt::format("{} 1:{:.3f} 2:{:.3f} 3:{:.3f} 4:{:.3f}\n",
                            record % 2 == 0 ? "+1" : "-1",
                            random.unit() - 0.5,
                            random.unit(),
                            random.unit() - 0.2,
                            random.unit());
    return text;
}

/// A schedule in its folder: disks, what they were, and what everybody has seen so far.
class Runner {
  public:
    Runner(std::uint64_t seed, std::string folder, const RunOptions& options)
        : schedule_(seed),
          folder_(std::move(folder)),
          trace_(options.trace),
          planted_(options.planted),
          faults_(options.faults),
          lost_(options.lost) {}

    ScheduleResult run() {
        set_up();
        Start start = schedule_.first_start();
        plant(start);
        for (int number = 0; number < most_starts; ++number) {
            if (number > 0) {
                if (planted_ != Planted::nothing || !schedule_.goes_on()) break;
                start = schedule_.next_start(start, std::exchange(lost_, {}));
                put_back(start);
                lose(start);
            }
            if (carry_out(start, number)) break;
        }
        if (comparable()) compare();
        return std::move(result_);
    }

  private:
    std::string disk_of(int agent) const {
        return disks() + (schedule_.shared_disk() ? "/shared" : fmt::format("/disk-{}", agent));
    }
    std::string disks() const { return folder_ + "/disks"; }
    std::string snapshot() const { return folder_ + "/snapshot"; }

    void set_up() {
        for (int agent = 0; agent < schedule_.agents(); ++agent) {
            fs::create_directories(disk_of(agent));
            set_content(fmt::format("{}/boot-{}", disks(), agent), fmt::format("boot-{}\n", agent));
        }
        set_content(disks() + "/data.svm", small_data());
        if (!schedule_.identities()) return;
        seed_randomness(schedule_.seed() ^ 0x1d);
        for (int agent = 0; agent < schedule_.agents(); ++agent)
            (void)enroll(fmt::format("{}/identity-{}", disks(), agent),
                         disks() + "/roster",
                         fmt::format("agent-{}", agent));
    }

    void plant(Start& start) const {
        if (faults_) {
            start.faults = *faults_;
            start.launcher_attends = false;
        }
        if (planted_ == Planted::nothing) return;
        start.faults.clear();
        start.launcher_attends = false;
        if (planted_ == Planted::endless_wait)
            start.faults.push_back({FaultKind::stop, 1, 0, false, 60, 0});
    }

    /// Old disks: of some hosts, what a copy kept.
    void put_back(const Start& start) {
        if (!fs::exists(snapshot())) return;
        for (const int agent : start.old_disks) {
            const fs::path old = snapshot() / fs::relative(disk_of(agent), disks());
            if (!fs::exists(old)) continue;
            fs::remove_all(disk_of(agent));
            fs::copy(old, disk_of(agent), fs::copy_options::recursive);
            ++result_.old_disks;
            if (schedule_.shared_disk())
                for (int other = 0; other < schedule_.agents(); ++other) put_back_.insert(other);
            else
                put_back_.insert(agent);
        }
        old_.insert(put_back_.begin(), put_back_.end());
        // Their copies may have been on it.
        if (!put_back_.empty()) old_.insert(gone_.begin(), gone_.end());
        // Seeds of a clean stop that are put back on all disks are resumed a second time
        // (docs/resuming.md says so): nobody remembers what was used since the copy.
        if (std::ranges::includes(put_back_, start.numbers)) uses_ = uses_before_copy_;
    }

    /// Of these hosts nothing is left of the run, unless others keep copies.
    void lose(const Start& start) {
        if (start.lost_disks.empty() || schedule_.shared_disk()) return;
        // Who keeps the newest copy for whom is not asked here: with two that miss something nobody
        // may have it, nor where what was to be kept was changed on the way.
        const bool others_know =
            start.lost_disks.size() == 1 && put_back_.empty() && gone_.empty() && !changed_;
        front_lost_ = front_lost_ || (start.lost_disks.front() == start.numbers.front() &&
                                      fs::exists(history_of(start)));
        for (const int agent : start.lost_disks) {
            result_.lost_disks += fs::remove_all(disk_of(agent) + "/run") > 0 ? 1 : 0;
            gone_.insert(agent);
        }
        if (!others_know) old_.insert(gone_.begin(), gone_.end());
    }
    std::string history_of(const Start& start) const {
        return disk_of(start.numbers.front()) + "/run/history.json";
    }
    /// Whether the run is resumed: its files are there, or copies of them elsewhere.
    bool is_there(const Start& start) const {
        if (fs::exists(history_of(start))) return true;
        return front_lost_ && std::ranges::any_of(start.numbers, [&](int agent) {
                   return fs::exists(disk_of(agent) + "/run/checkpoints/run.copy");
               });
    }

    /// What must be counted: of agents whose marks are old, what others still know.
    std::map<int, long> known_rounds() const {
        long others = 0;
        for (const auto& [agent, rounds] : sent_)
            if (!old_.contains(agent)) others = std::max(others, rounds);
        std::map<int, long> known;
        for (const auto& [agent, rounds] : sent_)
            known[agent] = old_.contains(agent) ? std::min(rounds, others) : rounds;
        return known;
    }

    StartOptions options_of(const Start& start, int number, bool resumed) const {
        StartOptions options;
        options.world = {.seed = schedule_.seed() * 8 + static_cast<std::uint64_t>(number),
                         .numbers = start.numbers,
                         .folders = {},
                         .faults = start.faults,
                         .launcher_attends = start.launcher_attends,
                         .limit_seconds = limit_seconds,
                         .trace = trace_};
        for (const int agent : start.numbers) options.world.folders.push_back(disk_of(agent));
        options.arguments = resumed ? schedule_.arguments(start) : schedule_.arguments();
        const auto limit = std::ranges::find(options.arguments, "--stall-abort");
        if (planted_ == Planted::endless_wait) *(limit + 1) = "0";
        if (planted_ == Planted::silent_end)
            options.arguments.insert(options.arguments.end(), {"--epsilon", "-1"});
        options.ledger = disk_of(start.numbers.front()) + "/run/ledger.json";
        options.snapshot = snapshot();
        options.disks = disks();
        options.snapshot_step = start.snapshot_step;
        options.gossip_steps = schedule_.gossip_steps();
        options.link_encryption = schedule_.link_encryption();
        options.sent_before = known_rounds();
        options.planted = planted_;
        return options;
    }

    /// @return whether nothing is left to do.
    bool carry_out(Start& start, int number) {
        const bool resumed = is_there(start);
        if (!resumed && number > 0) {
            // It never came to a run directory, or lost it: another run begins.
            start.numbers.clear();
            for (int agent = 0; agent < schedule_.agents(); ++agent) start.numbers.push_back(agent);
            start.leaving.clear();
            for (int agent = 0; agent < schedule_.agents(); ++agent)
                fs::remove_all(disk_of(agent) + "/run");
            sent_.clear();
            old_.clear();
            put_back_.clear();
            gone_.clear();
            front_lost_ = false;
            forget_reproducible();
        }
        if (std::ssize(old_) == schedule_.agents()) forget_reproducible();
        const StartOptions options = options_of(start, number, resumed);
        ++result_.starts;
        result_.resumed += resumed ? 1 : 0;
        result_.departures += std::ssize(start.leaving);
        if (trace_)
            fmt::print("start {}: {} ranks{}\n", number, start.numbers.size(), faults_of(start));
        const StartOutcome outcome = run_start(options, uses_);
        if (start.snapshot_step > 0 && outcome.steps >= start.snapshot_step)
            uses_before_copy_ = uses_;
        result_.digest = result_.digest * 31 + outcome.digest;
        for (const Use& use : outcome.uses)
            uses_.try_emplace({use.what[0], use.what[1]}, use.content);
        for (std::size_t i = 0; i < outcome.fired.size(); ++i)
            if (outcome.fired[i] > 0) note_fault(start.faults[i].kind);
        for (const std::string& text : outcome.violations)
            result_.violations.push_back(fmt::format("start {}: {}", number, text));
        bool finished = !outcome.ranks.empty();
        for (const RankOutcome& rank : outcome.ranks) {
            finished = finished && rank.state == RankState::ended && rank.exit_code == 0;
            if (rank.exchanges > 0) put_back_.clear();
            if (rank.exchanges > 0) result_.came_back += gone_.contains(rank.number) ? 1 : 0;
            sent_[rank.number] +=
                (rank.exchanges + schedule_.gossip_steps() - 1) / schedule_.gossip_steps();
        }
        if (sent_anything(outcome)) gone_.clear();
        judge(outcome, number);
        check_ledger(options, outcome, number);
        result_.completed = result_.completed || finished;
        return finished || !result_.violations.empty();
    }

    /// Noise of a --noise-seed is the same for every run, and nobody remembers one of which all
    /// disks are old: this is what the option says it does.
    void forget_reproducible() {
        if (schedule_.reproducible()) uses_.clear();
    }

    static std::string faults_of(const Start& start) {
        std::string text;
        for (const Fault& fault : start.faults)
            text += fmt::format(", {} (rank {}, peer {}, {}, at {}, {:.3g} s)",
                                name_of(fault.kind),
                                fault.rank,
                                fault.peer,
                                fault.exchanged ? "exchange" : "control",
                                fault.at,
                                fault.seconds);
        for (const int agent : start.old_disks) text += fmt::format(", old disk of {}", agent);
        for (const int agent : start.lost_disks) text += fmt::format(", lost disk of {}", agent);
        for (const int agent : start.leaving) text += fmt::format(", without {}", agent);
        return text + (start.launcher_attends ? "" : ", no launcher");
    }

    /// Every honest rank ends with a named reason or a finished run.
    void judge(const StartOutcome& outcome, int number) {
        const bool named = std::ranges::any_of(outcome.ranks, [](const RankOutcome& rank) {
            return rank.lines.find("sotto: ") != std::string::npos;
        });
        const bool broken = std::ranges::any_of(outcome.ranks, [](const RankOutcome& rank) {
            return rank.death == Death::crashed || rank.state == RankState::stopped;
        });
        for (const RankOutcome& rank : outcome.ranks) {
            const auto violation = [&](const std::string& text) {
                result_.violations.push_back(
                    fmt::format("start {}: agent {} {}", number, rank.number, text));
            };
            Ending ending = Ending::gone;
            if (rank.state == RankState::ended && rank.exit_code == 0)
                ending = Ending::finished;
            else if (rank.state == RankState::ended || rank.death == Death::aborted) {
                ending = rank.exit_code == static_cast<int>(ExitCode::interrupted) &&
                                 rank.lines.find("sotto: ") == std::string::npos && !named
                             ? Ending::stopped_cleanly
                             : Ending::refused;
                if (ending == Ending::refused && !named)
                    violation(fmt::format("ends with {} and nobody says why", rank.exit_code));
                if (rank.death == Death::aborted && rank.lines.find("sotto: ") == std::string::npos)
                    violation("ends the job without a reason");
            } else if (rank.death == Death::killed) {
                ending = Ending::ended_by_others;
                if (!named && !broken) violation("is ended, and nobody says why");
            }
            ++result_.endings[static_cast<std::size_t>(ending)];
            if (!rank.lines.empty())
                result_.lines.push_back(
                    fmt::format("start {} agent {}: {}", number, rank.number, rank.lines));
            for (const char* raw :
                 {"basic_string", "vector::", "map::at", "stoi", "std::", "unknown error"})
                if (rank.lines.find(raw) != std::string::npos)
                    violation(fmt::format("says what only a library says: {}", rank.lines));
        }
    }

    void note_fault(FaultKind kind) {
        ++result_.fired[static_cast<std::size_t>(kind)];
        changed_ = changed_ || is_deviation(kind) || kind == FaultKind::corrupt ||
                   kind == FaultKind::tear || kind == FaultKind::replay;
    }

    static bool sent_anything(const StartOutcome& outcome) {
        return std::ranges::any_of(outcome.ranks,
                                   [](const RankOutcome& rank) { return rank.exchanges > 0; });
    }

    /// What is on disk now counts all that left.
    void check_ledger(const StartOptions& options, const StartOutcome& outcome, int number) {
        if (outcome.ranks.empty() || outcome.ranks.front().deviates) return;
        const auto counted = counted_rounds(options.ledger, schedule_.agents());
        const auto known = known_rounds();
        // Old and lost disks are counted for again by the next start that gets so far.
        if (!sent_anything(outcome) && !(old_.empty() && gone_.empty())) return;
        for (const RankOutcome& rank : outcome.ranks) {
            if (rank.deviates) continue;
            const auto own = counted.find(rank.number);
            const auto left = known.find(rank.number);
            if (left != known.end() && (own == counted.end() ? 0 : own->second) < left->second)
                result_.violations.push_back(fmt::format(
                    "start {}: the ledger on disk counts {} rounds of agent {}, but {} have left",
                    number,
                    own == counted.end() ? 0 : own->second,
                    rank.number,
                    left->second));
        }
    }

    /// Whether nothing went wrong but that something took long.
    bool comparable() const {
        if (schedule_.has_deadline() && !schedule_.faultless()) return false;  // some are late
        if (!schedule_.reproducible() || planted_ != Planted::nothing || !result_.completed ||
            result_.starts != 1)
            return schedule_.faultless() && planted_ == Planted::nothing && !faults_;
        for (std::size_t kind = 0; kind < result_.fired.size(); ++kind)
            if (result_.fired[kind] > 0 && static_cast<FaultKind>(kind) != FaultKind::delay &&
                static_cast<FaultKind>(kind) != FaultKind::lag)
                return false;
        return true;
    }

    /// Then the models are those of one process.
    void compare() {
        const std::string reference = folder_ + "/reference/all";
        fs::create_directories(reference);
        set_content(folder_ + "/reference/data.svm", small_data());
        if (run_reference(schedule_.reference_arguments(), reference) != 0) {
            if (result_.completed)
                result_.violations.emplace_back("one process refuses what ranks carry out");
            return;
        }
        result_.compared = true;
        for (int agent = 0; agent < schedule_.agents(); ++agent) {
            const std::string model = fmt::format("/run/agents/{}/model.npy", agent);
            const auto one = content_of(reference + model);
            if (!one || one != content_of(disk_of(agent) + model))
                result_.violations.push_back(
                    fmt::format("agent {}'s model is not that of one process", agent));
        }
    }

    Schedule schedule_;
    std::string folder_;
    bool trace_;
    Planted planted_;
    std::optional<std::vector<Fault>> faults_;
    ScheduleResult result_;
    Uses uses_;
    Uses uses_before_copy_;     // of starts before the one in which disks were copied
    std::map<int, long> sent_;  // rounds of every agent, over all starts
    std::set<int> old_;         // agents whose disk was put back
    std::set<int> put_back_;    // the same, since anything was sent
    std::vector<int> lost_;     // hosts that lose their disks next, beside those of the seed
    std::set<int> gone_;        // agents whose disk was lost since anything was sent
    bool front_lost_ = false;   // rank 0's disk was
    bool changed_ = false;      // somebody said something else than it should, or the network did
};

}  // namespace

ScheduleResult run_schedule(std::uint64_t seed,
                            const std::string& folder,
                            const RunOptions& options) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    // Descriptors are known by the names that the system gives their files.
    ScheduleResult result = Runner(seed, fs::canonical(folder).string(), options).run();
    fs::remove_all(folder);
    return result;
}

}  // namespace sotto::simulation
