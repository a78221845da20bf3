#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/recording/recorded_view.hpp"
#include "packet_capture.hpp"

namespace sotto::test {

/// What a training with `--record-view` of all agents left in its run directory: what to look for
/// in captured packets.
class RecordedJob {
  public:
    /// Four values of a message. Coincidences are out of the question, and any 64 bytes of a
    /// message in the capture hold several such windows.
    static constexpr std::size_t message_window = 32;
    static constexpr std::size_t seed_window = 16;
    /// Every so many rounds are looked for.
    static constexpr std::size_t sampled = 13;

    /// Throws if a view is missing.
    RecordedJob(std::filesystem::path run_directory, int agents);

    [[nodiscard]] const std::vector<RecordedView>& views() const { return views_; }
    /// Messages of every agent, in sampled rounds.
    [[nodiscard]] Needles messages() const;
    /// The agents' last models, which evaluation collects.
    [[nodiscard]] Needles models() const;
    /// Raw, and as the hexadecimal digits of a file.
    [[nodiscard]] Needles seeds() const;
    /// By all agents, in all rounds.
    [[nodiscard]] double bytes_sent() const;

  private:
    std::filesystem::path run_;
    std::vector<RecordedView> views_;
};

[[nodiscard]] std::string bytes_of(const void* data, std::size_t size);

}  // namespace sotto::test
