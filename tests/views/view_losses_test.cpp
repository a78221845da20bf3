#include "sotto/views/view_losses.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"
#include "views/phase_fixtures.hpp"

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

}  // namespace
}  // namespace sotto
