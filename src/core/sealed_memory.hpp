#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace sotto {

/// Bytes that one process writes once and others on its host map instead of having them each. They
/// have no name in a file system, can no longer be changed by anybody, and are gone with the last
/// process that has them.
class SealedMemory {
  public:
    /// Where another process finds it: a process and one of its descriptors.
    struct Place {
        std::int64_t process = 0;
        std::int64_t descriptor = -1;
    };
    /// Appends bytes; false if that failed.
    using Write = std::function<bool(std::string_view)>;

    /// What `fill` appends. @return nothing if the system has no such memory, or `fill` returns
    /// false.
    [[nodiscard]] static std::optional<SealedMemory> make(
        const std::function<bool(const Write&)>& fill);
    /// The memory of another process. @param place as a peer says, who need not be trusted.
    /// @return nothing unless it is sealed memory that a process of this one's user made: whoever
    /// could write it can also change this process and all of its files.
    [[nodiscard]] static std::optional<SealedMemory> open(const Place& place);

    /// Valid for others as long as this object, or a copy, exists.
    [[nodiscard]] Place place() const;
    [[nodiscard]] std::string_view bytes() const;

  private:
    struct Mapping;
    [[nodiscard]] static std::optional<SealedMemory> mapped(int descriptor);

    std::shared_ptr<const Mapping> mapping_;
};

}  // namespace sotto
