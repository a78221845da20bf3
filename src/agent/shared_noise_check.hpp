#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "noise/noise_source.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "trust/key_ring.hpp"

namespace sotto {

/// Whether the first message of a round holds the noise that its sender v shares with its receiver
/// u, for all neighbours of the local agents that share seeds with them. With k the part of v's
/// noise whose seeds u holds, of deviation a in a coordinate, and x_u the receiver's model,
///
///     r = m_v - x_u + eta_t k,    Q_t = <r, k> / (a |r|).
///
/// The message of an honest agent is x_v - eta_t (g_v + noise of other seeds + k), so that r does
/// not depend on k, and Q_t is standard normal whatever data, models and earlier rounds are. If a
/// part c of k is in the message, Q_t is -(1 - c) eta_t a d / |r| on average, d the dimension.
/// Tested are Q_t and its average over recent rounds, normalised,
///
///     A <- (1 - h) A + h Q_t,   V <- (1 - h)^2 V + h^2,   A / sqrt(V),   h = max(1/t, 1/64).
///
/// One value beyond +-z ends it: from then on the neighbour has failed. z is such that, by the
/// union bound over all rounds, both statistics and all pairs of neighbours of a start of the
/// run, an honest agent fails with probability below `false_alarms`. What the receiver sends
/// afterwards shows that it did, which is all that the test can reveal about k: delta grows by at
/// most `false_alarms` for each start.
class SharedNoiseCheck {
  public:
    struct Setup {
        double false_alarms = 0;  ///< in (0, 1), of a whole start
        long rounds = 1;          ///< at most, of the run
        Eigen::Index dimension = 1;
        int threads = 1;
    };
    /// @param plan Gaussian noise on gradients, independent over rounds, the same message to all;
    /// of any other plan no neighbour is tested.
    /// @param rings of the local agents, with the seeds the plan gives them.
    SharedNoiseCheck(const NoisePlan& plan,
                     const MixingMatrix& mixing,
                     std::span<const KeyRing> rings,
                     const Setup& setup);

    /// Draws k of all neighbours. Rounds ascend.
    /// @param noise_round its number within the key epoch.  @param step eta_t.
    void begin_round(std::uint32_t epoch, std::uint64_t noise_round, double step);
    /// Coordinates [first, first + count) of a neighbour's message. Pieces come in order; for
    /// different local agents at once.
    /// @param place of the sender in the receiver's closed neighbourhood.
    /// @param model x_u, whole.
    void look(std::size_t local,
              std::size_t place,
              Eigen::Index first,
              Eigen::Index count,
              const double* message,
              const double* model);
    /// Whether its messages did not hold the noise that they should.
    [[nodiscard]] bool failed(std::size_t local, std::size_t place) const;
    /// Whether the neighbour shares noise with the receiver.
    [[nodiscard]] bool tests(std::size_t local, std::size_t place) const {
        return receivers_[local].senders[place].deviation > 0;
    }
    /// z.
    [[nodiscard]] double bound() const { return bound_; }

  private:
    struct Sender {
        double deviation = 0;            // a; 0: nothing is shared
        Eigen::Index column = -1;        // of k
        double product = 0, square = 0;  // <r, k> and |r|^2, so far
        double average = 0, variance = 0;
        long rounds = 0;
        bool failed = false;
    };
    struct Receiver {
        std::vector<Sender> senders;  // by place in the closed neighbourhood
        std::unique_ptr<NoiseSource> source;
        Eigen::MatrixXd shared;  // k, d x senders that share seeds
    };
    void judge(Sender& sender) const;

    Eigen::Index dimension_;
    double step_ = 0;
    double bound_ = 0;
    std::vector<Receiver> receivers_;  // by local agent
};

/// Part of delta that false alarms may take: what each start with --robust adds to it, at most.
inline constexpr double alarm_share_of_delta = 1e-6;

}  // namespace sotto
