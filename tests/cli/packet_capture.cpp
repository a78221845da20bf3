#include "packet_capture.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

namespace sotto::test {

namespace {

/// Held by the kernel until the thread comes to read it: far more than a test sends.
constexpr int buffer_bytes = 1 << 28;
constexpr std::size_t largest_packet = 1 << 17;

bool enter_network_namespace() {
    if (::unshare(CLONE_NEWNET) == 0) return true;
    // Users without rights have them in a namespace of their own, where the kernel allows that.
    const auto user = ::getuid();
    const auto group = ::getgid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << fmt::format("{} {} 1", user, user);
    std::ofstream("/proc/self/gid_map") << fmt::format("{} {} 1", group, group);
    return true;
}

bool switch_on_loopback() {
    const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    const bool up = ::ioctl(control, SIOCSIFFLAGS, &request) == 0;
    ::close(control);
    return up;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i)
        number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return number;
}

std::string refusal(const char* what) {
    return fmt::format(
        "{} is not permitted here ({}); run the test as root", what, std::strerror(errno));
}

}  // namespace

std::unique_ptr<PacketCapture> PacketCapture::on_own_loopback(std::string& reason) {
    if (!enter_network_namespace())
        reason = refusal("a network namespace of one's own");
    else if (!switch_on_loopback())
        reason = refusal("a loopback device of one's own");
    else
        return listen("lo", true, reason);
    return nullptr;
}

std::unique_ptr<PacketCapture> PacketCapture::on_bridge(const std::string& device,
                                                        std::string& reason) {
    return listen(device, false, reason);
}

std::unique_ptr<PacketCapture> PacketCapture::listen(const std::string& device,
                                                     bool passes_twice,
                                                     std::string& reason) {
    const int descriptor = ::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));
    if (descriptor < 0) {
        reason = refusal("reading packets (CAP_NET_RAW)");
        return nullptr;
    }
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
    // A bridge hands over what is not for it only to who wants everything.
    packet_mreq everything{};
    everything.mr_ifindex = address.sll_ifindex;
    everything.mr_type = PACKET_MR_PROMISC;
    if (address.sll_ifindex == 0 ||
        ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::setsockopt(
            descriptor, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &everything, sizeof everything) != 0) {
        reason = refusal(fmt::format("reading the packets of {}", device).c_str());
        ::close(descriptor);
        return nullptr;
    }
    if (::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) !=
        0)
        ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    return std::unique_ptr<PacketCapture>(new PacketCapture(descriptor, passes_twice));
}

PacketCapture::PacketCapture(int socket, bool passes_twice)
    : socket_(socket), passes_twice_(passes_twice), thread_([this] { collect(); }) {}

PacketCapture::~PacketCapture() {
    stop();
    ::close(socket_);
}

void PacketCapture::stop() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    thread_.join();
    tpacket_stats statistics{};
    socklen_t size = sizeof statistics;
    ::getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &statistics, &size);
    dropped_ = statistics.tp_drops;
    for (auto& [connection, stream] : connections_) {
        gaps_ += static_cast<long>(stream.early.size());
        streams_.push_back(std::move(stream.bytes));
    }
    streams_.insert(streams_.end(), others_.begin(), others_.end());
}

void PacketCapture::collect() {
    std::string buffer(largest_packet, '\0');
    for (;;) {
        sockaddr_ll from{};
        socklen_t size = sizeof from;
        const ssize_t count = ::recvfrom(socket_,
                                         buffer.data(),
                                         buffer.size(),
                                         MSG_DONTWAIT,
                                         reinterpret_cast<sockaddr*>(&from),
                                         &size);
        if (count > 0) {
            if (!passes_twice_ || from.sll_pkttype == PACKET_OUTGOING)
                add_packet({buffer.data(), static_cast<std::size_t>(count)});
            continue;
        }
        // Only when everything has been read.
        if (stopping_) return;
        pollfd ready{socket_, POLLIN, 0};
        ::poll(&ready, 1, 20);
    }
}

