#include "process_end.hpp"

#include <cstdio>
#include <iostream>

namespace sotto {

int failure_status(ExitCode code) {
    return static_cast<int>(code == ExitCode::ok ? ExitCode::other : code);
}

void flush_output() {
    std::cout.flush();
    std::clog.flush();
    std::fflush(nullptr);
}

}  // namespace sotto
