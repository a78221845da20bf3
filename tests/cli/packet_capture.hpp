#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

namespace sotto::test {

/// Everything that crosses a network device, from construction to stop(). Each packet is kept once.
class PacketCapture {
  public:
    /// On a loopback device of one's own: moves the calling thread, and what it starts from now on,
    /// to a new network namespace, where nothing else on the machine is heard. Needs root, or a
    /// kernel that lets users make namespaces.
    /// @return null, and why in `reason`, where that is not permitted.
    [[nodiscard]] static std::unique_ptr<PacketCapture> on_own_loopback(std::string& reason);
    /// On a bridge in the calling thread's network namespace: all that passes between its ports.
    /// @return likewise. Needs root.
    [[nodiscard]] static std::unique_ptr<PacketCapture> on_bridge(const std::string& device,
                                                                  std::string& reason);
    ~PacketCapture();
    PacketCapture(const PacketCapture&) = delete;
    PacketCapture& operator=(const PacketCapture&) = delete;

    /// Ends the capture: the rest is valid afterwards.
    void stop();

    /// What was sent, put together by TCP's sequence numbers: one string for each direction of each
    /// connection, so that nothing is missed because it was split over packets. Payload of other
    /// protocols, packet by packet, follows.
    [[nodiscard]] const std::vector<std::string>& streams() const { return streams_; }
    /// Bytes of all streams, without headers of IP and TCP.
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] long packets() const { return packets_; }
    /// Empty if nothing was lost: neither dropped for want of memory nor missing in a stream.
    [[nodiscard]] std::string losses() const;

  private:
    PacketCapture(int socket, bool passes_twice);
    [[nodiscard]] static std::unique_ptr<PacketCapture> listen(const std::string& device,
                                                               bool passes_twice,
                                                               std::string& reason);
    struct Stream {
        std::optional<std::uint32_t> next;  // sequence number that comes next
        std::string bytes;
        std::map<std::uint32_t, std::string> early;  // arrived before what comes before them
    };
    void collect();
    void add_packet(std::string_view packet);
    void add_segment(const std::string& connection,
                     std::uint32_t sequence,
                     bool starts,
                     std::string_view payload);

    int socket_;
    bool passes_twice_;  // every packet, on its way out and on its way in
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
    long packets_ = 0;
    long dropped_ = 0;
    long gaps_ = 0;
    std::map<std::string, Stream> connections_;
    std::vector<std::string> others_;
    std::vector<std::string> streams_;
};

/// Whether strings of a fixed length occur anywhere in a text; all of them are looked for at once.
class Needles {
  public:
    explicit Needles(std::size_t length) : length_(length) {}
    Needles(Needles&&) = default;
    Needles& operator=(Needles&&) = default;  // no copies: `windows_` points into `texts_`
    /// Every `length` consecutive bytes of the text.
    void add_windows_of(std::string_view text);
    [[nodiscard]] std::size_t count() const { return windows_.size(); }
    /// How many of them occur in one of the texts.
    [[nodiscard]] std::size_t found_in(const std::vector<std::string>& texts) const;

  private:
    std::size_t length_;
    std::deque<std::string> texts_;
    std::unordered_map<std::uint64_t, const char*> windows_;  // by rolling hash
};

}  // namespace sotto::test
