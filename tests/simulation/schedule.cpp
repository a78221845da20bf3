#include "simulation/schedule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/round_faults.hpp"

namespace sotto::simulation {

namespace {

constexpr std::array<std::string_view, 14> mechanisms{"pairs",
                                                      "pairs",
                                                      "decor",
                                                      "corn",
                                                      "corn-hbc",
                                                      "ldp",
                                                      "laplace",
                                                      "muffliato",
                                                      "anti-pgd",
                                                      "zip-dl",
                                                      "space-time",
                                                      "mafalda",
                                                      "homomorphic",
                                                      "cdp"};
constexpr std::array<std::string_view, 4> topologies{"ring", "complete", "path", "star"};

}  // namespace

Schedule::Schedule(std::uint64_t seed) : seed_(seed), random_(seed, 0), losses_(seed, 6) {
    draw_job();
    draw_deadline(Random(seed, 7));
    draw_lies(Random(seed, 8));
}

/// Whether the mechanism and the options can do without some messages, or hear lies.
bool Schedule::plain_gossip() const {
    constexpr std::array<std::string_view, 5> possible{"pairs", "decor", "corn", "corn-hbc", "ldp"};
    return std::ranges::find(possible, mechanism_) != possible.end() && !secure_sum_ &&
           schedule_.empty();
}

void Schedule::draw_deadline(Random random) {
    if (!plain_gossip() || gossip_steps_ > 1 || !random.chance(0.4)) return;
    // Nobody is late where nothing goes wrong: models are then those of one process.
    const double seconds = faultless_ ? 60 : std::exp(std::log(0.02) + random.unit() * 5);
    late_ = {"--round-deadline", fmt::format("{:.3g}", seconds)};
    if (faultless_) return;
    if (random.chance(0.5)) late_.insert(late_.end(), {"--faults", "silent:0.2"});
    if (random.chance(0.3)) late_.insert(late_.end(), {"--max-lag", "2"});
}

/// An agent lies, and the others limit what they hear.
void Schedule::draw_lies(Random random) {
    if (!plain_gossip() || has_deadline() || !random.chance(0.4)) return;
    lies_ = {"--faults",
             fmt::format("lie:{}:{}",
                         random.choose(lie_kinds.entries).second,
                         random.below(static_cast<std::uint64_t>(agents_)))};
    if (random.chance(0.7)) lies_.insert(lies_.end(), {"--robust", "clip"});
}

void Schedule::draw_job() {
    agents_ = static_cast<int>(random_.between(3, 6));
    rounds_ = random_.between(3, 8);
    checkpoint_every_ = random_.chance(0.1) ? 0 : random_.between(1, 3);
    evaluate_every_ = random_.between(1, 4);
    mechanism_ = random_.choose(mechanisms);
    topology_ = random_.choose(topologies);
    task_ = random_.chance(0.5) ? "quadratic" : "logistic";
    link_encryption_ = random_.chance(0.85);
    reproducible_ = random_.chance(0.3);
    identities_ = random_.chance(0.5);
    shared_disk_ = random_.chance(0.5);
    faultless_ = random_.chance(0.1);
    if (faultless_) reproducible_ = true;
    distributed_ = random_.chance(0.2);
    const bool own_messages =
        mechanism_ == "zip-dl" || mechanism_ == "homomorphic" || mechanism_ == "cdp";
    const bool one_step = mechanism_ == "laplace" || mechanism_ == "zip-dl" ||
                          mechanism_ == "homomorphic" || mechanism_ == "muffliato";
    cyclic_ = mechanism_ == "mafalda" || mechanism_ == "space-time";
    if (cyclic_) task_ = "logistic";
    secure_sum_ = !own_messages && random_.chance(0.25);
    if (random_.chance(0.2) && !one_step) gossip_steps_ = 2;
    if (mechanism_ == "pairs" && random_.chance(0.1)) {
        topology_ = "exponential";
        schedule_ = "one-peer";
        secure_sum_ = false;
        gossip_steps_ = 1;
    }
}

std::vector<std::string> Schedule::reference_arguments() const {
    std::vector<std::string> list{"train",
                                  "--mechanism",
                                  mechanism_,
                                  "--rounds",
                                  std::to_string(rounds_),
                                  "--checkpoint-every",
                                  std::to_string(checkpoint_every_),
                                  "--eval-every",
                                  std::to_string(evaluate_every_),
                                  "--topology",
                                  topology_,
                                  "--agents",
                                  std::to_string(agents_),
                                  "--gossip-steps",
                                  std::to_string(gossip_steps_),
                                  // Exchanges are counted as rounds.
                                  "--final-gossip",
                                  "0",
                                  "--task",
                                  task_,
                                  "--secure-sum",
                                  secure_sum_ ? "on" : "off",
                                  "--threads",
                                  "1",
                                  "--run-directory",
                                  "run"};
    const auto add = [&](const std::string& name, const std::string& value) {
        list.push_back(name);
        list.push_back(value);
    };
    if (task_ == "logistic") {
        add("--data", "../data.svm");
        add("--partition", "iid");
        add("--batch-size", "2");
    }
    if (cyclic_) {
        add("--adjacency", "record");
        add("--participation", "cyclic:2");
    }
    if (!schedule_.empty()) add("--mixing-schedule", schedule_);
    if (reproducible_) add("--noise-seed", std::to_string(seed_ % 1000));
    if (distributed_) add("--bootstrap", "distributed");
    list.insert(list.end(), lies_.begin(), lies_.end());
    return list;
}

std::vector<std::string> Schedule::arguments() const {
    std::vector<std::string> list = reference_arguments();
    for (const std::string& one : {std::string("--link-encryption"),
                                   std::string(link_encryption_ ? "on" : "off"),
                                   std::string("--stall-abort"),
                                   fmt::format("{:g}", stall_abort_seconds)})
        list.push_back(one);
    list.insert(list.end(), late_.begin(), late_.end());
    if (identities_)
        for (const char* one : {"--roster", "../roster", "--identity", "../identity-%r"})
            list.emplace_back(one);
    return list;
}

std::vector<std::string> Schedule::arguments(const Start& resumed) const {
    std::vector<std::string> list{
        "train", "--resume", "run", "--stall-abort", fmt::format("{:g}", stall_abort_seconds)};
    if (!resumed.leaving.empty()) {
        list.emplace_back("--without");
        list.push_back(fmt::format("{}", fmt::join(resumed.leaving, ",")));
    }
    if (lost_any_ && identities_) {
        list.emplace_back("--identity");
        list.emplace_back("../identity-%r");
    }
    return list;
}

Fault Schedule::draw_fault(int ranks) {
    Fault fault;
    fault.kind =
        static_cast<FaultKind>(random_.below(static_cast<std::uint64_t>(FaultKind::count)));
    fault.rank = static_cast<int>(random_.below(static_cast<std::uint64_t>(ranks)));
    fault.peer = static_cast<int>(random_.below(static_cast<std::uint64_t>(ranks - 1)));
    if (fault.peer >= fault.rank) ++fault.peer;
    fault.exchanged = random_.chance(0.5);
    fault.seconds = std::exp(std::log(0.01) + random_.unit() * std::log(4000.0));
    if (is_of_message(fault.kind))
        fault.at = random_.between(0, fault.exchanged ? rounds_ * gossip_steps_ : 160);
    else if (is_of_disk(fault.kind))
        fault.at = random_.between(0, fault.exchanged ? 15 * rounds_ : fault.rank == 0 ? 75 : 50);
    else
        fault.at = random_.between(0, fault.exchanged ? 40 * rounds_ : 340);
    if (fault.kind == FaultKind::disk_full) fault.seconds = random_.chance(0.5) ? 1 : 1e9;
    return fault;
}

std::vector<Fault> Schedule::draw_faults(int ranks) {
    std::vector<Fault> faults;
    if (faultless_ || ranks < 2) return faults;
    // All that deviate are one rank: others are honest.
    const int deviating = static_cast<int>(random_.below(static_cast<std::uint64_t>(ranks)));
    for (long count = random_.between(0, 3); count > 0; --count) {
        Fault fault = draw_fault(ranks);
        if (is_deviation(fault.kind)) fault.rank = deviating;
        faults.push_back(fault);
    }
    return faults;
}

Start Schedule::first_start() {
    Start start;
    for (int number = 0; number < agents_; ++number) start.numbers.push_back(number);
    start.faults = draw_faults(agents_);
    start.launcher_attends = random_.chance(0.6);
    start.snapshot_step = random_.between(20, 1500);
    return start;
}

/// Who has no identity gets nothing back: it leaves, or the run is refused.
void Schedule::draw_losses(Start& start) {
    if (shared_disk_ || !losses_.chance(0.3)) return;
    for (const int number : start.numbers)
        if (losses_.chance(0.3)) start.lost_disks.push_back(number);
    if (start.lost_disks.empty()) start.lost_disks.push_back(losses_.choose(start.numbers));
    const std::size_t leaving = start.lost_disks.size();
    if (identities_ || losses_.chance(0.5) || start.lost_disks.front() == 0 ||
        start.numbers.size() < leaving + 2)
        return;
    for (const int number : start.lost_disks) {
        start.leaving.push_back(number);
        std::erase(start.numbers, number);
    }
    std::ranges::sort(start.leaving);
}

Start Schedule::next_start(const Start& before, const std::vector<int>& lost) {
    Start start;
    start.numbers = before.numbers;
    start.launcher_attends = random_.chance(0.6);
    start.snapshot_step = random_.chance(0.5) ? random_.between(20, 1500) : 0;
    // Who leaves with its disk takes the mark of its rounds with it: the others then refuse.
    if (start.numbers.size() > 2 && random_.chance(shared_disk_ ? 0.3 : 0.02)) {
        const std::size_t place = 1 + random_.below(start.numbers.size() - 1);
        start.leaving.push_back(start.numbers[place]);
        start.numbers.erase(start.numbers.begin() + static_cast<std::ptrdiff_t>(place));
    }
    if (random_.chance(0.25))
        for (const int number : start.numbers)
            if (random_.chance(0.4)) start.old_disks.push_back(number);
    start.faults = random_.chance(0.5) ? draw_faults(static_cast<int>(start.numbers.size()))
                                       : std::vector<Fault>{};
    draw_losses(start);
    for (const int number : lost)
        if (std::ranges::find(start.lost_disks, number) == start.lost_disks.end())
            start.lost_disks.push_back(number);
    lost_any_ = lost_any_ || !start.lost_disks.empty();
    return start;
}

std::string Schedule::description() const {
    std::string text = fmt::format("{} agents, {}", agents_, fmt::join(arguments(), " "));
    return text + (shared_disk_ ? ", one disk" : ", a disk each") +
           (faultless_ ? ", no fault" : "");
}

}  // namespace sotto::simulation
