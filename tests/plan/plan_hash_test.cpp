#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "plan/plan_fixtures.hpp"

namespace sotto {
namespace {

using test::Change;
using test::dense_plan;
using test::noiseless_plan;
using test::sample_plan;
using test::unusual_plan;

TEST(NoisePlanHash, IsTheSameForTheSamePlan) {
    for (const auto& make : {sample_plan, unusual_plan, dense_plan, noiseless_plan})
        EXPECT_EQ(make().hash(), make().hash());
}

TEST(NoisePlanHash, ChangesWithEveryField) {
    const std::vector<Change> changes{
        {"mechanism", [](NoisePlan& p) { p.mechanism += "x"; }},
        {"agents", [](NoisePlan& p) { p.agents = 4; }},
        {"scale", [](NoisePlan& p) { p.scale = std::nextafter(p.scale, 1); }},
        {"grid step", [](NoisePlan& p) { --p.grid_step_log2; }},
        {"temporal kind", [](NoisePlan& p) { p.temporal.kind = TemporalFactor::Kind::dense; }},
        {"temporal kind of the same shape",
         [](NoisePlan& p) { p.temporal.kind = TemporalFactor::Kind::one_lag; }},
        {"temporal value", [](NoisePlan& p) { p.temporal.lower(2, 1) += 1e-16 + 1e-15; }},
        {"temporal shape",
         [](NoisePlan& p) { p.temporal.lower = p.temporal.lower.reshaped(2, 4).eval(); }},
        {"entry", [](NoisePlan& p) { p.entry = NoiseEntry::gradient; }},
        {"aggregation", [](NoisePlan& p) { p.aggregation = Aggregation::gossip; }},
        {"group member",
         [](NoisePlan& p) {
             p.groups[3].members = {0, 2};
         }},
        {"group size",
         [](NoisePlan& p) {
             p.groups[3].members = {0, 1, 2};
         }},
        {"group order", [](NoisePlan& p) { std::swap(p.groups[3], p.groups[4]); }},
        {"number of groups", [](NoisePlan& p) { p.groups.push_back({{2}}); }},
        {"stream group", [](NoisePlan& p) { p.streams[5].group = 3; }},
        {"stream index", [](NoisePlan& p) { p.streams[3].index = 8; }},
        {"large stream index", [](NoisePlan& p) { p.streams[3].index |= std::uint64_t{1} << 63; }},
        {"distribution",
         [](NoisePlan& p) { p.streams[2].distribution = StreamDistribution::gaussian; }},
        {"number of streams", [](NoisePlan& p) { p.streams.pop_back(); }},
        {"row sender", [](NoisePlan& p) { p.rows[3].sender = 1; }},
        {"row receiver", [](NoisePlan& p) { p.rows[3].receiver = 0; }},
        {"row receivers", [](NoisePlan& p) { p.rows[3].receiver = NoiseRow::all_receivers; }},
        {"row stream", [](NoisePlan& p) { p.rows[1].streams[1] = 5; }},
        {"row coefficient",
         [](NoisePlan& p) {
             p.rows[1].coefficients[1] = std::nextafter(p.rows[1].coefficients[1], 1);
         }},
        {"sign of a coefficient", [](NoisePlan& p) { p.rows[2].coefficients[0] *= -1; }},
        {"number of rows", [](NoisePlan& p) { p.rows.pop_back(); }},
    };
    std::map<Digest, std::string> seen{{unusual_plan().hash(), "unchanged"}};
    for (const auto& change : changes) {
        NoisePlan plan = unusual_plan();
        change.apply(plan);
        const auto [before, is_new] = seen.emplace(plan.hash(), change.name);
        EXPECT_TRUE(is_new) << change.name << " hashes like " << before->second;
    }
}

TEST(NoisePlanHash, SeparatesMembersOfNeighbouringGroups) {
    NoisePlan a = sample_plan(), b = sample_plan();
    a.groups = {{{0, 1}}, {{2}}};
    b.groups = {{{0}}, {{1, 2}}};
    EXPECT_NE(a.hash(), b.hash());
}

}  // namespace
}  // namespace sotto
