#include "net/host_networks.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "net/exchange_checks.hpp"
#include "net/mpi_session.hpp"
#include "trust/link_cipher.hpp"

namespace sotto {

namespace {

/// A network of IPv4.
struct Network4 {
    std::uint32_t address = 0;
    int prefix = 0;

    [[nodiscard]] static std::uint32_t mask(int prefix) {
        return ~std::uint32_t{0} << (32 - prefix);
    }
    [[nodiscard]] bool holds(std::uint32_t other) const {
        return (other & mask(prefix)) == address;
    }
    [[nodiscard]] std::string address_text() const {
        return fmt::format("{}.{}.{}.{}",
                           address >> 24,
                           (address >> 16) & 255,
                           (address >> 8) & 255,
                           address & 255);
    }
    [[nodiscard]] std::string text() const { return fmt::format("{}/{}", address_text(), prefix); }
};

std::optional<std::uint32_t> address_from(const std::string& text) {
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) != 1) return std::nullopt;
    return ntohl(address.s_addr);
}

/// Whether each host has its own address there.
bool is_common(const Network4& network, const HostAddresses& hosts) {
    std::set<std::uint32_t> taken;
    for (const auto& [host, addresses] : hosts) {
        std::set<std::uint32_t> own;
        for (const HostAddress& there : addresses)
            if (const auto address = address_from(there.address);
                address && there.prefix == network.prefix && network.holds(*address))
                own.insert(*address);
        if (own.empty()) return false;
        for (const std::uint32_t address : own)
            if (!taken.insert(address).second) return false;
    }
    return true;
}

std::vector<Network4> networks_of(const HostAddresses& hosts) {
    std::vector<Network4> networks;
    if (hosts.empty()) return networks;
    for (const HostAddress& there : hosts.begin()->second) {
        const auto address = address_from(there.address);
        if (!address) continue;
        const Network4 network{*address & Network4::mask(there.prefix), there.prefix};
        const bool known = std::ranges::any_of(networks, [&](const Network4& other) {
            return other.address == network.address && other.prefix == network.prefix;
        });
        if (!known && is_common(network, hosts)) networks.push_back(network);
    }
    return networks;
}

}  // namespace

std::vector<HostAddress> own_addresses() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> held(list, ::freeifaddrs);
    std::vector<HostAddress> addresses;
    for (const ifaddrs* item = list; item != nullptr; item = item->ifa_next) {
        if (item->ifa_addr == nullptr || item->ifa_addr->sa_family != AF_INET ||
            item->ifa_netmask == nullptr || (item->ifa_flags & IFF_LOOPBACK) != 0)
            continue;
        const auto bits = [](const sockaddr* address) {
            sockaddr_in of_internet{};
            std::memcpy(&of_internet, address, sizeof of_internet);
            return ntohl(of_internet.sin_addr.s_addr);
        };
        addresses.push_back({item->ifa_name,
                             Network4{bits(item->ifa_addr), 32}.address_text(),
                             std::popcount(bits(item->ifa_netmask))});
    }
    return addresses;
}

std::string addresses_text(const std::vector<HostAddress>& addresses) {
    std::string text;
    for (const HostAddress& there : addresses)
        text += fmt::format(
            "{}{} {}/{}", text.empty() ? "" : ", ", there.interface, there.address, there.prefix);
    return text;
}

std::vector<HostAddress> addresses_from(const std::string& text) {
    std::vector<HostAddress> addresses;
    std::istringstream items(text);
    for (std::string item; std::getline(items, item, ',');) {
        std::istringstream words(item);
        HostAddress found;
        std::string network;
        if (!(words >> found.interface >> network)) continue;
        const std::size_t slash = network.find('/');
        found.address = network.substr(0, slash);
        if (slash == std::string::npos || !address_from(found.address)) continue;
        const char* const end = network.data() + network.size();
        if (std::from_chars(network.data() + slash + 1, end, found.prefix).ptr != end ||
            found.prefix < 1 || found.prefix > 32)
            continue;
        addresses.push_back(std::move(found));
    }
    return addresses;
}

std::vector<std::string> repeated_addresses(const HostAddresses& hosts) {
    std::map<std::string, std::vector<std::string>> places;  // of an address
    std::map<std::string, std::string> interfaces;
    for (const auto& [host, addresses] : hosts)
        for (const HostAddress& there : addresses) {
            places[there.address].push_back(host);
            interfaces.try_emplace(there.address, there.interface);
        }
    std::vector<std::string> texts;
    for (const auto& [address, where] : places)
        if (where.size() > 1)
            texts.push_back(
                fmt::format("{} {} ({})", interfaces.at(address), address, fmt::join(where, ", ")));
    return texts;
}

