#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sotto::test {

inline constexpr int string_kinds = 4;

/// Strings that differ per process: empty, short, with zero bytes, and of about 1 MB.
inline std::string sample(int kind, int process) {
    if (kind == 0) return {};
    if (kind == 1) return process % 2 == 0 ? "" : "odd " + std::to_string(process);
    if (kind == 2) return std::string("\0x\0", 3) + static_cast<char>('a' + process);
    std::string large(1000000 + static_cast<std::size_t>(process), '\0');
    for (std::size_t i = 0; i < large.size(); ++i)
        large[i] = static_cast<char>((i * 31 + static_cast<std::size_t>(process) * 7) % 251);
    return large;
}

inline std::vector<std::string> samples(int kind, int processes) {
    std::vector<std::string> all;
    for (int p = 0; p < processes; ++p) all.push_back(sample(kind, p));
    return all;
}

}  // namespace sotto::test
