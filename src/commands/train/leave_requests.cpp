#include "commands/train/leave_requests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>

#include "run/agent_path.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"

namespace sotto::cli {

namespace {

volatile std::sig_atomic_t leaves = 0;

void note_leaving(int /*signal*/) { leaves = 1; }

/// @throws NetworkError for anything but numbers of agents that the process hosts.
std::vector<int> unpack_leaving(std::string_view bytes, int process, const Network& network, const Membership& members) {
    ByteReader reader(bytes, fmt::format("what rank {} says of who leaves", process));
    std::vector<int> numbers(reader.get_count(sizeof(std::int32_t)));
    for (int& number : numbers) {
        number = reader.get<std::int32_t>();
        const int place = members.place(number);
        if (place < 0 || network.blocks().process_of(place) != process) reader.fail();
    }
    reader.require_done();
    return numbers;
}

}  // namespace

void watch_for_leaving() {
    leaves = 0;
    std::signal(SIGUSR2, note_leaving);
}

const std::vector<int>& LeaveRequests::of(const Network& network, const Membership& members) {
    constexpr double seconds_between_looks = 0.2;
    if (leaves == 0 && (file_.empty() || (looked_ && seconds_since(*looked_) < seconds_between_looks)))
        return asked_;
    looked_ = Clock::now();
    asked_.clear();
    for (const int place : network.local_agents()) {
        const int number = members.number(place);
        std::error_code ignored;
        if (leaves != 0 || std::filesystem::exists(path_of_agent(file_, number), ignored))
            asked_.push_back(number);
    }
    return asked_;
}

std::vector<int> agree_on_leaving(Network& network,
                                  const Membership& members,
                                  const std::vector<int>& own,
                                  bool stopped) {
    if (network.maximum(stopped ? 1 : 0) > 0) return {};
    ByteWriter writer;
    writer.put(static_cast<std::uint64_t>(own.size()));
    for (const int number : own) writer.put(std::int32_t{number});
    const std::vector<std::string> said = network.all_gather(
        writer.take(),
        sizeof(std::uint64_t) + sizeof(std::int32_t) * network.most_agents_of_a_process());
    std::vector<int> leaving;
    network.agree([&] {
        for (int p = 0; p < network.processes(); ++p)
            for (const int number :
                 unpack_leaving(said[static_cast<std::size_t>(p)], p, network, members))
                leaving.push_back(number);
        std::ranges::sort(leaving);
        if (std::ssize(leaving) == members.size()) {
            leaving.clear();
            return;
        }
        const auto refuse = [&](const char* why) {
            throw ConfigError(fmt::format("agents {} cannot leave while the run goes on: {} (the run "
                                          "is stopped; --resume with --without leaves them out)",
                                          fmt::join(leaving, ","),
                                          why));
        };
        if (leaving.empty()) return;
        if (network.processes() > 1 && members.place(leaving.front()) == 0)
            refuse("the first of those there leads it");
        if (!network.blocks().one_each() && network.processes() > 1)
            refuse("ranks host several agents");
    });
    return leaving;
}

}  // namespace sotto::cli
