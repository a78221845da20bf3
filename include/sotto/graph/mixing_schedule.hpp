#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Mixing that changes from round to round, on one union graph: round t uses matrices[t mod
/// period]. Agents without an edge in a round have weight 0 there, and send each other nothing.
struct ScheduledMixing {
    Graph graph;
    std::vector<MixingMatrix> matrices;
};

/// A fresh graph every round, each connected: random families are drawn again (seeded by
/// graph_seed and the round), the others keep their shape and get their agents in random order.
/// @param rule mixing on every one of them.  @throws ConfigError for a rule that is a file, and
/// where more than 10^8 weights would have to be kept.
[[nodiscard]] ScheduledMixing random_schedule(const TopologySpec& topology,
                                              const std::string& rule,
                                              long rounds);

/// One peer a round: in round t agent u takes the mean of its own model and that of u + 2^(t mod
/// ceil(log2 n)) mod n, or u - 2^(...) where the graph is directed. Doubly stochastic, and on the
/// exponential graph.
[[nodiscard]] std::vector<MixingMatrix> one_peer_schedule(const Graph& exponential_graph);

/// P matrices n x n from a .npy file, one below the other. @throws DataError naming file, matrix
/// and entry.
[[nodiscard]] std::vector<MixingMatrix> read_mixing_schedule(const Graph& graph,
                                                             const std::string& path);

/// pi, n entries >= 0 that sum to 1. Averaging mixes models into sum_u pi_u x_u: W's left Perron
/// vector, 1/n each where W is doubly stochastic. With push_sum pi = A pi, and w tends to n pi.
/// (docs/equations.md 19.) Where the weights leave several, that which equal models or w = 1 come
/// to. Cost: O(n^3) up to 2000 agents, then at most 10^5 products with the matrix.
[[nodiscard]] Eigen::VectorXd perron_vector(const MixingMatrix& mixing);

/// D^-1, n entries: what agents end up with is D^-1 times what mixing made, 1/(n pi) with push_sum
/// once w has settled, else 1. Cost: as perron_vector.
[[nodiscard]] Eigen::VectorXd estimate_factors(const MixingMatrix& mixing);

/// w of push-sum, n numbers > 0 that models are divided by. Public: of the graph alone, so every
/// agent knows all.
class PushSumWeights {
  public:
    explicit PushSumWeights(int agents) : now_(Eigen::VectorXd::Ones(agents)), before_(now_) {}
    /// After one exchange, that makes here W m - before m' of messages m and those before.
    void mix(const MixingMatrix& mixing, double here = 1, double before = 0);
    [[nodiscard]] double of(int agent) const { return now_[agent]; }
    [[nodiscard]] const Eigen::VectorXd& values() const { return now_; }

  private:
    Eigen::VectorXd now_, before_;
};

}  // namespace sotto
