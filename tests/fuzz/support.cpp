#include "support.hpp"

#include <sodium.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "trust/secret.hpp"

namespace sotto::fuzz {

namespace {

std::uint64_t counter = 0;

void fill(void* target, std::size_t size) {
    auto* bytes = static_cast<std::uint8_t*>(target);
    for (std::size_t i = 0; i < size; ++i) {
        std::uint64_t mixed = ++counter * 0x9e3779b97f4a7c15U;
        mixed = (mixed ^ (mixed >> 31)) * 0xbf58476d1ce4e5b9U;
        bytes[i] = static_cast<std::uint8_t>(mixed >> 56);
    }
}

std::uint32_t word() {
    std::uint32_t value = 0;
    fill(&value, sizeof value);
    return value;
}

randombytes_implementation repeatable{
    [] { return "repeatable"; }, word, nullptr, nullptr, fill, nullptr};

}  // namespace

void restart_randomness() {
    static const int installed = randombytes_set_implementation(&repeatable);
    require(installed == 0);
    ensure_sodium();  // draws something when it starts
    counter = 0;
}

std::uint8_t Changes::byte() {
    if (rest_.empty()) return 0;
    const char first = rest_.front();
    rest_.remove_prefix(1);
    return static_cast<std::uint8_t>(first);
}

std::string_view Changes::take(std::size_t size) {
    const std::string_view part = rest_.substr(0, size);
    rest_.remove_prefix(part.size());
    return part;
}

std::string Changes::apply(std::string message) {
    const std::uint8_t changes = byte();
    if (changes == 0xff) return std::string(take(rest_.size()));
    for (int i = 0; i < changes % 8; ++i) {
        const std::uint8_t kind = byte();
        const std::size_t at = (byte() + std::size_t{256} * byte()) % (message.size() + 1);
        const std::size_t length = byte();
        const std::size_t there = std::min(length, message.size() - at);
        switch (kind % 5) {
            case 0: {
                const std::string_view bytes = take(there);
                std::copy(
                    bytes.begin(), bytes.end(), message.begin() + static_cast<std::ptrdiff_t>(at));
                break;
            }
            case 1:
                message.insert(at, take(length));
                break;
            case 2:
                message.erase(at, there);
                break;
            case 3:
                message.resize(at);
                break;
            default:
                message += message.substr(at, there);
        }
    }
    return message;
}

MemoryFile::MemoryFile(const std::uint8_t* data, std::size_t size)
    : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size))
        throw std::runtime_error("no file in memory");
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

std::filesystem::path MemoryFile::path() const {
    return "/proc/self/fd/" + std::to_string(descriptor_);
}

}  // namespace sotto::fuzz
