#include "host_networks.hpp"

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
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

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

/// Whether each host has one of its own there.
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
            // Many hosts call themselves 127.0.1.1.
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

}  // namespace sotto
