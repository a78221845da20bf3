#include "commands/doctor/doctor_check.hpp"

#include <fmt/format.h>

namespace sotto {

std::string counted(int count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace sotto
