#include "audit/recorded_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/linear_algebra.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// @param round that the record must be of.  @param held so far, of all rounds of the run.
/// @throws DataError unless every round is held once at most, up to the message's own.
void require_possible(const WireRecord& record, long round, const VectorXd& held, int agent) {
    if (record.round != round || record.holds.size() != held.size())
        throw DataError(fmt::format(
            "recording of agent {}: a record of round {} of {}, where round {} of {} is due",
            agent,
            record.round,
            record.holds.size(),
            round,
            held.size()));
    for (Index t = 0; t < record.holds.size(); ++t) {
        const double holds = record.holds(t);
        const bool known = holds == 0 || holds == 1 || holds == 2;
        if (!known || (holds > 0 && (held(t) > 0 || t > record.round)))
            throw DataError(
                fmt::format("recording of agent {}: its message of round {} says {} of round {}, "
                            "which cannot be",
                            agent,
                            record.round,
                            holds,
                            t));
    }
}

}  // namespace

RecordedSteps::RecordedSteps(const std::filesystem::path& views,
                             const View& view,
                             const MessageProcess& process,
                             Index dimension,
                             const std::string& reason,
                             int threads)
    : step_sizes_(process.step_sizes) {
    const auto rounds = static_cast<Index>(process.rounds());
    RecordedMessages recorded(views, view, process, threads, WireContent::steps);
    leaks_ = recorded.leak_findings();
    if (recorded.dimension() != dimension)
        throw DataError(fmt::format("{}: models of {} coordinates are recorded, {}",
                                    views.string(),
                                    recorded.dimension(),
                                    reason));
    std::vector<int> senders;
    for (int u = 0; u < process.plan->agents; ++u)
        if (!view.has_member(u)) senders.push_back(u);
    const Index most = std::ssize(senders) * rounds;
    if (most > most_messages)
        throw ConfigError(fmt::format(
            "rounds: {} of {} agents are {} messages to compare (allowed: up to {}; ask for fewer "
            "rounds or agents)",
            rounds,
            senders.size(),
            most,
            most_messages));
    std::vector<VectorXd> columns, held(senders.size(), VectorXd::Zero(rounds));
    std::vector<MatrixXd> known(senders.size());  // eta v as far as members know it, d x rounds
    for (Index t = 0; recorded.next(); ++t) {
        const SeenStep step = recorded.step();
        for (std::size_t a = 0; a < senders.size(); ++a) {
            const WireRecord& record = recorded.sent(senders[a]);
            require_possible(record, t, held[a], senders[a]);
            const VectorXd noise = step.known_noise(senders[a], NoiseRow::all_receivers);
            if (noise.size() > 0) {
                if (known[a].cols() == 0) known[a] = MatrixXd::Zero(dimension, rounds);
                known[a].col(t) = step_sizes_[static_cast<std::size_t>(t)] * noise;
            }
            if (record.holds.isZero(0)) {
                ++missed_;
                continue;
            }
            held[a] += record.holds;
            VectorXd& value = columns.emplace_back(record.messages.col(0));
            if (known[a].cols() > 0) value -= known[a] * record.holds.cwiseMin(1.0);
            messages_.push_back({senders[a], record.holds});
        }
    }
    values_.resize(std::ssize(columns), dimension);
    for (Index i = 0; i < values_.rows(); ++i)
        values_.row(i) = columns[static_cast<std::size_t>(i)].transpose();
    set_whitening(recorded.unknown_noise());
}

void RecordedSteps::set_whitening(const MatrixXd& noise) {
    const MatrixXd covariance = noise * noise.transpose();
    const Index count = std::ssize(messages_);
    const VectorXd squares =
        Eigen::Map<const VectorXd>(step_sizes_.data(), std::ssize(step_sizes_)).cwiseAbs2();
    MatrixXd holds(squares.size(), count);
    for (Index i = 0; i < count; ++i)
        holds.col(i) = messages_[static_cast<std::size_t>(i)].holds.cwiseMin(1.0);
    MatrixXd all = holds.transpose() * squares.asDiagonal() * holds;
    for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < count; ++j)
            all(i, j) *= covariance(messages_[static_cast<std::size_t>(i)].sender,
                                    messages_[static_cast<std::size_t>(j)].sender);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(all);
    constexpr double nothing = 1e-12;
    const double largest = count > 0 ? std::max(0.0, solver.eigenvalues()(count - 1)) : 0;
    const Index blind = std::ranges::count_if(
        solver.eigenvalues(), [&](double value) { return value <= nothing * largest; });
    noiseless_ = solver.eigenvectors().leftCols(blind).transpose();
    rows_ = solver.eigenvalues().tail(count - blind).cwiseSqrt().cwiseInverse().asDiagonal() *
            solver.eigenvectors().rightCols(count - blind).transpose();
}

ViewInnovations::Innovation RecordedSteps::whitened(const MatrixXd& values) const {
    return {rows_ * values, noiseless_ * values};
}

ViewInnovations::Innovation RecordedSteps::responses(std::span<const int> agents,
                                                     const MatrixXd& contributions) const {
    MatrixXd shown = MatrixXd::Zero(std::ssize(messages_), std::ssize(agents));
    for (Index i = 0; i < shown.rows(); ++i) {
        const Message& message = messages_[static_cast<std::size_t>(i)];
        for (Index j = 0; j < shown.cols(); ++j) {
            if (agents[static_cast<std::size_t>(j)] != message.sender) continue;
            for (Index t = 0; t < message.holds.size(); ++t)
                if (message.holds(t) == 2)
                    shown(i, j) += step_sizes_[static_cast<std::size_t>(t)] * contributions(t, j);
        }
    }
    return whitened(shown);
}

}  // namespace sotto
