#include "training/member_requests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "config/agent_path.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

volatile std::sig_atomic_t leaves = 0;

void note_leaving(int /*signal*/) { leaves = 1; }

bool appeared(const std::string& file, int number) {
    std::error_code ignored;
    return !file.empty() && std::filesystem::exists(path_of_agent(file, number), ignored);
}

/// What rank `process` said. @throws NetworkError for anything but numbers.
std::vector<int> unpack_numbers(std::string_view bytes, int process) {
    ByteReader reader(bytes, fmt::format("what rank {} says of who leaves and joins", process));
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

/// Of all processes, each of its own agents. COLLECTIVE. @throws NetworkError for others' numbers.
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

/// Of process 0. COLLECTIVE. @throws NetworkError for agents that do not wait.
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

/// @throws ConfigError.
void require_can_leave(const Network& network,
                       const Membership& members,
                       const std::vector<int>& leaving) {
    const auto refuse = [&](const char* why) {
        throw ConfigError(
            fmt::format("agents {} cannot leave while the run goes on: {} (the run "
                        "is stopped; --resume with --without leaves them out)",
                        fmt::join(leaving, ","),
                        why));
    };
    if (leaving.empty() || network.processes() == 1) return;
    if (members.place(leaving.front()) == 0) refuse("the first of those there leads it");
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

}  // namespace sotto
