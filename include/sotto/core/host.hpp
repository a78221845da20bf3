#pragma once

#include <string>

namespace sotto {

/// Name of this host. Unlike MPI's it can be asked for without starting MPI.
[[nodiscard]] std::string local_host_name();

}  // namespace sotto
