#include "sotto/views/view_record.hpp"

#include <gtest/gtest.h>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "views/phase_fixtures.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

/// A view that no part of the program knows: an agent and its neighbours collude.
const Registered<ViewRecord> neighbourhood(
    view_records(),
    {.name = "neighbourhood",
     .help = "what their neighbours send to an agent and those next to it",
     .takes = ViewRecord::Takes::one_agent,
     .asks = ViewRecord::Asks::one_observer,
     .receives = View::Kind::neighbours,
     .members = [](const ViewArguments& arguments, const Graph& graph) {
         const auto members = graph.closed_neighbourhood(arguments.agents.front());
         return std::vector<std::vector<int>>{{members.begin(), members.end()}};
     }});

TEST(ViewRecord, CanBeAddedAndAccountedForByItsNameAlone) {
    const Graph graph = make_graph(Topology::path, 7);
    const ViewQuery query = parse_view("--view", "neighbourhood:1", graph);
    EXPECT_EQ(name_of(query), "neighbourhood:1");
    ASSERT_NE(query.one_observer(), nullptr);
    EXPECT_EQ(query.one_observer()->members, (std::vector<int>{0, 1, 2}));
    EXPECT_TRUE(contains(
        message_of<ConfigError>([&] { (void)parse_view("--view", "neighbourhod:1", graph); }),
        "did you mean 'neighbourhood'?"));
    EXPECT_TRUE(contains(view_placeholders(ViewUse::audit), ", neighbourhood:a"));

    const NoisePlan plan = unit_plan(7);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 5)});
    const std::vector<int> targets{4};
    const auto against = [&](const char* text) {
        const View view = *parse_view("--view", text, graph).one_observer();
        return view_sensitivity(process, view, targets, {}, {}).front().certified();
    };
    EXPECT_DOUBLE_EQ(against("neighbourhood:1"), against("coalition:0,1,2"));
    EXPECT_GT(against("neighbourhood:1"), against("node:1"));
}

/// Placeholders of sotto's own views.
std::string own_placeholders(ViewUse use) {
    const std::string all = view_placeholders(use);
    return all.substr(0, all.find(", neighbourhood:a"));
}

TEST(ViewPlaceholders, AreThoseOfTheViewsThatMayBeNamedThere) {
    EXPECT_EQ(own_placeholders(ViewUse::account),
              "eavesdropper, node:a, coalition:a,b, secure-sum:a,b, all-messages:a,b, all-nodes, "
              "all-secure-sums, worst-coalition:q, worst-all-messages:q");
    EXPECT_EQ(own_placeholders(ViewUse::ledger),
              "eavesdropper, node:a, coalition:a,b, secure-sum:a,b, all-messages:a,b, all-nodes, "
              "all-secure-sums");
    EXPECT_EQ(own_placeholders(ViewUse::audit),
              "eavesdropper, node:a, coalition:a,b, secure-sum:a,b, all-messages:a,b, "
              "worst-coalition:q, worst-all-messages:q");
}

TEST(RecordOf, IsWhatAUserWouldNameTheObserver) {
    const Graph graph = make_graph(Topology::path, 5);
    const auto name = [&](const View& view) { return record_of(view, graph)->name; };
    EXPECT_EQ(name({View::Kind::all_messages, {}}), eavesdropper_view);
    EXPECT_EQ(name({View::Kind::all_messages, {2}}), "all-messages");
    EXPECT_EQ(name({View::Kind::neighbours, {2}}), "node");
    EXPECT_EQ(name({View::Kind::neighbours, {2, 3}}), "coalition");
    EXPECT_EQ(name({View::Kind::secure_sum, {2}}), "secure-sum");
    EXPECT_EQ(record_of({View::Kind::neighbours, {}}, graph), nullptr);
    // Named by it, the observer is found again.
    for (const View& view :
         {View{View::Kind::secure_sum, {0, 4}}, View{View::Kind::neighbours, {3}}})
        EXPECT_EQ(record_of(view, graph)->observers({view.members, 0}, graph),
                  std::vector<View>{view});
}

TEST(ViewRecords, HaveHelpAndObserversUnlessTheyAreSearchedFor) {
    for (const ViewRecord& record : view_records().records()) {
        EXPECT_FALSE(record.help.empty()) << record.name;
        EXPECT_EQ(record.members == nullptr, record.asks == ViewRecord::Asks::worst_coalition)
            << record.name;
        EXPECT_EQ(record.takes == ViewRecord::Takes::size,
                  record.asks == ViewRecord::Asks::worst_coalition)
            << record.name;
    }
}

using namespace test;

TEST(RepeatedRounds, HaveTheNumbersTheyHadInTheTraining) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6);
    const auto numbers = [&](const std::vector<PhaseShape>& shapes) {
        return process_of(graph, plan, phases_of(graph, shapes)).training_rounds();
    };
    EXPECT_EQ(numbers({{3}, {2}}), (std::vector<long>{0, 1, 2, 3, 4}));
    EXPECT_EQ(numbers({{4}, {1, 2}, {3, 1}}), (std::vector<long>{0, 1, 2, 3, 2, 2, 3, 4}));
    EXPECT_EQ(numbers({{2}, {2}, {2, 3}, {1, 3}}), (std::vector<long>{0, 1, 2, 3, 1, 2, 0}));
}

TEST(MessageProcess, KnowsThePlanOfEveryPhaseAndWhoHasDeparted) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6), own = decor_plan(graph);
    const auto process = process_of(graph, plan, phases_of(graph, {{3}, {2, 0, {1, 4}, &own}}));
    EXPECT_EQ(process.rounds(), 5);
    EXPECT_EQ(&process.plan_of(process.phases[0]), &plan);
    EXPECT_EQ(&process.plan_of(process.phases[1]), &own);
    for (int u = 0; u < 6; ++u) {
        EXPECT_FALSE(process.phases[0].has_departed(u));
        EXPECT_EQ(process.phases[1].has_departed(u), u == 1 || u == 4);
    }
}

TEST(MessageProcess, KnowsTheGossipOfEveryPhase) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = unit_plan(6);
    auto process = process_of(graph, plan, phases_of(graph, {{3}, {2}}), chebyshev(graph, 3));
    process.phases[1].gossip = 3;
    EXPECT_EQ(&process.gossip_of(process.phases[0]), &process.gossip);
    EXPECT_FALSE(process.gossip_of(process.phases[0]).plain());
    EXPECT_TRUE(process.gossip_of(process.phases[1]).plain());
}

}  // namespace
}  // namespace sotto
