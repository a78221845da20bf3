// A view of a user's own: `even-nodes`, every agent of an even number on its own.

#include "sotto/views/view_record.hpp"

namespace sotto {
namespace {

std::vector<std::vector<int>> even_agents(const ViewArguments&, const Graph& graph) {
    std::vector<std::vector<int>> observers;
    for (int u = 0; u < graph.agents(); u += 2) observers.push_back({u});
    return observers;
}

const Registered<ViewRecord> even_nodes(view_records(),
                                        {.name = "even-nodes",
                                         .help = "what neighbours send to agents 0, 2, 4, ...",
                                         .takes = ViewRecord::Takes::nothing,
                                         .asks = ViewRecord::Asks::several_observers,
                                         .receives = View::Kind::neighbours,
                                         .members = even_agents});

}  // namespace
}  // namespace sotto
