#include "sotto/views/view_losses.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "views/phase_fixtures.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

using namespace test;

NoisePlan laplace_plan(int agents) {
    NoisePlan plan = unit_plan(agents);
    for (NoiseStream& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    return plan;
}

TEST(ViewLosses, OfGaussianNoiseAreThoseOfTheView) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    const auto process = process_of(graph, plan, phases_of(graph, {{6}}));
    PlanUse use;
    use.participation.cycle = 2;
    const View view{View::Kind::neighbours, {0}};
    const std::vector<int> targets{1, 2, 3};
    const auto losses = view_losses(process, use, view, targets, {});
    const auto expected = view_sensitivity(process, view, targets, use.participation, {});
    for (std::size_t i = 0; i < targets.size(); ++i)
        EXPECT_EQ(losses[i].certified(), expected[i].certified());
}

TEST(ViewLosses, OfLaplaceNoiseAreThoseOfAllMessagesAndAddUpOverPhases) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = laplace_plan(6);
    const auto loss = [&](const std::vector<PhaseShape>& shapes, const View& view) {
        const auto process = process_of(graph, plan, phases_of(graph, shapes));
        const auto squared = view_losses(process, {}, view, std::vector<int>{3}, {}).front();
        EXPECT_EQ(squared.tight_upper, infinity) << "nothing but all messages is known";
        return std::sqrt(squared.certified());
    };
    const View node{View::Kind::neighbours, {0}}, everything{View::Kind::all_messages, {0}};
    const double once = std::sqrt(run_sensitivity_squared(plan, {}, 4)(3));
    EXPECT_TRUE(relatively_near(loss({{4}}, everything), once, 1e-12));
    EXPECT_EQ(loss({{4}}, node), loss({{4}}, everything));
    EXPECT_TRUE(relatively_near(loss({{4}, {4, 4, {}, &plan}}, node), 2 * once, 1e-12));
    EXPECT_EQ(loss({{4}}, {View::Kind::neighbours, {3}}), infinity) << "it knows its own noise";
}

/// The options that cost nothing, each by itself and all together.
std::vector<MessageProcess> free_of_charge(const MessageProcess& process) {
    std::vector<MessageProcess> all(6, process);
    all[0].gossip = chebyshev(*process.graph, process.gossip.steps());
    all[1].momentum = 0.9;
    all[2].final_gossip = 5;
    all[3] = all[0];
    all[3].momentum = 0.5;
    all[3].final_gossip = 1;
    all[4].correction = Correction::exact_diffusion;
    all[5].correction = Correction::tracking;
    return all;
}

TEST(ViewLosses, ShowNothingNewToWhoeverSeesAllMessages) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = with_factor(decor_plan(graph), difference_factor(8));
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{5}, {3, 2}}), 3);
    process.step_sizes = falling_steps(8);
    const std::vector<int> targets{0, 1, 2, 3, 4, 5};
    for (const long cycle : {1, 2})
        for (const std::vector<int>& members : {std::vector<int>{}, {2}, {0, 5}}) {
            PlanUse use;
            use.participation.cycle = cycle;
            const View view{View::Kind::all_messages, members};
            const auto before = view_losses(process, use, view, targets, {});
            for (const MessageProcess& other : free_of_charge(process)) {
                EXPECT_FALSE(counts_all_messages(other, use.participation, view));
                const auto after = view_losses(other, use, view, targets, {});
                for (std::size_t i = 0; i < targets.size(); ++i) {
                    EXPECT_EQ(after[i].infinite, before[i].infinite);
                    EXPECT_EQ(after[i].certified(), before[i].certified());
                    EXPECT_EQ(after[i].tight_lower, before[i].tight_lower);
                    EXPECT_EQ(after[i].constant_sign, before[i].constant_sign);
                }
            }
        }
}

