#include "core/host.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <optional>

namespace sotto {

std::string local_host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
    return name.data();
}

namespace {

std::optional<std::uint64_t> number_in(const char* file) {
    std::uint64_t value = 0;
    return std::ifstream(file) >> value ? std::optional(value) : std::nullopt;
}

/// MemAvailable of the kernel.
std::optional<std::uint64_t> free_bytes() {
    std::ifstream lines("/proc/meminfo");
    for (std::string name, unit; lines >> name;) {
        std::uint64_t kib = 0;
        if (!(lines >> kib)) break;
        if (name == "MemAvailable:") return kib * 1024;
        std::getline(lines, unit);
    }
    return std::nullopt;
}

}  // namespace

std::uint64_t available_memory_bytes() {
    constexpr std::uint64_t unknown = std::uint64_t{16} << 30;
    std::uint64_t available = free_bytes().value_or(unknown);
    const auto limit = number_in("/sys/fs/cgroup/memory.max");
    const auto used = number_in("/sys/fs/cgroup/memory.current");
    if (limit && used) available = std::min(available, *limit > *used ? *limit - *used : 0);
    return available;
}

std::vector<int> allowed_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cores;
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        for (std::size_t i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &set)) cores.push_back(static_cast<int>(i));
    if (cores.empty()) cores.push_back(0);
    return cores;
}

std::optional<int> core_quota() {
    std::ifstream file("/sys/fs/cgroup/cpu.max");
    double quota = 0, period = 0;
    if (!(file >> quota >> period) || !(quota > 0) || !(period > 0)) return std::nullopt;
    return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

int usable_processors() {
    const auto allowed = static_cast<int>(allowed_cores().size());
    return std::min(allowed, core_quota().value_or(allowed));
}

}  // namespace sotto
