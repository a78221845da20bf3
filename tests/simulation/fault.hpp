#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sotto::simulation {

/// What goes wrong once in a start of a job.
enum class FaultKind : std::uint8_t {
    // A message.
    drop,     ///< never arrives
    delay,    ///< arrives long after those sent later
    corrupt,  ///< some bits are others
    tear,     ///< only its beginning arrives
    replay,   ///< an earlier one of the same pair arrives in its place
    cut,      ///< nor does any later one between the two
    // A rank that deviates from then on, with keys that are good.
    lie_about_sizes,
    send_nan,
    send_infinity,
    send_huge,
    equivocate,  ///< tells every receiver something else
    replay_own,  ///< sends what it sent before
    // A rank or its host.
    stop,        ///< never does anything again
    lag,         ///< does nothing for a while
    crash,       ///< the process is gone, what it wrote is there
    power_loss,  ///< the host is gone, and what it had not flushed
    interrupt,   ///< all are asked to stop (Ctrl-C)
    // Its disk.
    disk_full,
    disk_error,   ///< a flush fails
    short_write,  ///< less is written than was asked for
    count
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(FaultKind::count)>
    fault_names{"drop",       "delay",           "corrupt",   "tear",          "replay",
                "cut",        "lie about sizes", "send NaN",  "send infinity", "send huge values",
                "equivocate", "replay own",      "stop",      "lag",           "crash",
                "power loss", "interrupt",       "disk full", "disk error",    "short write"};

[[nodiscard]] constexpr std::string_view name_of(FaultKind kind) {
    return fault_names[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr bool is_of_message(FaultKind kind) { return kind <= FaultKind::cut; }
[[nodiscard]] constexpr bool is_deviation(FaultKind kind) {
    return kind > FaultKind::cut && kind <= FaultKind::replay_own;
}
[[nodiscard]] constexpr bool is_of_disk(FaultKind kind) { return kind >= FaultKind::disk_full; }

/// One of them, and when.
struct Fault {
    FaultKind kind = FaultKind::drop;
    int rank = 0;            ///< that fails or deviates; of a message: its sender
    int peer = 0;            ///< of a message: its receiver
    bool exchanged = false;  ///< of a message: one of an exchange between neighbours; of a rank or
                             ///< disk: only calls from its first exchange on count
    long at = 0;             ///< how many such messages, calls or writes of the rank come before
    double seconds = 0;      ///< of a delay or lag
};

}  // namespace sotto::simulation