TEST(ViewLosses, OfPartialViewsAreThoseOfAllMessagesWithMomentumAndFinalGossip) {
    const Graph graph = make_graph(Topology::path, 7);
    const NoisePlan plan = decor_plan(graph);
    const MessageProcess process = process_of(graph, plan, phases_of(graph, {{6}}), 2);
    const std::vector<int> targets{3, 4, 5};
    const PlanUse use;
    for (const View& view :
         {View{View::Kind::neighbours, {0}}, View{View::Kind::secure_sum, {0, 1}}}) {
        const auto own = view_losses(process, use, view, targets, {});
        const auto bound =
            view_losses(process, use, {View::Kind::all_messages, view.members}, targets, {});
        for (const MessageProcess& other : free_of_charge(process)) {
            const bool exact = other.momentum == 0 && other.final_gossip == 0 &&
                               other.correction == Correction::none;
            EXPECT_EQ(counts_all_messages(other, use.participation, view), !exact);
            const auto losses = view_losses(other, use, view, targets, {});
            for (std::size_t i = 0; i < targets.size(); ++i) {
                EXPECT_LT(own[i].certified(), bound[i].certified());
                if (exact) {
                    EXPECT_LT(losses[i].certified(), bound[i].certified() * (1 - 1e-9));
                    EXPECT_NE(losses[i].certified(), own[i].certified());
                } else {
                    EXPECT_EQ(losses[i].certified(), bound[i].certified());
                }
            }
        }
    }
}

/// The bound is above what the messages of such a run show by their definition.
TEST(ViewLosses, WithMomentumAndFinalGossipAreAboveWhatPartialViewsShow) {
    const Graph graph = make_graph(Topology::path, 6);
    const NoisePlan plan = decor_plan(graph);
    MessageProcess process = process_of(graph, plan, phases_of(graph, {{4}}), chebyshev(graph, 2));
    process.momentum = 0.8;
    process.final_gossip = 3;
    const std::vector<int> targets{2, 3, 4};
    const View view{View::Kind::neighbours, {0}};
    const auto losses = view_losses(process, {}, view, targets, {});
    const auto grams = dense_grams(process, view);
    MessageProcess less = process;
    less.final_gossip = 0;
    const auto without_final = dense_grams(less, view);
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const auto target = static_cast<std::size_t>(targets[i]);
        ASSERT_TRUE(grams[target] && without_final[target]);
        const double shown = grams[target]->cwiseAbs().sum();
        EXPECT_LE(shown, losses[i].certified() * (1 + 1e-9));
        EXPECT_GE(shown, without_final[target]->sum() * (1 - 1e-9));
        EXPECT_GT((*grams[target] - *without_final[target]).norm(), 1e-3 * shown)
            << "final gossip shows more";
    }
}

TEST(ViewLosses, RefuseSumsOfMessagesOfTheirOwn) {
    const Graph graph = ring_with_a_chord();
    NoisePlan plan = zero_sum_plan(graph, metropolis(graph), true);
    for (NoiseStream& stream : plan.streams) stream.distribution = StreamDistribution::laplace;
    const auto process = process_of(graph, plan, phases_of(graph, {{3}}));
    EXPECT_TRUE(contains(
        message_of<PrivacyError>([&] {
            (void)view_losses(process, {}, {View::Kind::secure_sum, {0}}, std::vector<int>{3}, {});
        }),
        "secure-sum is not possible"));
}

TEST(ViewLosses, OfSampledPartsAreThoseOfAllMessagesInTheLongestPattern) {
    const Graph graph = ring_with_a_chord();
    const NoisePlan plan = decor_plan(graph);
    PlanUse use;
    use.participation = {.cycle = 3, .poisson = true};
    const View node{View::Kind::neighbours, {0}};
    const auto loss = [&](const std::vector<PhaseShape>& shapes) {
        const auto process = process_of(graph, plan, phases_of(graph, shapes));
        return view_losses(process, use, node, std::vector<int>{3}, {}).front().certified();
    };
    const double precision = observed_precision(plan, {{0}})(3);
    EXPECT_DOUBLE_EQ(loss({{7}}), 3 * precision);
    // Rounds 0 to 6, then 4 to 6 again and 7: in pattern 1 there are 1, 4, 4, 7.
    EXPECT_DOUBLE_EQ(loss({{7}, {4, 3, {}, &plan}}), 4 * precision);
}

using namespace test;

Graph ring(int agents) { return make_graph(Topology::ring, agents); }