std::vector<std::string> common_networks(const HostAddresses& hosts) {
    std::vector<std::string> texts;
    for (const Network4& network : networks_of(hosts)) texts.push_back(network.text());
    return texts;
}

std::string chosen_network(const HostAddresses& hosts,
                           const std::function<std::string(const std::string&)>& resolve) {
    const std::vector<Network4> networks = networks_of(hosts);
    const auto leads_there = [&](const Network4& network) {
        return std::ranges::all_of(hosts, [&](const auto& host) {
            const auto address = address_from(resolve(host.first));
            // Many hosts resolve their own name to 127.0.1.1.
            return address && (*address >> 24 == 127 || network.holds(*address));
        });
    };
    if (const auto named = std::ranges::find_if(networks, leads_there); named != networks.end())
        return named->text();
    return fmt::format("{}", fmt::join(common_networks(hosts), ","));
}

std::string resolved_address(const std::string& name) {
    addrinfo wanted{};
    wanted.ai_family = AF_INET;
    addrinfo* list = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, &wanted, &list) != 0) return {};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held(list, ::freeaddrinfo);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(list->ai_addr,
                      list->ai_addrlen,
                      text.data(),
                      text.size(),
                      nullptr,
                      0,
                      NI_NUMERICHOST) != 0)
        return {};
    return text.data();
}

namespace {

constexpr double message_header = 64;
constexpr double segment = 1448, segment_headers = 66;

using Messages = std::map<std::pair<int, int>, std::size_t>;

struct CountedMessages {
    Messages between;            // processes of different hosts
    std::size_t most_links = 0;  // edges of any process to others
};

CountedMessages count_messages(const Graph& graph,
                               const AgentBlocks& blocks,
                               std::span<const int> host_of,
                               bool per_receiver) {
    CountedMessages counted;
    std::vector<std::size_t> links(static_cast<std::size_t>(blocks.processes()));
    for (int u = 0; u < graph.agents(); ++u) {
        const int from = blocks.process_of(u);
        std::set<int> reached;
        for (const int v : graph.hearers(u)) {
            const int to = blocks.process_of(v);
            if (to == from) continue;
            ++links[static_cast<std::size_t>(from)];
            const bool crosses =
                host_of[static_cast<std::size_t>(from)] != host_of[static_cast<std::size_t>(to)];
            if (crosses && (reached.insert(to).second || per_receiver))
                ++counted.between[{from, to}];
        }
    }
    counted.most_links = std::ranges::max(links);
    return counted;
}

}  // namespace

ExchangeTime predict_exchange(const HostNetwork& network,
                              const Graph& graph,
                              const AgentBlocks& blocks,
                              std::span<const int> host_of,
                              const MessageFormat& format) {
    const CountedMessages counted = count_messages(graph, blocks, host_of, format.per_receiver);
    const Eigen::Index longest = piece_length(format.dimension, counted.most_links);
    const auto pieces = static_cast<double>((format.dimension + longest - 1) / longest);
    const double beside =
        message_header + (format.encrypted ? static_cast<double>(LinkCipher::tag_size) : 0);
    const auto values = [&](std::size_t messages, Eigen::Index count) {
        return static_cast<double>(messages * message_bytes(format.precision,
                                                            static_cast<std::size_t>(count),
                                                            static_cast<std::size_t>(longest)));
    };
    const auto hosts = static_cast<std::size_t>(std::ranges::max(host_of)) + 1;
    std::vector<double> out(hosts), in(hosts);
    double largest = 0;
    for (const auto& [ends, messages] : counted.between) {
        const double payload = values(messages, format.dimension) + pieces * beside;
        const double bytes = payload + std::ceil(payload / segment) * segment_headers;
        out[static_cast<std::size_t>(host_of[static_cast<std::size_t>(ends.first)])] += bytes;
        in[static_cast<std::size_t>(host_of[static_cast<std::size_t>(ends.second)])] += bytes;
        largest = std::max(largest, values(messages, longest) + beside);
    }
    ExchangeTime time;
    if (counted.between.empty()) return time;
    for (std::size_t h = 0; h < hosts; ++h)
        if (const double bytes = std::max(out[h], in[h]); bytes > time.busiest_bytes) {
            time.busiest_bytes = bytes;
            time.busiest_host = static_cast<int>(h);
        }
    time.latency_seconds = pieces * (largest > static_cast<double>(most_sent_at_once) ? 3 : 1) *
                           network.latency_seconds;
    time.transfer_seconds = time.busiest_bytes * 8 / network.bits_per_second;
    return time;
}

}  // namespace sotto
