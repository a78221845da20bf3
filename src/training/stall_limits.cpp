#include "training/stall_limits.hpp"

#include <fmt/format.h>

#include "core/error_line.hpp"

namespace sotto {

StallLimits stall_limits(double warn_seconds,
                         double abort_seconds,
                         const std::string& process_name,
                         int patience) {
    const std::string setting = fmt::format("--stall-abort {:g}", abort_seconds);
    return {warn_seconds,
            patience * abort_seconds,
            patience == 1 ? setting : fmt::format("{} times {}", patience, setting),
            [process_name](const std::string& line) {
                print_error_line(fmt::format("{}: {}", process_name, line));
            }};
}

}  // namespace sotto
