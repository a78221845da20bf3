#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sotto/graph/graph.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

/// Observers to account for, as a user names them (docs/accounting.md):
///
///     eavesdropper              every message of every round; no agent
///     node:a  coalition:a,b     what the neighbours of these agents send to them; their own inputs
///                               and noise; the noise of every stream whose seed they hold
///     secure-sum:a,b            the same, of whose messages they learn weighted sums only
///     all-messages:a,b          the same knowledge, and every message of every round: the
///                               guarantee that holds for training
///     all-nodes                 every node by itself
///     worst-coalition:q         the coalition of q agents that learns most
///     worst-all-messages:q      the same with every message
struct ViewQuery {
    enum class Kind {
        eavesdropper,
        node,
        coalition,
        secure_sum,
        all_messages,
        all_nodes,
        worst_coalition,
        worst_all_messages
    };
    Kind kind = Kind::eavesdropper;
    std::vector<int> members;  ///< ascending; of the kinds that name agents
    int size = 0;              ///< q

    /// What one observer of this query receives.
    [[nodiscard]] View::Kind view_kind() const;
};

/// @throws ConfigError naming the option and what is allowed, for a name, an agent or a size that
/// does not exist.
[[nodiscard]] ViewQuery parse_view(std::string_view option,
                                   std::string_view text,
                                   const Graph& graph);
/// As parse_view reads it.
[[nodiscard]] std::string name_of(const ViewQuery& query);
/// Several, separated by ';'.
[[nodiscard]] std::vector<ViewQuery> parse_views(std::string_view option,
                                                 std::string_view text,
                                                 const Graph& graph);

/// "a,b,...": agents of the graph, returned ascending. @throws ConfigError for one that does not
/// exist (it says how agents are numbered) or is named twice.
[[nodiscard]] std::vector<int> parse_agent_list(std::string_view option,
                                                std::string_view text,
                                                const Graph& graph);

/// Why a figure holds.
struct Argument {
    std::string text;
    bool sound = false;  ///< for gradients that follow messages, or for inputs that follow none
};

/// "all messages seen"; of partial views "exact, inputs fixed in advance" where inputs do not
/// depend on messages, "non-adaptive ([U] Theorem 8)" in a training, and under Laplace noise
/// "bound: all messages seen", which such a view cannot exceed. Gaussian figures of all messages
/// are called exact too where inputs are fixed.
[[nodiscard]] Argument argument_of(const View& view, bool fixed_inputs, StreamDistribution noise);

}  // namespace sotto
