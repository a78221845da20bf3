#include "simulation/world.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace sotto::simulation {

namespace {

World* the_world = nullptr;
thread_local Rank* this_rank = nullptr;

constexpr double seconds_to_kill = 5;
constexpr long most_steps = 2'000'000;

/// From now on this thread has a working directory of its own, as a process has.
void enter(const std::string& folder) {
    if (::unshare(CLONE_FS) != 0 || ::chdir(folder.c_str()) != 0) std::abort();
}

/// What the launcher tells a process, in the environment: one buffer, since one rank runs at a
/// time.
void say_rank(int rank, int ranks) {
    static char rank_text[48], size_text[48];
    std::snprintf(rank_text, sizeof rank_text, "OMPI_COMM_WORLD_RANK=%d", rank);
    std::snprintf(size_text, sizeof size_text, "OMPI_COMM_WORLD_SIZE=%d", ranks);
    ::putenv(rank_text);
    ::putenv(size_text);
}

}  // namespace

World* world() { return the_world; }
void set_world(World* world) { the_world = world; }
Rank* current() { return this_rank; }

World::World(WorldOptions options)
    : options_(std::move(options)), random_(options_.seed, 1), fired_(options_.faults.size()) {
    for (std::size_t place = 0; place < options_.numbers.size(); ++place) {
        auto rank = std::make_unique<Rank>();
        rank->place = static_cast<int>(place);
        rank->number = options_.numbers[place];
        for (const Fault& fault : options_.faults)
            if (is_deviation(fault.kind) && fault.rank == rank->place) rank->deviates = true;
        ranks_.push_back(std::move(rank));
    }
}

std::string World::run(const std::function<int(int place)>& body) {
    const double start = now_;
    for (auto& owned : ranks_) {
        Rank* const rank = owned.get();
        rank->thread = std::thread([this, rank, &body] {
            this_rank = rank;
            enter(options_.folders[static_cast<std::size_t>(rank->place)]);
            rank->go.acquire();
            rank->exit_code = body(rank->place);
            rank->state = RankState::ended;
            close_files(*rank);
            if (rank->exit_code != 0) end_job();
            trace(fmt::format("ends with {}", rank->exit_code));
            back_.release();
        });
        rank->thread.detach();
    }
    for (;;) {
        if (kill_at_ > 0 && now_ >= kill_at_) kill_others();
        if (now_ - start > options_.limit_seconds || steps_ > most_steps) break;
        Rank* const rank = next();
        if (rank == nullptr) {
            if (!advance()) break;
            continue;
        }
        ++steps_;
        give_baton(*rank);
        if (on_step) on_step();
    }
    for (const auto& rank : ranks_)
        if (rank->state == RankState::ready || rank->state == RankState::waiting)
            return fmt::format("rank {} still waits after {:.6g} s and {} steps",
                               rank->place,
                               now_ - start,
                               steps_);
    return {};
}

Rank* World::next() {
    std::vector<Rank*> able;
    while (!arrivals_.empty() && arrivals_.begin()->first <= now_) {
        ranks_[static_cast<std::size_t>(arrivals_.begin()->second)]->heard = true;
        arrivals_.erase(arrivals_.begin());
    }
    for (const auto& rank : ranks_)
        if (rank->state == RankState::ready ||
            (rank->state == RankState::waiting && (rank->heard || rank->wake <= now_)))
            able.push_back(rank.get());
    return able.empty() ? nullptr : random_.choose(able);
}

/// To the next moment at which something happens. @return false if nothing ever will.
bool World::advance() {
    double soonest = INFINITY;
    bool anybody = false;
    for (const auto& rank : ranks_)
        if (rank->state == RankState::waiting) {
            soonest = std::min(soonest, rank->wake);
            anybody = true;
        }
    if (!anybody) return false;
    if (!arrivals_.empty()) soonest = std::min(soonest, arrivals_.begin()->first);
    if (kill_at_ > 0) soonest = std::min(soonest, kill_at_);
    if (std::isinf(soonest)) return false;
    now_ = std::max(now_, soonest);
    return true;
}

void World::give_baton(Rank& rank) {
    rank.state = RankState::ready;
    say_rank(rank.place, size());
    rank.go.release();
    back_.acquire();
}

void World::hand_back() {
    back_.release();
    this_rank->go.acquire();
}

void World::wait(double seconds, bool for_messages) {
    Rank& rank = *this_rank;
    rank.wake = now_ + seconds;
    if (for_messages && rank.heard) {
        rank.heard = false;
        return;
    }
    do {
        rank.heard = false;
        rank.state = RankState::waiting;
        hand_back();
    } while (!for_messages && now_ < rank.wake);
    rank.heard = false;
}

long counted(const Fault& fault, const Rank& rank, long number) {
    if (!fault.exchanged) return number;
    const long before = is_of_disk(fault.kind) ? rank.writes_before : rank.calls_before;
    return before < 0 ? -1 : number - before;
}

void World::call(const char* what) {
    Rank& rank = *this_rank;
    tick();
    const long number = rank.calls++;
    trace(what);
    for (std::size_t i = 0; i < options_.faults.size(); ++i) {
        const Fault& fault = options_.faults[i];
        if (fault.rank != rank.place || fault.kind < FaultKind::stop || is_of_disk(fault.kind) ||
            counted(fault, rank, number) != fault.at)
            continue;
        ++fired_[i];
        fail(fault, rank);
    }
}

void World::fail(const Fault& fault, Rank& rank) {
    trace(std::string(name_of(fault.kind)));
    switch (fault.kind) {
        case FaultKind::stop:
            rank.state = RankState::stopped;
            back_.release();
            for (;;) ::pause();
        case FaultKind::lag:
            wait(fault.seconds, false);
            break;
        case FaultKind::power_loss:
            if (on_power_loss) on_power_loss(rank);
            [[fallthrough]];
        case FaultKind::crash:
            end_job();
            die(Death::crashed);
        case FaultKind::interrupt: {
            struct sigaction action {};
            ::sigaction(SIGINT, nullptr, &action);
            if (action.sa_handler != SIG_DFL) (void)std::raise(SIGINT);
            break;
        }
        default:
            break;
    }
}

void World::die(Death why) {
    Rank& rank = *this_rank;
    rank.state = RankState::dead;
    rank.death = why;
    trace("is gone");
    close_files(rank);
    back_.release();
    for (;;) ::pause();
}

void World::end_job() {
    if (options_.launcher_attends && kill_at_ == 0) kill_at_ = now_ + seconds_to_kill;
}

void World::kill_others() {
    for (const auto& rank : ranks_)
        if (rank->state != RankState::ended && rank->state != RankState::dead) {
            rank->state = RankState::dead;
            rank->death = Death::killed;
            close_files(*rank);
        }
    kill_at_ = 0;
}

/// As the operating system does for a process that is gone; locks end with them.
void World::close_files(Rank& rank) {
    for (const int file : rank.files) ::close(file);
    rank.files.clear();
}

void World::announce(int to, double time) { arrivals_.emplace(time, to); }

void World::trace(const std::string& line) {
    const int place = this_rank != nullptr ? this_rank->place : -1;
    digest_ = hash_of({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()},
                      digest_ + static_cast<std::uint64_t>(place) + 1);
    if (options_.trace) {
        const std::string text = fmt::format("{:12.6f} rank {}: {}\n", now_, place, line);
        (void)!::write(STDOUT_FILENO, text.data(), text.size());
    }
}

}  // namespace sotto::simulation
