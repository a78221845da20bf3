// Schedules of the whole system under faults, from seeds: --help.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/linear_algebra.hpp"
#include "simulation/run_schedule.hpp"

namespace {

using namespace sotto::simulation;

constexpr const char* help =
    "sotto_simulation [--seed FIRST] [--count N] [--trace] [--json FILE] [--keep-going]\n"
    "runs the schedules of N seeds from FIRST on (1, 1). A schedule is a function of its seed.\n";

struct Totals {
    std::map<std::string, long> faults, endings;
    long schedules = 0, starts = 0, resumed = 0, completed = 0, compared = 0, old_disks = 0,
         departures = 0, lost_disks = 0, came_back = 0, failed = 0;

    void add(const ScheduleResult& result) {
        for (std::size_t i = 0; i < result.fired.size(); ++i)
            faults[std::string(fault_names[i])] += result.fired[i];
        for (std::size_t i = 0; i < result.endings.size(); ++i)
            endings[std::string(ending_names[i])] += result.endings[i];
        ++schedules;
        starts += result.starts;
        resumed += result.resumed;
        completed += result.completed ? 1 : 0;
        compared += result.compared ? 1 : 0;
        old_disks += result.old_disks;
        departures += result.departures;
        lost_disks += result.lost_disks;
        came_back += result.came_back;
        failed += result.violations.empty() ? 0 : 1;
    }
};

std::string text_of(const Totals& totals, double seconds) {
    std::string text = fmt::format(
        "{} schedules, {} starts ({} resumed), {} runs completed, {} compared with one process, {} "
        "disks put back, {} lost ({} agents of them took part again), {} departures; {} schedules "
        "with a violation; {:.1f} s\nfaults:",
        totals.schedules,
        totals.starts,
        totals.resumed,
        totals.completed,
        totals.compared,
        totals.old_disks,
        totals.lost_disks,
        totals.came_back,
        totals.departures,
        totals.failed,
        seconds);
    for (const auto& [name, count] : totals.faults) text += fmt::format(" {} {};", name, count);
    text += "\nranks:";
    for (const auto& [name, count] : totals.endings) text += fmt::format(" {} {};", name, count);
    return text + "\n";
}

std::string json_of(const Totals& totals, std::uint64_t first, double seconds) {
    std::string text = fmt::format(
        "{{\"first_seed\": {}, \"schedules\": {}, \"starts\": {}, \"resumed\": {}, \"completed\": "
        "{}, \"compared_with_one_process\": {}, \"disks_put_back\": {}, \"disks_lost\": {}, "
        "\"agents_back\": {}, \"departures\": {}, "
        "\"violations\": {}, \"seconds\": {:.1f}, \"faults\": {{",
        first,
        totals.schedules,
        totals.starts,
        totals.resumed,
        totals.completed,
        totals.compared,
        totals.old_disks,
        totals.lost_disks,
        totals.came_back,
        totals.departures,
        totals.failed,
        seconds);
    const auto list = [&](const std::map<std::string, long>& counts) {
        std::string separator;
        for (const auto& [name, count] : counts) {
            text += fmt::format("{}\"{}\": {}", separator, name, count);
            separator = ", ";
        }
    };
    list(totals.faults);
    text += "}, \"ranks\": {";
    list(totals.endings);
    return text + "}}\n";
}

}  // namespace

int main(int argc, char** argv) {
    sotto::end_blas_threads();
    std::uint64_t seed = 1, count = 1;
    bool trace = false, keep_going = false;
    std::string json;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        const char* const value = i + 1 < argc ? argv[i + 1] : "";
        if (option == "--seed")
            seed = std::strtoull(value, nullptr, 10), ++i;
        else if (option == "--count")
            count = std::strtoull(value, nullptr, 10), ++i;
        else if (option == "--json")
            json = value, ++i;
        else if (option == "--trace")
            trace = true;
        else if (option == "--keep-going")
            keep_going = true;
        else
            return fmt::print("{}", help), option == "--help" ? 0 : 2;
    }
    const char* const fast = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    const std::string folder = fmt::format("{}/sotto-simulation-{}", fast, ::getpid());
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    Totals totals;
    for (std::uint64_t one = seed; one < seed + count; ++one) {
        if (trace) fmt::print("{}\n", Schedule(one).description());
        const ScheduleResult result = run_schedule(one, folder, {.trace = trace});
        totals.add(result);
        if (trace)
            for (const std::string& line : result.lines) fmt::print("{}", line);
        for (const std::string& violation : result.violations)
            fmt::print("seed {}: {}\n", one, violation);
        if (!result.violations.empty())
            fmt::print("repeat: {} --seed {} --count 1 --trace\n", argv[0], one);
        std::fflush(stdout);
        if (!result.violations.empty() && !keep_going) break;
        if (!json.empty() && totals.schedules % 100 == 0)
            std::ofstream(json) << json_of(totals, seed, seconds());
    }
    fmt::print("{}", text_of(totals, seconds()));
    if (!json.empty()) std::ofstream(json) << json_of(totals, seed, seconds());
    return totals.failed > 0 ? 1 : 0;
}
