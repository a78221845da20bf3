#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "net/network.hpp"

namespace sotto::test {

/// What a string is that all processes send to all.
enum class Gathered {
    options,
    agreement,  ///< digest of graph, mixing and plan
    records,    ///< numbers of records
    announcement,
    confirmation,
    data,  ///< tags of records
    seeds,
    note,        ///< for the manifest
    disk,        ///< which run directory the process sees
    checkpoint,  ///< of round 0
    figures,     ///< at the end
    other
};

/// Bytes of an exchange as they leave the process, one piece a neighbour.
struct SentPieces {
    std::vector<std::uint8_t> bytes;
    std::size_t piece = 0;
    int number = 0;            ///< of the exchange, from 0
    std::ptrdiff_t extra = 0;  ///< bytes more (or fewer) a piece than others expect
};

/// How one rank that otherwise runs the real agent's code deviates from the protocol. Empty
/// functions do not.
struct Deviation {
    std::string name;
    /// One message a neighbour, before it is sealed.
    std::function<void(ExchangeId id, std::vector<Eigen::VectorXd>& messages)> messages{};
    /// Likewise where all neighbours get the same, which is not encrypted.
    std::function<void(ExchangeId id, Eigen::VectorXd& message)> message_to_all{};
    std::function<void(ExchangeId id, std::size_t neighbour, std::span<std::uint64_t> words)>
        share{};
    std::function<void(SentPieces& sent)> sealed{};
    std::function<std::string(Gathered kind, std::string own)> gathered{};
    /// What it gets: as if another rank had sent it something else than the others.
    std::function<void(Gathered kind, std::vector<std::string>& all)> received{};
    /// What all get from process 0. One that is two-faced goes on with the truth, and says the same
    /// lie again where all compare what they heard.
    std::function<void(std::string& said)> broadcast{};
    bool two_faced = false;
    /// Vector that process 0 collects.
    std::function<void(Eigen::MatrixXd& local)> collected{};
    std::function<double(double value)> maximum{};
    std::function<void(std::vector<double>& votes)> vote{};
    /// Before a set-up step is agreed on; its number from 0.
    std::function<std::optional<Error>(int number)> failure{};
    /// What it announces as the size of a string, and as exit code.
    std::function<std::uint64_t(std::uint64_t size)> announced_size{};
    std::function<int(int code)> exit_code{};
    /// Before anything of sotto runs.
    std::function<void()> start{};
};

/// The deviation of this name. @throws std::out_of_range if there is none.
[[nodiscard]] const Deviation& deviation_named(const std::string& name);

/// The one of this process; null: it keeps to the protocol.
[[nodiscard]] const Deviation*& own_deviation();

}  // namespace sotto::test