void PacketCapture::add_packet(std::string_view packet) {
    ++packets_;
    const std::uint32_t version = packet.empty() ? 0 : number_at(packet, 0, 1) >> 4;
    std::size_t header = 0, length = 0;
    std::uint32_t protocol = 0;
    std::string addresses;
    if (version == 4 && packet.size() >= 20) {
        header = std::size_t{4} * (number_at(packet, 0, 1) & 0xf);
        length = number_at(packet, 2, 2);
        protocol = number_at(packet, 9, 1);
        addresses = packet.substr(12, 8);
    } else if (version == 6 && packet.size() >= 40) {
        header = 40;
        length = header + number_at(packet, 4, 2);
        protocol = number_at(packet, 6, 1);
        addresses = packet.substr(8, 32);
    }
    // A packet of several segments may give no length.
    if (length <= header || length > packet.size()) length = packet.size();
    const std::string_view content = packet.substr(std::min(header, length), length - header);
    if (protocol != IPPROTO_TCP || content.size() < 20) {
        others_.emplace_back(content);
        return;
    }
    const std::size_t tcp_header = std::size_t{4} * (number_at(content, 12, 1) >> 4);
    const bool starts = (number_at(content, 13, 1) & 2) != 0;
    add_segment(addresses + std::string(content.substr(0, 4)),
                number_at(content, 4, 4),
                starts,
                content.substr(std::min(tcp_header, content.size())));
}

void PacketCapture::add_segment(const std::string& connection,
                                std::uint32_t sequence,
                                bool starts,
                                std::string_view payload) {
    Stream& stream = connections_[connection];
    if (starts) {
        // Ports may be used again: what came before stays.
        stream.next = sequence + 1;
        return;
    }
    if (payload.empty()) return;
    if (!stream.next) stream.next = sequence;
    stream.early.emplace(sequence, payload);
    // Sequence numbers wrap, so the next one is asked for, not the smallest.
    for (bool progress = true; progress;) {
        progress = false;
        for (auto early = stream.early.begin(); early != stream.early.end(); ++early) {
            const auto ahead = static_cast<std::int32_t>(early->first - *stream.next);
            if (ahead > 0) continue;
            const auto known = static_cast<std::size_t>(-static_cast<std::int64_t>(ahead));
            if (known < early->second.size()) {
                stream.bytes.append(early->second, known);
                *stream.next += static_cast<std::uint32_t>(early->second.size() - known);
            }
            stream.early.erase(early);
            progress = true;
            break;
        }
    }
}

std::size_t PacketCapture::bytes() const {
    std::size_t sum = 0;
    for (const std::string& stream : streams_) sum += stream.size();
    return sum;
}

std::string PacketCapture::losses() const {
    if (dropped_ == 0 && gaps_ == 0) return "";
    return fmt::format("{} packets dropped, {} segments behind a gap", dropped_, gaps_);
}

namespace {

constexpr std::uint64_t hash_base = 0x9e3779b97f4a7c15U;

std::uint64_t first_hash(std::string_view text, std::size_t length) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < length; ++i)
        hash = hash * hash_base + static_cast<std::uint8_t>(text[i]) + 1;
    return hash;
}

/// Calls `visit` with the hash of every window and where it begins.
template <class Visit>
void for_each_window(std::string_view text, std::size_t length, Visit&& visit) {
    if (text.size() < length) return;
    std::uint64_t top = 1;
    for (std::size_t i = 1; i < length; ++i) top *= hash_base;
    std::uint64_t hash = first_hash(text, length);
    for (std::size_t at = 0;; ++at) {
        visit(hash, text.data() + at);
        if (at + length == text.size()) return;
        hash -= (static_cast<std::uint64_t>(static_cast<std::uint8_t>(text[at])) + 1) * top;
        hash = hash * hash_base + static_cast<std::uint8_t>(text[at + length]) + 1;
    }
}

}  // namespace

void Needles::add_windows_of(std::string_view text) {
    const std::string& kept = texts_.emplace_back(text);
    for_each_window(kept, length_, [&](std::uint64_t hash, const char* window) {
        windows_.emplace(hash, window);
    });
}

std::size_t Needles::found_in(const std::vector<std::string>& texts) const {
    std::set<std::uint64_t> found;
    for (const std::string& text : texts)
        for_each_window(text, length_, [&](std::uint64_t hash, const char* window) {
            const auto needle = windows_.find(hash);
            if (needle != windows_.end() && std::memcmp(needle->second, window, length_) == 0)
                found.insert(hash);
        });
    return found.size();
}

}  // namespace sotto::test