TEST(ParseView, ReadsEveryKindAndNamesItBack) {
    const Graph graph = ring(6);
    for (const char* text : {"eavesdropper",
                             "node:3",
                             "coalition:0,2,5",
                             "secure-sum:1",
                             "all-messages:4,5",
                             "all-nodes",
                             "worst-coalition:2",
                             "worst-all-messages:5"})
        EXPECT_EQ(name_of(parse_view("--view", text, graph)), text);
    EXPECT_EQ(name_of(parse_view("--view", "coalition:5,0,2", graph)), "coalition:0,2,5");
    const auto several = parse_views("--view", "node:1;eavesdropper", graph);
    ASSERT_EQ(several.size(), 2U);
    EXPECT_EQ(name_of(several[1]), "eavesdropper");
}

TEST(ParseView, SaysWhoObserves) {
    const Graph graph = ring(4);
    const auto observers = [&](const char* text) {
        return parse_view("--view", text, graph).observers;
    };
    using Kind = View::Kind;
    EXPECT_EQ(observers("eavesdropper"), (std::vector<View>{{Kind::all_messages, {}}}));
    EXPECT_EQ(observers("node:3"), (std::vector<View>{{Kind::neighbours, {3}}}));
    EXPECT_EQ(observers("coalition:3,1"), (std::vector<View>{{Kind::neighbours, {1, 3}}}));
    EXPECT_EQ(observers("secure-sum:2"), (std::vector<View>{{Kind::secure_sum, {2}}}));
    EXPECT_EQ(observers("all-messages:0,2"), (std::vector<View>{{Kind::all_messages, {0, 2}}}));
    EXPECT_EQ(observers("all-nodes"),
              (std::vector<View>{{Kind::neighbours, {0}},
                                 {Kind::neighbours, {1}},
                                 {Kind::neighbours, {2}},
                                 {Kind::neighbours, {3}}}));
    EXPECT_TRUE(observers("worst-coalition:2").empty());
}

TEST(ViewQuery, IsOfOneObserverOfSeveralOrASearch) {
    const Graph graph = ring(4);
    const auto query = [&](const char* text) { return parse_view("--view", text, graph); };
    const ViewQuery node = query("node:2"), all = query("all-nodes"),
                    worst = query("worst-all-messages:3");
    ASSERT_NE(node.one_observer(), nullptr);
    EXPECT_EQ(*node.one_observer(), (View{View::Kind::neighbours, {2}}));
    EXPECT_EQ(all.one_observer(), nullptr);
    EXPECT_EQ(worst.one_observer(), nullptr);
    EXPECT_FALSE(node.is_search() || all.is_search());
    EXPECT_TRUE(worst.is_search());
    EXPECT_EQ(worst.arguments.size, 3);
}

TEST(ParseView, SaysWhatIsAllowed) {
    const Graph numbers = ring(6);
    const auto message = [](const char* text, const Graph& graph) {
        return message_of<ConfigError>([&] { (void)parse_view("--view", text, graph); });
    };
    EXPECT_TRUE(contains(message("nodee:1", numbers), "did you mean 'node'?"));
    EXPECT_TRUE(contains(message("node:6", numbers), "agent 6 does not exist (allowed: 0 to 5)"));
    EXPECT_TRUE(contains(message("node:1,2", numbers),
                         "'node:1,2' names several agents; use coalition:1,2"));
    EXPECT_TRUE(contains(message("coalition:1,1", numbers), "agent 1 is named twice"));
    EXPECT_TRUE(contains(message("coalition", numbers),
                         "'coalition' needs agents (example: coalition:0,3)"));
    EXPECT_TRUE(contains(message("node:", numbers), "'node:' needs agents (example: node:0)"));
    EXPECT_TRUE(contains(message("worst-coalition", numbers),
                         "needs a number of agents (example: worst-coalition:2)"));
    EXPECT_TRUE(contains(message("all-nodes:1", numbers),
                         "'all-nodes' takes nothing after it, 'all-nodes:1' given"));
    for (const char* size : {"worst-coalition:0", "worst-coalition:6"})
        EXPECT_TRUE(contains(message(size, numbers), "must be 1 to 5"));
    const Graph labels = Graph::from_edges(3, {{0, 1}, {1, 2}}, {"alba", "bruno", "carla"});
    EXPECT_TRUE(contains(message("node:bruno", labels), "label 'bruno' is agent 1"));
}

}  // namespace
}  // namespace sotto
