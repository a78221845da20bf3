// The machine as the simulated ranks see it: clock, sleep, random bytes, ciphers and files. These
// definitions come before those of the libraries; other threads pass through to them.

#include <dlfcn.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <optional>
#include <string_view>

#include "core/bytes.hpp"
#include "simulation/job.hpp"

namespace sotto::simulation {
namespace {

Job* the_job = nullptr;
Random set_up_randomness{0};

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::span<const std::uint8_t> bytes(const void* data, std::size_t size) {
    return {static_cast<const std::uint8_t*>(data), size};
}

/// Of a copy that an agent seals for itself: agent, phase, rounds, its record, the checkpoint.
std::optional<sotto::Checkpoint> checkpoint_in(std::span<const std::uint8_t> plain) {
    const std::string_view text(reinterpret_cast<const char*>(plain.data()), plain.size());
    if (text.find("sottockp") == std::string_view::npos) return std::nullopt;
    sotto::ByteReader reader(text, "a copy");
    (void)reader.get<std::int32_t>();
    (void)reader.get<std::int32_t>();
    (void)reader.get<std::int64_t>();
    (void)reader.get_text();
    return sotto::checkpoint_from_bytes(reader.get_text(), "a copy").checkpoint;
}

void fill_random(void* target, const std::size_t size) {
    Rank* const rank = current();
    Random& source = rank != nullptr ? the_job->randomness[static_cast<std::size_t>(rank->place)]
                                     : set_up_randomness;
    auto* const to = static_cast<std::uint8_t*>(target);
    for (std::size_t i = 0; i < size; ++i) to[i] = static_cast<std::uint8_t>(source.next() >> 32U);
}

std::uint32_t random_word() {
    std::uint32_t word = 0;
    fill_random(&word, sizeof word);
    return word;
}

randombytes_implementation seeded_bytes{
    [] { return "simulation"; }, random_word, nullptr, nullptr, fill_random, nullptr};

/// What a rank that deviates encrypts instead of its message, under its good keys.
std::vector<std::uint8_t> deviating(std::span<const std::uint8_t> plain) {
    std::vector<std::uint8_t> other(plain.begin(), plain.end());
    const auto& faults = the_job->world.options().faults;
    for (std::size_t i = 0; i < faults.size(); ++i) {
        const Fault& fault = faults[i];
        if (fault.rank != current()->place ||
            counted(fault, *current(), current()->calls) < fault.at)
            continue;
        double value = 0;
        if (fault.kind == FaultKind::send_nan) value = std::numeric_limits<double>::quiet_NaN();
        if (fault.kind == FaultKind::send_infinity) value = HUGE_VAL;
        if (fault.kind == FaultKind::send_huge) value = 1e300;
        if (fault.kind == FaultKind::equivocate) value = the_job->deviation.unit();
        if (value == 0) continue;
        for (std::size_t at = 0; at + 8 <= other.size(); at += 8)
            std::memcpy(other.data() + at, &value, 8);
        ++the_job->world.fired()[i];
    }
    return other;
}

/// A message to a peer, as a rank seals it. @param seal of the bytes it is given.
template <class Seal>
int seals_message(unsigned char* sealed,
                  const unsigned char* message,
                  std::size_t length,
                  const unsigned char* nonce,
                  std::span<const std::uint8_t> key,
                  Seal&& seal) {
    if (current() == nullptr) return seal(message);
    if (current()->deviates) return seal(deviating(bytes(message, length)).data());
    the_job->observer.sealed(key, bytes(nonce, 12), bytes(message, length));
    if (the_job->planted != Planted::plain_text) return seal(message);
    std::memmove(sealed, message, length);
    return 0;
}

/// Where messages are planted in clear.
bool opens_plain_text(unsigned char* message, const unsigned char* sealed, std::size_t length) {
    if (current() == nullptr || the_job->planted != Planted::plain_text) return false;
    std::memmove(message, sealed, length);
    return true;
}

std::string absolute(const char* path) {
    if (*path == '/') return path;
    while (std::strncmp(path, "./", 2) == 0) path += 2;
    return the_job->world.options().folders[static_cast<std::size_t>(current()->place)] + "/" +
           path;
}

/// The next file call of a rank. @return whether it fails, and errno says why.
bool disk_fails(bool flush, std::size_t& size) {
    the_job->world.call(flush ? "fsync" : "write");
    const int fault = the_job->disk.fault_of(*current(), flush, size);
    errno = fault;
    return fault != 0;
}

int open_file(const char* path, int flags, mode_t mode) {
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (current() == nullptr)
        return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
    if (writes) {
        the_job->world.call("open");
        the_job->disk.opens(absolute(path));
    }
    const int file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
    if (file < 0) return file;
    current()->files.push_back(file);
    return file;
}

int open_variadic(const char* path, int flags, va_list rest) {
    return open_file(
        path, flags, (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(rest, int)) : 0);
}

/// A program that forgets rounds in its ledger.
void count_nothing(const char* written, const std::string& target) {
    if (!target.ends_with("ledger.json")) return;
    std::string text = content_of(written).value_or("");
    constexpr std::string_view name = "\"rounds\": ";
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
        at += name.size();
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') text[at++] = '0';
    }
    // Numbers do not begin with zeros.
    for (std::size_t at = 0; (at = text.find(": 00", at)) != std::string::npos;)
        text.erase(at + 2, 1);
    set_content(written, text);
}

}  // namespace

