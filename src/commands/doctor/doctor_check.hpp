#pragma once

#include <string>

namespace sotto {

/// What a check found out.
struct Finding {
    bool ok = true;
    std::string found;  ///< what is there, or what is wrong
    std::string fix;    ///< what to do; with `ok` advice only, mostly empty
};

/// One thing that must be right before a training can work.
struct DoctorCheck {
    std::string name;  ///< lower-case words joined by '-'; scripts rely on it
    bool ok = true;
    std::string found;        ///< as Finding
    std::string fix;          ///< as Finding
    bool must_agree = false;  ///< `found` must be the same on every rank
};

/// "1 core", "3 cores".
[[nodiscard]] std::string counted(int count, const char* noun);

}  // namespace sotto
