#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sotto/core/error.hpp"

namespace sotto {

/// Writes plain values into a string, little-endian; read them with `ByteReader`.
class ByteWriter {
  public:
    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void put_text(std::string_view text) {
        put(static_cast<std::uint64_t>(text.size()));
        bytes_.append(text);
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

/// Reads values from bytes of an untrusted peer. Every read is bounds-checked, and a caller cannot
/// be made to allocate more than the bytes hold.
/// @throws NetworkError, from every function, if the bytes end too early.
class ByteReader {
  public:
    /// @param source name of the bytes in messages: "the announcement of rank 3".
    ByteReader(std::string_view bytes, std::string source)
        : bytes_(bytes), source_(std::move(source)) {}

    template <class T>
    [[nodiscard]] T get() {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
        const std::string_view part = take(sizeof(T));
        T value;
        std::memcpy(&value, part.data(), sizeof value);
        return value;
    }
    [[nodiscard]] std::string_view get_text() { return take(get<std::uint64_t>()); }
    /// A count of items of at least `item_size` bytes each; fails if fewer bytes are left.
    [[nodiscard]] std::size_t get_count(std::size_t item_size) {
        const auto count = get<std::uint64_t>();
        if (count > bytes_.size() / item_size) fail();
        return static_cast<std::size_t>(count);
    }
    [[nodiscard]] bool done() const { return bytes_.empty(); }
    /// @throws NetworkError if bytes are left.
    void require_done() const {
        if (!done()) fail();
    }
    [[noreturn]] void fail() const {
        throw NetworkError(source_ + " is damaged; do all ranks run the same sotto?");
    }

  private:
    std::string_view take(std::uint64_t size) {
        if (size > bytes_.size()) fail();
        const std::string_view part = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return part;
    }
    std::string_view bytes_;
    std::string source_;
};

}  // namespace sotto
