#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/names.hpp"
#include "sotto/graph/gossip.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/graph/mixing.hpp"
#include "sotto/plan/noise_plan.hpp"

namespace sotto {

/// What an observer receives: messages of present neighbours. An agent that has departed receives
/// nothing more and keeps what it knows. With a trusted mean every view contains the means only. A
/// coalition also knows its members' gradients and noise, and every stream whose seed a member
/// holds.
struct View {
    enum class Kind {
        all_messages,  ///< every message of every agent; members may be empty (the eavesdropper)
        neighbours,    ///< messages sent to the members by their neighbours (node, coalition)
        secure_sum     ///< only the weighted sums of the members' closed neighbourhoods
    };
    Kind kind = Kind::all_messages;
    std::vector<int> members;  ///< ascending

    [[nodiscard]] bool has_member(int agent) const {
        return std::binary_search(members.begin(), members.end(), agent);
    }
    /// Whether the figure holds in training: only `all_messages` bounds adaptive gradients
    /// (docs/equations.md#partial-views). Every view is exact for inputs fixed in advance.
    [[nodiscard]] bool sound_for_training() const { return kind == Kind::all_messages; }

    friend bool operator==(const View&, const View&) = default;
};

/// Arguments after the name of a view.
struct ViewArguments {
    std::vector<int> agents;  ///< ascending
    int size = 0;             ///< of a coalition
};

/// Where a user may name a view.
enum class ViewUse {
    account,  ///< what observers may learn
    ledger,   ///< during a training, after every few rounds
    audit     ///< what one observer learned
};

/// A kind of view that users can name (docs/accounting.md): its name, help, parsing, observers and
/// allowed uses.
struct ViewRecord {
    /// Arguments after a colon: "all-nodes", "node:a", "coalition:a,b", "worst-coalition:q".
    enum class Takes { nothing, one_agent, agents, size };
    /// Whose figures it requests; the worst coalition of a given size is searched for.
    enum class Asks { one_observer, several_observers, worst_coalition };

    std::string name;
    std::string help;  ///< what its observers see, for users: "what their neighbours send to them"
    Takes takes = Takes::nothing;
    Asks asks = Asks::one_observer;
    View::Kind receives = View::Kind::all_messages;  ///< what every observer receives
    /// Members of each observer, ascending; none if the worst coalition is searched for.
    std::function<std::vector<std::vector<int>>(const ViewArguments&, const Graph&)> members;

    [[nodiscard]] std::vector<View> observers(const ViewArguments& arguments,
                                              const Graph& graph) const;
    /// An audit takes one observer, and a training has no time for a search.
    [[nodiscard]] bool allows(ViewUse use) const;
    /// For help texts: "coalition:a,b".
    [[nodiscard]] std::string placeholder() const;
};

/// Name of the view of an observer outside the network.
inline constexpr std::string_view eavesdropper_view = "eavesdropper";

/// All kinds of views, in the order of help texts.
[[nodiscard]] Registry<ViewRecord>& view_records();

/// Placeholders of the views allowed there: "eavesdropper", "node:a", "coalition:a,b", ...
[[nodiscard]] std::vector<std::string> view_placeholder_list(ViewUse use);
/// The same as one text.
[[nodiscard]] std::string view_placeholders(ViewUse use);

/// The record that names this observer; null if there is none.
[[nodiscard]] const ViewRecord* record_of(const View& view, const Graph& graph);

/// Consecutive rounds with the same agents present and one plan's noise.
struct Phase {
    long rounds = 1;
    MixingSchedule mixing;  ///< over all agents of the network; round 0 is the phase's first
    /// Ascending. These agents send nothing, add no noise and contribute nothing; in `mixing` they
    /// have weight 1 on themselves and others have weight 0 on them. They may return in a later
    /// phase.
    std::vector<int> departed;
    /// Plan of the phase, over all agents of the network including departed ones. Its noise is
    /// independent of all before: the temporal factor starts with the phase. Null: the process's
    /// plan, which continues through consecutive phases without a plan and starts afresh after one
    /// with a plan.
    const NoisePlan* plan = nullptr;
    /// Training rounds before the phase that are repeated: every agent, departed or not, starts
    /// from its model before them. Their messages stay seen. At most the number of training rounds
    /// so far; 0 in the first phase.
    long repeated = 0;
    /// Gossip of the phase if it differs from the process's; same number of steps.
    std::optional<GossipPolynomial> gossip = std::nullopt;

    [[nodiscard]] bool has_departed(int agent) const;
};

/// The messages of a run: m_0(t) = x(t) - eta_t u(t), u(t) = B u(t-1) + g(t) + v(t), then
/// m_(k+1)(t) = here_k W_t m_k(t) - before_k m_(k-1)(t) and x(t+1) = m_K(t), where m_0 to m_(K-1)
/// are sent; everything but g is known or Gaussian; with repeated rounds x(t) is an earlier one. t
/// counts rounds whose messages were sent, repeated ones each time. Exact diffusion adds (eta_t /
/// eta_(t-1)) (x(t) - psi(t-1)) to m_0(t), where psi(t-1) is m_0(t-1) without what was added. With
/// tracking a round has K messages y(t) + u(t) - u(t-1) that are mixed to y(t+1), and then K of the
/// model x(t) - eta_t y(t+1). After the last round the
/// models, or averages of an agent's models, are exchanged in final gossip. Pointers must outlive
/// the object.
struct MessageProcess {
    const Graph* graph = nullptr;     ///< who receives whose messages
    const NoisePlan* plan = nullptr;  ///< v(t) of phases without their own plan
    std::vector<Phase> phases;
    GossipPolynomial gossip{1};  ///< K steps: messages a round; gradients and noise enter the first
    Correction correction = Correction::none;
    double momentum = 0;             ///< B in [0, 1); 0: u = g + v
    int final_gossip = 0;            ///< exchanges after the last round
    std::vector<double> step_sizes;  ///< eta_t > 0, one per round; empty: all 1
    [[nodiscard]] long rounds() const;
    /// Messages of an agent a round: K, or 2 K with tracking.
    [[nodiscard]] int exchanges() const { return exchanges_a_round(correction, gossip.steps()); }
    /// For every round, its number in the training: a repeated round has its original number, which
    /// participation uses.
    /// @throws ConfigError for more repeated rounds than there are.
    [[nodiscard]] std::vector<long> training_rounds() const;
    /// The plan whose noise a phase has.
    [[nodiscard]] const NoisePlan& plan_of(const Phase& phase) const;
    /// Gossip of a phase's rounds.
    [[nodiscard]] const GossipPolynomial& gossip_of(const Phase& phase) const;
};

}  // namespace sotto
