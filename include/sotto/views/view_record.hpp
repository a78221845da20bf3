#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/core/registry.hpp"
#include "sotto/graph/graph.hpp"
#include "sotto/views/view.hpp"

namespace sotto {

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

}  // namespace sotto
