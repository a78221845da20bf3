#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/world.hpp"

namespace sotto::simulation {

/// What the files of all hosts would be after a loss of power: contents last as they were at their
/// last fsync, names as they were at that of their folder; what came later may be there, in the
/// order in which it was done, or torn.
class Disk {
  public:
    Disk(World& world, std::uint64_t seed) : world_(world), random_(seed, 3) {}

    /// Before the call. All paths are absolute.
    void opens(const std::string& path);
    void renames(const std::string& from, const std::string& to);
    void removes(const std::string& path);
    /// After it.
    void flushed(int file);

    /// A fault of the disk that strikes this call of the rank; errno, or 0.
    [[nodiscard]] int fault_of(Rank& rank, bool flush, std::size_t& size);

    /// The rank's host.
    void lose_power(const Rank& rank);

  private:
    struct Change {
        int number;
        std::string path;
        std::optional<std::string> before;
    };
    World& world_;
    Random random_;
    std::vector<Change> names_;  // not yet on disk, in order
    std::vector<Change> contents_;
};

/// The whole of a file; nothing: there is none. Without any fault.
[[nodiscard]] std::optional<std::string> content_of(const std::string& path);
void set_content(const std::string& path, std::string_view content);

}  // namespace sotto::simulation