Job& job() { return *the_job; }
void set_job(Job* job) { the_job = job; }
std::string boot_file_of(const Rank& rank) {
    return the_job->world.options().folders[static_cast<std::size_t>(rank.place)] + "/../boot-" +
           std::to_string(rank.number);
}
void seed_randomness(std::uint64_t seed) {
    set_up_randomness = Random(seed);
    randombytes_set_implementation(&seeded_bytes);
}

void keep_lines_apart() {
    cookie_io_functions_t functions{};
    functions.write = [](void*, const char* text, std::size_t size) -> ssize_t {
        if (current() != nullptr && the_job->planted != Planted::silent_end) {
            current()->lines.append(text, size);
            the_job->world.trace("says " + std::string(text, size > 0 ? size - 1 : 0));
        }
        return static_cast<ssize_t>(size);
    };
    stderr = ::fopencookie(nullptr, "w", functions);
    functions.write = [](void*, const char*, std::size_t size) -> ssize_t {
        return static_cast<ssize_t>(size);
    };
    stdout = ::fopencookie(nullptr, "w", functions);
    std::setvbuf(stderr, nullptr, _IONBF, 0);
}

}  // namespace sotto::simulation

using namespace sotto::simulation;

extern "C" {

int clock_gettime(clockid_t clock, struct timespec* time) noexcept {
    if (current() == nullptr) return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
    job().world.tick();
    const double now = job().world.now();
    time->tv_sec = static_cast<time_t>(now);
    time->tv_nsec = static_cast<long>((now - std::floor(now)) * 1e9);
    return 0;
}
int nanosleep(const struct timespec* time, struct timespec* left) {
    if (current() == nullptr) return static_cast<int>(::syscall(SYS_nanosleep, time, left));
    job().world.wait(static_cast<double>(time->tv_sec) + 1e-9 * static_cast<double>(time->tv_nsec),
                     false);
    return 0;
}
int getrusage(__rusage_who_t who, struct rusage* usage) noexcept {
    if (current() == nullptr) return static_cast<int>(::syscall(SYS_getrusage, who, usage));
    *usage = {};
    usage->ru_maxrss = 16384;
    return 0;
}

int crypto_stream_chacha20_ietf_xor_ic(unsigned char* c,
                                       const unsigned char* m,
                                       unsigned long long length,
                                       const unsigned char* nonce,
                                       std::uint32_t counter,
                                       const unsigned char* key) {
    static auto* const next =
        real<decltype(crypto_stream_chacha20_ietf_xor_ic)>("crypto_stream_chacha20_ietf_xor_ic");
    if (current() == nullptr) return next(c, m, length, nonce, counter, key);
    unsigned char used[12];
    std::memcpy(used, nonce, sizeof used);
    if (job().planted == Planted::noise_again) std::memset(used + 4, 0, 8);
    job().observer.drew(bytes(key, 32), used);
    job().observer.uses_secret(bytes(key, 32));
    return next(c, m, length, used, counter, key);
}
int crypto_aead_chacha20poly1305_ietf_encrypt_detached(unsigned char* c,
                                                       unsigned char* mac,
                                                       unsigned long long* mac_length,
                                                       const unsigned char* m,
                                                       unsigned long long length,
                                                       const unsigned char* ad,
                                                       unsigned long long ad_length,
                                                       const unsigned char* nsec,
                                                       const unsigned char* nonce,
                                                       const unsigned char* key) {
    static auto* const next = real<decltype(crypto_aead_chacha20poly1305_ietf_encrypt_detached)>(
        "crypto_aead_chacha20poly1305_ietf_encrypt_detached");
    return seals_message(c, m, length, nonce, bytes(key, 32), [&](const unsigned char* plain) {
        return next(c, mac, mac_length, plain, length, ad, ad_length, nsec, nonce, key);
    });
}
int crypto_aead_chacha20poly1305_ietf_decrypt_detached(unsigned char* m,
                                                       unsigned char* nsec,
                                                       const unsigned char* c,
                                                       unsigned long long length,
                                                       const unsigned char* mac,
                                                       const unsigned char* ad,
                                                       unsigned long long ad_length,
                                                       const unsigned char* nonce,
                                                       const unsigned char* key) {
    static auto* const next = real<decltype(crypto_aead_chacha20poly1305_ietf_decrypt_detached)>(
        "crypto_aead_chacha20poly1305_ietf_decrypt_detached");
    if (opens_plain_text(m, c, length)) return 0;
    return next(m, nsec, c, length, mac, ad, ad_length, nonce, key);
}
int crypto_aead_aes256gcm_encrypt_detached_afternm(unsigned char* c,
                                                   unsigned char* mac,
                                                   unsigned long long* mac_length,
                                                   const unsigned char* m,
                                                   unsigned long long length,
                                                   const unsigned char* ad,
                                                   unsigned long long ad_length,
                                                   const unsigned char* nsec,
                                                   const unsigned char* nonce,
                                                   const crypto_aead_aes256gcm_state* state) {
    static auto* const next = real<decltype(crypto_aead_aes256gcm_encrypt_detached_afternm)>(
        "crypto_aead_aes256gcm_encrypt_detached_afternm");
    // The state is a function of the key alone.
    return seals_message(
        c, m, length, nonce, bytes(state, sizeof *state), [&](const unsigned char* plain) {
            return next(c, mac, mac_length, plain, length, ad, ad_length, nsec, nonce, state);
        });
}
int crypto_aead_aes256gcm_decrypt_detached_afternm(unsigned char* m,
                                                   unsigned char* nsec,
                                                   const unsigned char* c,
                                                   unsigned long long length,
                                                   const unsigned char* mac,
                                                   const unsigned char* ad,
                                                   unsigned long long ad_length,
                                                   const unsigned char* nonce,
                                                   const crypto_aead_aes256gcm_state* state) {
    static auto* const next = real<decltype(crypto_aead_aes256gcm_decrypt_detached_afternm)>(
        "crypto_aead_aes256gcm_decrypt_detached_afternm");
    if (opens_plain_text(m, c, length)) return 0;
    return next(m, nsec, c, length, mac, ad, ad_length, nonce, state);
}
int crypto_aead_xchacha20poly1305_ietf_encrypt(unsigned char* c,
                                               unsigned long long* c_length,
                                               const unsigned char* m,
                                               unsigned long long length,
                                               const unsigned char* ad,
                                               unsigned long long ad_length,
                                               const unsigned char* nsec,
                                               const unsigned char* nonce,
                                               const unsigned char* key) {
    static auto* const next = real<decltype(crypto_aead_xchacha20poly1305_ietf_encrypt)>(
        "crypto_aead_xchacha20poly1305_ietf_encrypt");
    if (current() != nullptr && !current()->deviates) {
        const auto plain = bytes(m, length);
        if (const auto checkpoint = checkpoint_in(plain))
            job().observer.sealed_copy(bytes(key, 32), bytes(nonce, 24), plain, *checkpoint);
        else
            job().observer.sealed(bytes(key, 32), bytes(nonce, 24), plain);
    }
    return next(c, c_length, m, length, ad, ad_length, nsec, nonce, key);
}
int crypto_scalarmult(unsigned char* q, const unsigned char* n, const unsigned char* p) {
    static auto* const next = real<decltype(crypto_scalarmult)>("crypto_scalarmult");
    if (current() != nullptr) job().observer.uses_secret(bytes(n, 32));
    return next(q, n, p);
}
int crypto_kdf_derive_from_key(unsigned char* subkey,
                               std::size_t length,
                               std::uint64_t id,
                               const char context[crypto_kdf_CONTEXTBYTES],
                               const unsigned char key[crypto_kdf_KEYBYTES]) {
    static auto* const next =
        real<decltype(crypto_kdf_derive_from_key)>("crypto_kdf_derive_from_key");
    const int code = next(subkey, length, id, context, key);
    if (current() != nullptr) {
        job().observer.uses_secret(bytes(key, 32));
        job().observer.uses_secret(bytes(subkey, length));
    }
    return code;
}
int crypto_sign_seed_keypair(unsigned char* pk, unsigned char* sk, const unsigned char* seed) {
    static auto* const next = real<decltype(crypto_sign_seed_keypair)>("crypto_sign_seed_keypair");
    if (current() != nullptr) job().observer.uses_secret(bytes(seed, 32));
    return next(pk, sk, seed);
}

int open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int file = open_variadic(path, flags, rest);
    va_end(rest);
    return file;
}
int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int file = open_variadic(path, flags, rest);
    va_end(rest);
    return file;
}
FILE* fopen64(const char* path, const char* mode) {
    static auto* const next = real<FILE*(const char*, const char*)>("fopen64");
    if (current() != nullptr && std::strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        return next(boot_file_of(*current()).c_str(), mode);
    return next(path, mode);
}
FILE* fopen(const char* path, const char* mode) { return fopen64(path, mode); }

ssize_t write(int file, const void* data, std::size_t size) {
    if (current() != nullptr && file > 2) {
        if (disk_fails(false, size)) return -1;
        job().observer.writes(bytes(data, size));
    }
    return ::syscall(SYS_write, file, data, size);
}
ssize_t pwrite(int file, const void* data, std::size_t size, off_t offset) {
    if (current() != nullptr) {
        if (disk_fails(false, size)) return -1;
        job().observer.writes(bytes(data, size));
    }
    return ::syscall(SYS_pwrite64, file, data, size, offset);
}
ssize_t pwrite64(int file, const void* data, std::size_t size, off_t offset) {
    return pwrite(file, data, size, offset);
}
int fsync(int file) {
    if (current() == nullptr) return static_cast<int>(::syscall(SYS_fsync, file));
    std::size_t none = 0;
    if (disk_fails(true, none)) return -1;
    job().disk.flushed(file);
    return 0;
}
int close(int file) {
    if (current() != nullptr) std::erase(current()->files, file);
    return static_cast<int>(::syscall(SYS_close, file));
}
int rename(const char* from, const char* to) noexcept {
    if (current() != nullptr) {
        job().world.call("rename");
        if (job().planted == Planted::small_ledger) count_nothing(from, to);
        job().disk.renames(absolute(from), absolute(to));
    }
    return static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}
int unlink(const char* path) noexcept {
    if (current() != nullptr) {
        job().world.call("unlink");
        job().disk.removes(absolute(path));
    }
    return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int remove(const char* path) noexcept {
    if (unlink(path) == 0) return 0;
    if (errno != EISDIR && errno != EPERM) return -1;
    return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

}  // extern "C"
