#include "sotto/views/view_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sotto/core/names.hpp"
#include "views/view_parameter.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

namespace {

using Takes = ViewRecord::Takes;
using Asks = ViewRecord::Asks;
using Kind = View::Kind;

std::vector<std::vector<int>> the_agents_named(const ViewArguments& arguments, const Graph&) {
    return {arguments.agents};
}

std::vector<std::vector<int>> every_agent(const ViewArguments&, const Graph& graph) {
    std::vector<std::vector<int>> observers;
    for (int u = 0; u < graph.agents(); ++u) observers.push_back({u});
    return observers;
}

bool takes_as_many(const ViewRecord& record, std::size_t agents) {
    switch (record.takes) {
        case Takes::nothing:
            return agents == 0;
        case Takes::one_agent:
            return agents == 1;
        case Takes::agents:
            return agents > 0;
        case Takes::size:
            break;
    }
    return false;
}

}  // namespace

Registry<ViewRecord>& view_records() {
    static Registry<ViewRecord> records(
        "view",
        {{.name = std::string(eavesdropper_view),
          .help = "every message of every agent",
          .takes = Takes::nothing,
          .asks = Asks::one_observer,
          .receives = Kind::all_messages,
          .members = the_agents_named},
         {.name = "node",
          .help = "what its neighbours send to it",
          .takes = Takes::one_agent,
          .asks = Asks::one_observer,
          .receives = Kind::neighbours,
          .members = the_agents_named},
         {.name = "coalition",
          .help = "what their neighbours send to them",
          .takes = Takes::agents,
          .asks = Asks::one_observer,
          .receives = Kind::neighbours,
          .members = the_agents_named},
         {.name = "secure-sum",
          .help = "weighted sums of what their neighbours send (secure sums)",
          .takes = Takes::agents,
          .asks = Asks::one_observer,
          .receives = Kind::secure_sum,
          .members = the_agents_named},
         {.name = "all-messages",
          .help = "every message of every agent, and what they know themselves",
          .takes = Takes::agents,
          .asks = Asks::one_observer,
          .receives = Kind::all_messages,
          .members = the_agents_named},
         {.name = "all-nodes",
          .help = "what its neighbours send to it, every node by itself",
          .takes = Takes::nothing,
          .asks = Asks::several_observers,
          .receives = Kind::neighbours,
          .members = every_agent},
         {.name = "all-secure-sums",
          .help = "weighted sums of what its neighbours send, every node by itself",
          .takes = Takes::nothing,
          .asks = Asks::several_observers,
          .receives = Kind::secure_sum,
          .members = every_agent},
         {.name = "worst-coalition",
          .help = "what their neighbours send to those who learn most",
          .takes = Takes::size,
          .asks = Asks::worst_coalition,
          .receives = Kind::neighbours,
          .members = nullptr},
         {.name = "worst-all-messages",
          .help = "every message of every agent, and what those who learn most know themselves",
          .takes = Takes::size,
          .asks = Asks::worst_coalition,
          .receives = Kind::all_messages,
          .members = nullptr}});
    return records;
}

bool ViewRecord::allows(ViewUse use) const {
    switch (use) {
        case ViewUse::account:
            return true;
        case ViewUse::ledger:
            return asks != Asks::worst_coalition;
        case ViewUse::audit:
            return asks != Asks::several_observers;
    }
    return false;
}

std::string ViewRecord::placeholder() const {
    if (takes == Takes::nothing) return name;
    return fmt::format("{}:{}", name, parameter_of(takes).placeholder);
}

std::vector<View> ViewRecord::observers(const ViewArguments& arguments, const Graph& graph) const {
    std::vector<View> views;
    if (members == nullptr) return views;
    for (std::vector<int>& mine : members(arguments, graph))
        views.push_back({receives, std::move(mine)});
    return views;
}

std::vector<std::string> view_placeholder_list(ViewUse use) {
    std::vector<std::string> allowed;
    for (const ViewRecord& record : view_records().records())
        if (record.allows(use)) allowed.push_back(record.placeholder());
    return allowed;
}

std::string view_placeholders(ViewUse use) { return join(view_placeholder_list(use), ", "); }

const ViewRecord* record_of(const View& view, const Graph& graph) {
    for (const ViewRecord& record : view_records().records())
        if (record.asks == Asks::one_observer && takes_as_many(record, view.members.size()) &&
            record.observers({view.members, 0}, graph) == std::vector<View>{view})
            return &record;
    return nullptr;
}

bool Phase::has_departed(int agent) const {
    return std::binary_search(departed.begin(), departed.end(), agent);
}

long MessageProcess::rounds() const {
    long sum = 0;
    for (const Phase& phase : phases) sum += phase.rounds;
    return sum;
}

std::vector<long> MessageProcess::training_rounds() const { return process_rounds(*this).training; }

const NoisePlan& MessageProcess::plan_of(const Phase& phase) const {
    return phase.plan != nullptr ? *phase.plan : *plan;
}

const GossipPolynomial& MessageProcess::gossip_of(const Phase& phase) const {
    return phase.gossip ? *phase.gossip : gossip;
}

}  // namespace sotto
