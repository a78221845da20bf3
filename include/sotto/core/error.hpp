#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace sotto {

/// Exit codes of the process. Documented, and used by scripts.
enum class ExitCode : int {
    ok = 0,
    other = 1,        ///< anything else
    usage = 2,        ///< bad usage or configuration
    data = 3,         ///< bad data
    privacy = 4,      ///< the plan does not meet the budget
    network = 5,      ///< a peer or the network failed, or a peer was not authenticated
    audit = 6,        ///< the audit contradicts the ledger
    complete = 7,     ///< the run to resume is already complete
    interrupted = 8,  ///< stopped on request; can be resumed
    storage = 9       ///< a disk is full, or fails
};

/// The text with every zero byte replaced by "\x00", since what() would end there.
[[nodiscard]] inline std::string without_zero_bytes(std::string text) {
    for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at))
        text.replace(at, 1, "\\x00");
    return text;
}

/// Base of all errors a user can cause or meet. The message is one line with the name, the value,
/// what is allowed, and what to do; the class determines the exit code.
class Error : public std::runtime_error {
  public:
    Error(ExitCode code, const std::string& message)
        : std::runtime_error(without_zero_bytes(message)), code_(code) {}
    [[nodiscard]] ExitCode exit_code() const noexcept { return code_; }

  private:
    ExitCode code_;
};

/// Bad usage or configuration (exit code 2).
class ConfigError : public Error {
  public:
    explicit ConfigError(const std::string& message) : Error(ExitCode::usage, message) {}
};

/// Unusable data (exit code 3).
class DataError : public Error {
  public:
    explicit DataError(const std::string& message) : Error(ExitCode::data, message) {}
};

/// A plan that does not protect as configured (exit code 4).
class PrivacyError : public Error {
  public:
    explicit PrivacyError(const std::string& message) : Error(ExitCode::privacy, message) {}
};

/// A peer or the network failed (exit code 5).
class NetworkError : public Error {
  public:
    explicit NetworkError(const std::string& message) : Error(ExitCode::network, message) {}
};

/// Cryptography failed or a peer could not be authenticated (exit code 5).
class CryptoError : public Error {
  public:
    explicit CryptoError(const std::string& message) : Error(ExitCode::network, message) {}
};

/// Models or gradients are no longer finite (exit code 1).
class DivergedError : public Error {
  public:
    explicit DivergedError(const std::string& message) : Error(ExitCode::other, message) {}
};

/// Throws the class of error for the exit code.
[[noreturn]] inline void throw_error(ExitCode code, const std::string& message) {
    switch (code) {
        case ExitCode::usage:
            throw ConfigError(message);
        case ExitCode::data:
            throw DataError(message);
        case ExitCode::privacy:
            throw PrivacyError(message);
        case ExitCode::network:
            throw NetworkError(message);
        case ExitCode::ok:
            throw Error(ExitCode::other, message);
        default:
            throw Error(code, message);
    }
}

}  // namespace sotto
