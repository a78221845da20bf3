// A switch between network interfaces that is as slow as asked for: what comes in at one port
// leaves at the port behind which its receiver was seen, at all others where that is not known.
//   bench_slow_switch LATENCY BITS PORT...
// LATENCY in seconds, one way; BITS a second of every port's link, in each direction. Nothing is
// lost but at ports that are down: queues have no end. It runs until it is ended; prints "ready"
// first.

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"

namespace {

using Address = std::array<unsigned char, ETH_ALEN>;
constexpr std::size_t longest_frame = 65536;

double now() {
    return std::chrono::duration<double>(sotto::Clock::now().time_since_epoch()).count();
}

struct Port {
    int socket;
    double in_until = 0, out_until = 0;  // when its link has carried what is under way
};

struct Frame {
    double due;
    std::size_t port;
    std::vector<unsigned char> bytes;
    bool operator<(const Frame& other) const { return due > other.due; }  // the earliest first
};

int open_port(const char* name) {
    const int descriptor = ::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_ALL));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(name));
    if (descriptor < 0 || address.sll_ifindex == 0 ||
        ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error(std::string(name) + ": " + std::strerror(errno));
    const int bytes = 1 << 26;
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    return descriptor;
}

class Switch {
  public:
    Switch(double latency, double bits, const std::vector<const char*>& names)
        : latency_(latency), seconds_a_byte_(8 / bits) {
        for (const char* name : names) ports_.push_back({open_port(name)});
    }
    [[noreturn]] void run() {
        std::vector<pollfd> waiting;
        for (const Port& port : ports_) waiting.push_back({port.socket, POLLIN, 0});
        for (;;) {
            send_due();
            const double wait = queue_.empty() ? 1 : std::max(0.0, queue_.top().due - now());
            const timespec most{static_cast<time_t>(wait),
                                static_cast<long>(1e9 * (wait - static_cast<long>(wait)))};
            ::ppoll(waiting.data(), waiting.size(), &most, nullptr);
            for (std::size_t p = 0; p < ports_.size(); ++p)
                while (receive(p)) {
                }
        }
    }

  private:
    bool receive(std::size_t from) {
        sockaddr_ll sender{};
        socklen_t size = sizeof sender;
        const ssize_t count = ::recvfrom(ports_[from].socket,
                                         buffer_.data(),
                                         buffer_.size(),
                                         0,
                                         reinterpret_cast<sockaddr*>(&sender),
                                         &size);
        if (count < 0) return false;
        if (sender.sll_pkttype == PACKET_OUTGOING || count < ETH_HLEN) return true;
        const std::vector<unsigned char> frame(buffer_.begin(), buffer_.begin() + count);
        Address receiver{}, source{};
        std::copy_n(frame.begin(), ETH_ALEN, receiver.begin());
        std::copy_n(frame.begin() + ETH_ALEN, ETH_ALEN, source.begin());
        behind_[source] = from;
        const double takes = static_cast<double>(count) * seconds_a_byte_;
        Port& in = ports_[from];
        in.in_until = std::max(in.in_until, now()) + takes;
        const auto known = behind_.find(receiver);
        for (std::size_t to = 0; to < ports_.size(); ++to) {
            if (to == from || (known != behind_.end() && known->second != to)) continue;
            // The first bit leaves when the first has come and crossed: both links carry at once.
            Port& out = ports_[to];
            const double starts = std::max(out.out_until, in.in_until - takes + latency_);
            out.out_until = starts + takes;
            queue_.push({out.out_until, to, frame});
        }
        return true;
    }
    void send_due() {
        for (; !queue_.empty() && queue_.top().due <= now(); queue_.pop()) {
            const Frame& frame = queue_.top();
            // A cable that is pulled swallows what is sent.
            if (::send(ports_[frame.port].socket, frame.bytes.data(), frame.bytes.size(), 0) < 0 &&
                errno != ENETDOWN)
                throw std::runtime_error(std::string("send: ") + std::strerror(errno));
        }
    }

    double latency_, seconds_a_byte_;
    std::vector<Port> ports_;
    std::map<Address, std::size_t> behind_;
    std::priority_queue<Frame> queue_;
    std::vector<unsigned char> buffer_ = std::vector<unsigned char>(longest_frame);
};

}  // namespace

int main(int count, char** arguments) try {
    if (count < 5) throw std::runtime_error("LATENCY BITS PORT PORT...");
    Switch between(
        std::atof(arguments[1]), std::atof(arguments[2]), {arguments + 3, arguments + count});
    std::puts("ready");
    std::fflush(stdout);
    between.run();
} catch (const std::exception& error) {
    std::fprintf(stderr, "bench_slow_switch: %s\n", error.what());
    return 1;
}
