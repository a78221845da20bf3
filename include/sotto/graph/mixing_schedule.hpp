#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"

namespace sotto {

/// Mixing that changes between rounds, on one union graph: round t uses matrices[t mod period].
/// Agents without an edge in a round have weight 0 there and exchange nothing.
struct ScheduledMixing {
    Graph graph;
    std::vector<MixingMatrix> matrices;
};

/// A new connected graph every round: random families are drawn again (seeded by graph_seed and the
/// round), the others keep their shape with agents in random order.
/// @param rule mixing rule of every graph.
/// @throws ConfigError for a rule that is a file, and for more than 10^8 weights in total.
[[nodiscard]] ScheduledMixing random_schedule(const TopologySpec& topology,
                                              const std::string& rule,
                                              long rounds);

/// One peer a round: in round t agent u averages its own model and that of u + 2^(t mod ceil(log2
/// n)) mod n, or u - 2^(...) if the graph is directed. Doubly stochastic, on the exponential graph.
[[nodiscard]] std::vector<MixingMatrix> one_peer_schedule(const Graph& exponential_graph);

/// Reads P stacked n x n matrices from a .npy file.
/// @throws DataError naming file, matrix and entry.
[[nodiscard]] std::vector<MixingMatrix> read_mixing_schedule(const Graph& graph,
                                                             const std::string& path);

/// pi, n entries >= 0 that sum to 1 (docs/equations.md#directed-graphs). Averaging converges to
/// sum_u pi_u x_u: pi is W's left Perron vector, 1/n each if W is doubly stochastic. With push_sum
/// pi = A pi, and w tends to n pi. If the weights allow several, the limit of equal models or w
/// = 1. Cost: O(n^3) up to 2000 agents, then at most 10^5 products with the matrix.
[[nodiscard]] Eigen::VectorXd perron_vector(const MixingMatrix& mixing);

/// D^-1, n entries: estimates are D^-1 times mixed models; 1/(n pi) with push_sum once w has
/// converged, else 1. Cost: as perron_vector.
[[nodiscard]] Eigen::VectorXd estimate_factors(const MixingMatrix& mixing);

/// w of push-sum, n numbers > 0 by which models are divided. Public: they depend on the graph
/// alone.
class PushSumWeights {
  public:
    explicit PushSumWeights(int agents) : now_(Eigen::VectorXd::Ones(agents)), before_(now_) {}
    /// Applies one exchange, here W m - before m' for messages m and the previous m'.
    void mix(const MixingMatrix& mixing, double here = 1, double before = 0);
    [[nodiscard]] double of(int agent) const { return now_[agent]; }
    [[nodiscard]] const Eigen::VectorXd& values() const { return now_; }

  private:
    Eigen::VectorXd now_, before_;
};

}  // namespace sotto
