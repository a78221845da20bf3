#include "sotto/core/host.hpp"

#include <unistd.h>

#include <array>

namespace sotto {

std::string local_host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
    return name.data();
}

}  // namespace sotto
