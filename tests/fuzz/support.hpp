#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/network.hpp"
#include "sotto/core/error.hpp"

/// What every decoder under test defines. Anything but a return is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace sotto::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// A finding that is no crash by itself.
inline void require(bool condition) {
    if (!condition) std::abort();
}

/// Whether `decode` accepted its bytes. Refusing them with one of the program's own errors is right
/// as well; an exception of another kind, or an error that says "cannot happen" (exit code 1), is
/// not caught here and ends the program.
template <class Decode>
bool accepts(Decode&& decode) {
    try {
        decode();
        return true;
    } catch (const Error& error) {
        if (error.exit_code() == ExitCode::other) throw;
        return false;
    }
}

/// Keys and nonces repeat with every input, so that a finding can be found again.
void restart_randomness();

/// What a peer really sent, changed as an input says.
class Changes {
  public:
    Changes(const std::uint8_t* data, std::size_t size) : rest_(text_of(data, size)) {}

    /// Zero when the input is used up.
    std::uint8_t byte();
    /// First byte: how many changes. 0xff: everything is replaced by what is left of the input.
    /// Each change: kind (overwrite, insert, erase, cut off, repeat), position, length, bytes.
    std::string apply(std::string message);

  private:
    std::string_view take(std::size_t size);
    std::string_view rest_;
};

/// One process of a network whose other processes say what a test wants. Agents are processes.
class ScriptedNetwork final : public Network {
  public:
    /// What the process receives in its calls of one kind, in order.
    /// @param others_say of call number `call`: messages of all processes (its own is ignored).
    using Gather = std::function<std::vector<std::string>(int call)>;
    ScriptedNetwork(int processes, int process, std::string root_says, Gather others_say)
        : Network({processes, processes}, process),
          root_says_(std::move(root_says)),
          others_say_(std::move(others_say)) {}

    std::string description() const override { return "scripted"; }
    /// For broadcast and scatter: what process 0 says to processes other than itself.
    std::string broadcast(const std::string& bytes, std::uint64_t most_bytes) override {
        return process() == 0 ? bytes : limited(root_says_, most_bytes);
    }
    std::string scatter(const std::vector<std::string>& to_processes,
                        std::uint64_t most_bytes) override {
        return process() == 0 ? to_processes.front() : limited(root_says_, most_bytes);
    }
    std::vector<std::string> all_gather(const std::string& bytes,
                                        std::uint64_t most_bytes) override {
        auto messages = others_say_(gathers_++);
        messages[static_cast<std::size_t>(process())] = bytes;
        for (const std::string& message : messages) (void)limited(message, most_bytes);
        return messages;
    }

    /// What comes to this process is what all processes say in a gather.
    std::vector<std::string> send_parcels(const std::string& bytes,
                                          std::span<const int> receivers,
                                          std::uint64_t most_bytes) override {
        const auto all = all_gather(bytes, most_bytes);
        std::vector<std::string> came;
        for (std::size_t p = 0; p < all.size(); ++p)
            if (receivers[p] == process()) came.push_back(all[p]);
        return came;
    }

    std::unique_ptr<Network> without(std::span<const int> /*leaving*/) override { return nullptr; }
    void connect(const Graph&) override {}
    void protect(std::span<PairSecrets>, std::uint32_t) override {}
    std::optional<AeadCipher> encryption() const override { return std::nullopt; }
    void watch_for_stalls(StallLimits /*limits*/) override {}
    void exchange(ExchangeId, std::span<const Outgoing>, Eigen::Index, const Delivery&) override {
        std::abort();
    }
    void exchange_sum(ExchangeId, Eigen::Index, const ShareSource&, const SumDelivery&) override {
        std::abort();
    }
    Eigen::VectorXd fold_over_agents(const Eigen::MatrixXd&, Fold, const CollectedCheck&) override {
        std::abort();
    }
    double maximum(double value) override { return value; }
    void begin_maximum(std::span<const double>) override { std::abort(); }
    std::vector<double> end_maximum() override { std::abort(); }
    std::int64_t bytes_sent() const override { return 0; }
    void abort(ExitCode) override { std::abort(); }

  protected:
    std::optional<Error> agree_on(const std::optional<Error>& local_failure) override {
        return local_failure;
    }

  private:
    static const std::string& limited(const std::string& bytes, std::uint64_t most_bytes) {
        if (bytes.size() > most_bytes) throw NetworkError("more bytes than there can be");
        return bytes;
    }

    std::string root_says_;
    Gather others_say_;
    int gathers_ = 0;
};

/// The bytes as a file in memory, for decoders that read files.
class MemoryFile {
  public:
    MemoryFile(const std::uint8_t* data, std::size_t size);
    ~MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    [[nodiscard]] std::filesystem::path path() const;

  private:
    int descriptor_;
};

}  // namespace sotto::fuzz
