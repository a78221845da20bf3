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

/// What an observer receives: messages of neighbours that are there. An agent that has departed
/// receives nothing more, and keeps what it knows. With a trusted mean every view sees the means
/// only. Besides, a coalition knows its members' gradients and noise, and the
/// noise of every stream whose seed a member holds.
struct View {
    enum class Kind {
        all_messages,  ///< every message of every agent; members may be empty (the eavesdropper)
        neighbours,    ///< what the neighbours of the members send to them (node, coalition)
        secure_sum     ///< only the weighted sums of the members' closed neighbourhoods
    };
    Kind kind = Kind::all_messages;
    std::vector<int> members;  ///< ascending

    [[nodiscard]] bool has_member(int agent) const {
        return std::binary_search(members.begin(), members.end(), agent);
    }
    /// Why the figure holds: for training only `all_messages` bounds adaptive gradients
    /// (docs/equations.md 8); every view is exact for inputs fixed in advance.
    [[nodiscard]] bool sound_for_training() const { return kind == Kind::all_messages; }

    friend bool operator==(const View&, const View&) = default;
};

/// What a user wrote after the name of a view.
struct ViewArguments {
    std::vector<int> agents;  ///< ascending
    int size = 0;             ///< of a coalition
};

/// Where a user may name a view.
enum class ViewUse {
    account,  ///< what observers may learn
    ledger,   ///< beside a training, after every few rounds
    audit     ///< what one observer did learn
};

/// A kind of view that users can name (docs/accounting.md). Its name, help, parsing, observers and
/// where it is refused are said here only.
struct ViewRecord {
    /// What follows the name, behind a colon: "all-nodes", "node:a", "coalition:a,b",
    /// "worst-coalition:q".
    enum class Takes { nothing, one_agent, agents, size };
    /// Whose figures it asks for; those of the worst coalition of so many agents are searched for.
    enum class Asks { one_observer, several_observers, worst_coalition };

    std::string name;
    std::string help;  ///< what its observers see, for people: "what their neighbours send to them"
    Takes takes = Takes::nothing;
    Asks asks = Asks::one_observer;
    View::Kind receives = View::Kind::all_messages;  ///< what every observer receives
    /// Who the observers are, each ascending; none where the worst coalition is searched for.
    std::function<std::vector<std::vector<int>>(const ViewArguments&, const Graph&)> members;

    [[nodiscard]] std::vector<View> observers(const ViewArguments& arguments,
                                              const Graph& graph) const;
    /// An audit looks at one observer, and beside a training there is no time for a search.
    [[nodiscard]] bool allows(ViewUse use) const;
    /// As help texts name it: "coalition:a,b".
    [[nodiscard]] std::string placeholder() const;
};

/// The view of nobody among the agents.
inline constexpr std::string_view eavesdropper_view = "eavesdropper";

/// All kinds of views, in the order of help texts.
[[nodiscard]] Registry<ViewRecord>& view_records();

/// Placeholders of the views that may be named there: "eavesdropper", "node:a", "coalition:a,b",
/// ...
[[nodiscard]] std::vector<std::string> view_placeholder_list(ViewUse use);
/// The same in one text: "eavesdropper, node:a, coalition:a,b, ...".
[[nodiscard]] std::string view_placeholders(ViewUse use);

/// The kind a user would name this observer by; null if there is none.
[[nodiscard]] const ViewRecord* record_of(const View& view, const Graph& graph);

/// A stretch of rounds in which the same agents are there, under one plan's noise.
struct Phase {
    long rounds = 1;
    MixingSchedule mixing;  ///< over all agents of the network; round 0 is the phase's first
    /// Ascending; they send nothing, add no noise and contribute nothing. In `mixing` they have
    /// weight 1 on themselves and nobody weighs them. They may come back in a later phase.
    std::vector<int> departed;
    /// Noise of the phase's own, independent of all before it: the temporal factor begins with its
    /// first round. Over all agents of the network, those who have departed too. Null: the
    /// process's plan, which runs on through phases that follow one another without a plan, and
    /// begins anew after one with a plan.
    const NoisePlan* plan = nullptr;
    /// Training rounds before the phase that are done again: every agent, departed or not, starts
    /// from the model it had before them. Their messages stay seen. From 0 to as many training
    /// rounds as there are; 0 in the first phase.
    long repeated = 0;
    /// What its exchanges make of messages, where that is not as in the process: as many steps.
    std::optional<GossipPolynomial> gossip = std::nullopt;

    [[nodiscard]] bool has_departed(int agent) const;
};

/// The messages of a run: m_0(t) = x(t) - eta_t u(t), u(t) = B u(t-1) + g(t) + v(t), then
/// m_(k+1)(t) = here_k W_t m_k(t) - before_k m_(k-1)(t) and x(t+1) = m_K(t), where m_0 to m_(K-1)
/// are sent; everything but g known or Gaussian; with repeated rounds x(t) is an earlier one. t
/// counts the rounds whose messages were sent, repeated ones each time. After the last round the
/// models, or means of an agent's models, are exchanged some more times. Borrowed pointers outlive
/// the object.
struct MessageProcess {
    const Graph* graph = nullptr;     ///< who receives whose messages
    const NoisePlan* plan = nullptr;  ///< v(t) of phases without a plan of their own
    std::vector<Phase> phases;
    GossipPolynomial gossip{1};  ///< K steps: messages a round; gradients and noise enter the first
    double momentum = 0;         ///< B in [0, 1); 0: u = g + v
    int final_gossip = 0;        ///< exchanges after the last round
    std::vector<double> step_sizes;  ///< eta_t > 0, one a round; empty: all 1
    [[nodiscard]] long rounds() const;
    /// Of every round, which round of the training it is: a repeated one has the number it had.
    /// Participation goes by them. @throws ConfigError for more repeated rounds than there are.
    [[nodiscard]] std::vector<long> training_rounds() const;
    /// The plan whose noise a phase has.
    [[nodiscard]] const NoisePlan& plan_of(const Phase& phase) const;
    /// What the exchanges of a phase's rounds make of messages.
    [[nodiscard]] const GossipPolynomial& gossip_of(const Phase& phase) const;
};

}  // namespace sotto
