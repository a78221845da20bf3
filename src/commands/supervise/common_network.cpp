#include "commands/supervise/common_network.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>

namespace sotto::cli {

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
    [[nodiscard]] std::string text() const {
        return fmt::format("{}.{}.{}.{}/{}",
                           address >> 24,
                           (address >> 16) & 255,
                           (address >> 8) & 255,
                           address & 255,
                           prefix);
    }
};

std::optional<std::uint32_t> address_from(const std::string& text) {
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) != 1) return std::nullopt;
    return ntohl(address.s_addr);
}

/// Whether each host has one of its own there.
bool is_common(const Network4& network, const std::map<std::string, HostAnswer>& answers) {
    std::set<std::uint32_t> taken;
    for (const auto& [host, answer] : answers) {
        std::set<std::uint32_t> own;
        for (const HostAddress& there : answer.addresses)
            if (const auto address = address_from(there.address);
                address && there.prefix == network.prefix && network.holds(*address))
                own.insert(*address);
        if (own.empty()) return false;
        for (const std::uint32_t address : own)
            if (!taken.insert(address).second) return false;
    }
    return true;
}

std::vector<Network4> networks_of(const std::map<std::string, HostAnswer>& answers) {
    std::vector<Network4> networks;
    if (answers.empty()) return networks;
    for (const HostAddress& there : answers.begin()->second.addresses) {
        const auto address = address_from(there.address);
        if (!address) continue;
        const Network4 network{*address & Network4::mask(there.prefix), there.prefix};
        const bool known = std::ranges::any_of(networks, [&](const Network4& other) {
            return other.address == network.address && other.prefix == network.prefix;
        });
        if (!known && is_common(network, answers)) networks.push_back(network);
    }
    return networks;
}

}  // namespace

std::vector<std::string> common_networks(const std::map<std::string, HostAnswer>& answers) {
    std::vector<std::string> texts;
    for (const Network4& network : networks_of(answers)) texts.push_back(network.text());
    return texts;
}

std::string chosen_network(const std::map<std::string, HostAnswer>& answers,
                           const std::function<std::string(const std::string&)>& resolve) {
    const std::vector<Network4> networks = networks_of(answers);
    const auto leads_there = [&](const Network4& network) {
        return std::ranges::all_of(answers, [&](const auto& host) {
            const auto address = address_from(resolve(host.first));
            // Many hosts call themselves 127.0.1.1.
            return address && (*address >> 24 == 127 || network.holds(*address));
        });
    };
    if (const auto named = std::ranges::find_if(networks, leads_there); named != networks.end())
        return named->text();
    return fmt::format("{}", fmt::join(common_networks(answers), ","));
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

std::vector<std::string> network_words(const LauncherWords& words,
                                       const std::map<std::string, HostAnswer>& answers) {
    const std::size_t hosts = named_hosts(words).size();
    if (!words.is_mpirun() || words.names_network || hosts < 2 || answers.size() < hosts) return {};
    const std::string network = chosen_network(answers, resolved_address);
    if (network.empty()) return {};
    return {"--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network};
}

}  // namespace sotto::cli
