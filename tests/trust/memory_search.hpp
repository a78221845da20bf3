#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace sotto::test {

/// A key that stands nowhere in memory but while it is used.
class HiddenKey {
  public:
    static constexpr std::size_t size = 32;

    explicit HiddenKey(std::uint8_t first) {
        for (std::size_t i = 0; i < size; ++i)
            hidden_[i] = static_cast<std::uint8_t>((first + 37 * i * i) ^ mask);
    }
    /// Calls f(key) and wipes it.
    template <class Function>
    void use(Function&& f) const {
        std::array<std::uint8_t, size> key{};
        for (std::size_t i = 0; i < size; ++i) key[i] = hidden_[i] ^ mask;
        f(key);
        volatile std::uint8_t* const bytes = key.data();
        for (std::size_t i = 0; i < size; ++i) bytes[i] = 0;
    }
    /// How often it stands in memory that this process may write.
    [[nodiscard]] int found() const {
        std::ifstream maps("/proc/self/maps");
        std::ifstream memory("/proc/self/mem", std::ios::binary);
        int count = 0;
        for (std::string line; std::getline(maps, line);) {
            unsigned long first = 0, last = 0;
            std::array<char, 5> rights{};
            if (std::sscanf(line.c_str(), "%lx-%lx %4s", &first, &last, rights.data()) != 3 ||
                std::strncmp(rights.data(), "rw", 2) != 0)
                continue;
            std::vector<std::uint8_t> bytes(last - first);
            memory.clear();
            memory.seekg(static_cast<std::streamoff>(first));
            if (!memory.read(reinterpret_cast<char*>(bytes.data()),
                             static_cast<std::streamsize>(bytes.size())))
                continue;
            for (std::size_t at = 0; at + size <= bytes.size(); ++at)
                if (stands_at(bytes.data() + at)) ++count;
            for (std::uint8_t& byte : bytes) byte = 0;  // what was copied is not to be found again
        }
        return count;
    }

  private:
    static constexpr std::uint8_t mask = 0xa5;

    [[nodiscard]] bool stands_at(const std::uint8_t* bytes) const {
        for (std::size_t i = 0; i < size; ++i)
            if (bytes[i] != (hidden_[i] ^ mask)) return false;
        return true;
    }

    std::array<std::uint8_t, size> hidden_{};
};

}  // namespace sotto::test
