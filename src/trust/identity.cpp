#include "trust/identity.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/files.hpp"
#include "core/text_input.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view identity_header = "sotto-identity 1";

static_assert(crypto_sign_SEEDBYTES == SecretKey::size);
static_assert(crypto_sign_PUBLICKEYBYTES == std::tuple_size_v<IdentityKey>);
static_assert(crypto_sign_BYTES == std::tuple_size_v<Signature>);

/// Stack bytes, wiped on destruction.
template <std::size_t size>
struct Wiped {
    Wiped() = default;
    Wiped(const Wiped&) = delete;
    Wiped& operator=(const Wiped&) = delete;
    ~Wiped() { sodium_memzero(bytes.data(), bytes.size()); }
    std::array<unsigned char, size> bytes{};
};

using SigningKey = Wiped<crypto_sign_SECRETKEYBYTES>;

bool write_all(int file, const char* bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t count = ::write(file, bytes, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

}  // namespace

Identity::Identity(SecretKey seed) : seed_(std::move(seed)) {
    SigningKey expanded;
    if (crypto_sign_seed_keypair(public_.data(), expanded.bytes.data(), seed_.bytes().data()) != 0)
        throw CryptoError("cannot make an Ed25519 key pair");
}

Identity Identity::generate() { return Identity(SecretKey::random()); }

Identity Identity::read(const fs::path& path) {
    ensure_sodium();
    const auto fail = [&](const std::string& reason) {
        return DataError(fmt::format("identity {}: {}", path.string(), reason));
    };
    // Non-blocking: a pipe of this name must not hang the job.
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file.open() || ::fstat(file.get(), &status) != 0)
        throw fail(fmt::format("cannot be read ({})", std::strerror(errno)));
    if (!S_ISREG(status.st_mode)) throw fail("it is not a file");
    if ((status.st_mode & 077) != 0)
        throw ConfigError(fmt::format(
            "identity {}: its mode {:04o} lets others than its owner access the secret (allowed: "
            "0600); run `chmod 600 {}`, or make a new identity if somebody may have read it",
            path.string(),
            static_cast<unsigned>(status.st_mode & 07777),
            path.string()));

    Wiped<1024> content;  // a valid file has 160 bytes
    std::size_t size = 0;
    while (size < content.bytes.size()) {
        const ssize_t count =
            ::read(file.get(), content.bytes.data() + size, content.bytes.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) throw fail(fmt::format("cannot be read ({})", std::strerror(errno)));
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    std::string_view text(reinterpret_cast<const char*>(content.bytes.data()), size);
    const auto line_after = [&](std::string_view prefix) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (!line.starts_with(prefix))
            throw fail(
                fmt::format("it is not an identity (the line \"{}...\" is missing); make one with "
                            "`sotto keygen`",
                            prefix));
        return line.substr(prefix.size());
    };
    if (!line_after(identity_header).empty()) throw fail("it has a format this sotto cannot read");
    IdentityKey stated{};
    Wiped<SecretKey::size> seed;
    if (!from_hex(line_after("public "), stated) || !from_hex(line_after("secret "), seed.bytes) ||
        !text.empty())
        throw fail("it is damaged; make a new one with `sotto keygen`");
    Identity identity(SecretKey::from_bytes(seed.bytes));
    if (identity.public_key() != stated)
        throw fail("it is damaged (public and secret key do not belong together)");
    return identity;
}

void Identity::write_new(const fs::path& path) const {
    const OpenFile file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.open()) {
        if (errno == EEXIST)
            throw ConfigError(fmt::format(
                "identity {}: it exists already and is never overwritten; name another file",
                path.string()));
        throw_unwritable(path, errno);
    }
    Wiped<2 * SecretKey::size + 1> secret;
    auto* const digits = reinterpret_cast<char*>(secret.bytes.data());
    sodium_bin2hex(digits, secret.bytes.size(), seed_.bytes().data(), SecretKey::size);
    const std::string head =
        fmt::format("{}\npublic {}\nsecret ", identity_header, to_hex(public_));
    const bool good = write_all(file.get(), head.data(), head.size()) &&
                      write_all(file.get(), digits, 2 * SecretKey::size) &&
                      write_all(file.get(), "\n", 1) && ::fsync(file.get()) == 0;
    if (!good) {
        const int reason = errno;
        ::unlink(path.c_str());
        throw_unwritable(path, reason);
    }
}

Signature Identity::sign(std::span<const std::uint8_t> message) const {
    SigningKey expanded;
    IdentityKey ignored{};
    Signature signature{};
    if (crypto_sign_seed_keypair(ignored.data(), expanded.bytes.data(), seed_.bytes().data()) !=
            0 ||
        crypto_sign_detached(
            signature.data(), nullptr, message.data(), message.size(), expanded.bytes.data()) != 0)
        throw CryptoError("cannot sign with an identity");
    return signature;
}

bool signature_is_good(const IdentityKey& key,
                       std::span<const std::uint8_t> message,
                       const Signature& signature) {
    ensure_sodium();
    return crypto_sign_verify_detached(
               signature.data(), message.data(), message.size(), key.data()) == 0;
}

namespace fs = std::filesystem;

void require_roster_name(const std::string& name) {
    constexpr std::size_t largest_name = 64;
    const bool good = !name.empty() && name.size() <= largest_name &&
                      std::all_of(name.begin(), name.end(), [](char c) {
                          return c > ' ' && c < 127 && c != '#';
                      });
    if (!good)
        throw ConfigError(fmt::format(
            "name: '{}' is not allowed (one word of at most {} ASCII characters, without #)",
            name,
            largest_name));
}

Roster Roster::parse(std::string_view text, const std::string& source) {
    Roster roster;
    text = without_byte_order_mark(text);
    for (int number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const auto fail = [&](const std::string& reason) {
            return DataError(fmt::format("{}:{}: {}", source, number, reason));
        };
        line = line.substr(0, line.find('#'));
        constexpr std::string_view blank = " \t\r";
        const auto next_word = [&] {
            line.remove_prefix(std::min(line.find_first_not_of(blank), line.size()));
            const std::string_view word = line.substr(0, line.find_first_of(blank));
            line.remove_prefix(word.size());
            return word;
        };
        const std::string_view digits = next_word();
        if (digits.empty()) continue;
        Entry entry;
        if (!from_hex(digits, entry.key))
            throw fail("a line of a roster is \"<64 hex digits of a public key> <name>\"");
        entry.name = next_word();
        if (!next_word().empty()) throw fail("more than a public key and a name of one word");
        try {
            require_roster_name(entry.name);
        } catch (const ConfigError& error) {
            throw fail(error.what());
        }
        for (const Entry& other : roster.entries_) {
            if (other.key == entry.key)
                throw fail(fmt::format("'{}' and '{}' have the same key", other.name, entry.name));
            if (other.name == entry.name)
                throw fail(fmt::format("the name '{}' appears twice", entry.name));
        }
        roster.entries_.push_back(std::move(entry));
    }
    return roster;
}

Roster Roster::read(const fs::path& path) {
    ensure_sodium();
    // An empty stream cannot be copied, but an empty roster is valid.
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == 0) return {};
    return parse(read_file(path), path.string());
}

const Roster::Entry* Roster::find(const IdentityKey& key) const {
    const auto found = std::find_if(
        entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    return found == entries_.end() ? nullptr : &*found;
}

Digest Roster::digest() const {
    std::vector<IdentityKey> keys;
    keys.reserve(entries_.size());
    for (const Entry& entry : entries_) keys.push_back(entry.key);
    std::sort(keys.begin(), keys.end());
    Hasher hasher("sotto.roster.v1");
    hasher.add(static_cast<std::int64_t>(keys.size()));
    for (const IdentityKey& key : keys) hasher.add_bytes(key);
    return hasher.finish();
}

namespace fs = std::filesystem;

namespace {

/// Opens and locks the file of this name, creating it if necessary. Tries again if the file was
/// replaced while it waited for the lock.
OpenFile lock_file(const fs::path& path) {
    for (;;) {
        OpenFile file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
        if (!file.open()) throw_unwritable(path, errno);
        while (::flock(file.get(), LOCK_EX) != 0)
            if (errno != EINTR) throw_unwritable(path, errno);
        struct stat held {};
        struct stat named {};
        if (::fstat(file.get(), &held) != 0) throw_unwritable(path, errno);
        if (::stat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
            held.st_ino == named.st_ino)
            return file;
    }
}

}  // namespace

IdentityKey enroll(const fs::path& identity_file,
                   const fs::path& roster_file,
                   const std::string& name) {
    require_roster_name(name);
    const Identity identity = Identity::generate();
    identity.write_new(identity_file);
    try {
        const OpenFile lock = lock_file(roster_file);
        const Roster roster = Roster::read(roster_file);
        for (const auto& entry : roster.entries())
            if (entry.name == name)
                throw ConfigError(fmt::format(
                    "name: '{}' is in {} already; give this identity another name with --name",
                    name,
                    roster_file.string()));
        std::string text = fs::file_size(roster_file) > 0 ? read_file(roster_file) : std::string();
        if (!text.empty() && text.back() != '\n') text += '\n';
        text += fmt::format("{} {}\n", to_hex(identity.public_key()), name);
        const fs::perms mode = fs::status(roster_file).permissions();
        // Follows links, so a linked roster stays linked.
        const fs::path target = fs::canonical(roster_file);
        write_file_atomically(target, text);
        std::error_code ignored;
        fs::permissions(target, mode, ignored);
    } catch (const fs::filesystem_error& error) {
        ::unlink(identity_file.c_str());
        throw ConfigError(
            fmt::format("{}: cannot be used ({})", roster_file.string(), error.code().message()));
    } catch (...) {
        ::unlink(identity_file.c_str());
        throw;
    }
    return identity.public_key();
}

void throw_unwritable(const std::filesystem::path& path, int reason) {
    throw_write_failure(
        fmt::format("{}: cannot be written ({})", path.string(), std::strerror(reason)), reason);
}

}  // namespace sotto
