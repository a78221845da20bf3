#include "sotto/plan/noise_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/numbers.hpp"
#include "core/seeded_random.hpp"
#include "core/test_support.hpp"
#include "plan/plan_fixtures.hpp"
#include "sotto/core/error.hpp"

namespace sotto {
namespace {

using test::Change;
using test::contains;
using test::dense_plan;
using test::message_of;
using test::noiseless_plan;
using test::sample_plan;
using test::unusual_plan;

void expect_each_refused(NoisePlan (*make)(), const std::vector<Change>& changes) {
    for (const auto& change : changes) {
        NoisePlan plan = make();
        ASSERT_NO_THROW(plan.validate());
        change.apply(plan);
        SCOPED_TRACE(change.name);
        EXPECT_TRUE(contains(message_of<PrivacyError>([&] { plan.validate(); }), "noise plan: "));
    }
}

TEST(NoisePlanValidate, AcceptsEveryKindOfPlan) {
    for (const auto& make : {sample_plan, unusual_plan, dense_plan, noiseless_plan})
        EXPECT_NO_THROW(make().validate());
}

TEST(NoisePlanValidate, RefusesNumbersOutOfRange) {
    expect_each_refused(
        sample_plan,
        {{"no agents", [](NoisePlan& p) { p.agents = 0; }},
         {"negative agents", [](NoisePlan& p) { p.agents = -3; }},
         {"scale 0", [](NoisePlan& p) { p.scale = 0; }},
         {"scale negative", [](NoisePlan& p) { p.scale = -1; }},
         {"scale NaN", [](NoisePlan& p) { p.scale = not_a_number; }},
         {"scale infinite", [](NoisePlan& p) { p.scale = infinity; }},
         {"grid far too fine", [](NoisePlan& p) { p.grid_step_log2 = -1001; }},
         {"grid finer than doubles", [](NoisePlan& p) { p.grid_step_log2 = -60; }},
         {"grid far too coarse", [](NoisePlan& p) { p.grid_step_log2 = 1001; }},
         {"grid INT_MIN", [](NoisePlan& p) { p.grid_step_log2 = std::numeric_limits<int>::min(); }},
         {"coefficient NaN", [](NoisePlan& p) { p.rows[1].coefficients[0] = not_a_number; }},
         {"coefficient infinite", [](NoisePlan& p) { p.rows[1].coefficients[0] = -infinity; }}});
}

TEST(NoisePlanValidate, RefusesAScaleOrRowsWithoutStreams) {
    expect_each_refused(noiseless_plan,
                        {{"scale", [](NoisePlan& p) { p.scale = 1; }},
                         {"scale NaN", [](NoisePlan& p) { p.scale = not_a_number; }},
                         {"rows", [](NoisePlan& p) {
                              p.rows.push_back({0, NoiseRow::all_receivers, {}, {}});
                          }}});
}

TEST(NoisePlanValidate, RefusesSeedGroupsThatAreEmptyUnsortedOrUnknown) {
    expect_each_refused(sample_plan,
                        {{"empty", [](NoisePlan& p) { p.groups[3].members.clear(); }},
                         {"unsorted",
                          [](NoisePlan& p) {
                              p.groups[3].members = {1, 0};
                          }},
                         {"repeated",
                          [](NoisePlan& p) {
                              p.groups[3].members = {0, 0, 1};
                          }},
                         {"negative",
                          [](NoisePlan& p) {
                              p.groups[3].members = {-1, 0, 1};
                          }},
                         {"too large", [](NoisePlan& p) {
                              p.groups[3].members = {0, 1, 3};
                          }}});
}

TEST(NoisePlanValidate, RefusesStreamsOfUnknownGroupsAndTheSameStreamTwice) {
    expect_each_refused(sample_plan,
                        {{"group negative", [](NoisePlan& p) { p.streams[2].group = -1; }},
                         {"group too large", [](NoisePlan& p) { p.streams[2].group = 5; }},
                         {"same group and index", [](NoisePlan& p) { p.streams[5].index = 0; }}});
}

TEST(NoisePlanValidate, RefusesRowsThatNameWhatDoesNotExist) {
    expect_each_refused(
        sample_plan,
        {{"sender negative", [](NoisePlan& p) { p.rows[0].sender = -1; }},
         {"sender too large", [](NoisePlan& p) { p.rows[2].sender = 3; }},
         {"receiver below all", [](NoisePlan& p) { p.rows[0].receiver = -2; }},
         {"receiver too large", [](NoisePlan& p) { p.rows[0].receiver = 3; }},
         {"stream negative", [](NoisePlan& p) { p.rows[0].streams[0] = -1; }},
         {"stream too large", [](NoisePlan& p) { p.rows[0].streams[3] = 6; }},
         {"streams unsorted",
          [](NoisePlan& p) { std::swap(p.rows[0].streams[1], p.rows[0].streams[2]); }},
         {"stream twice", [](NoisePlan& p) { p.rows[0].streams[2] = 3; }},
         {"coefficient missing", [](NoisePlan& p) { p.rows[0].coefficients.pop_back(); }},
         {"coefficient too many", [](NoisePlan& p) { p.rows[0].coefficients.push_back(1); }}});
}

TEST(NoisePlanValidate, RefusesASenderThatDoesNotHoldTheSeedOfItsStream) {
    NoisePlan plan = sample_plan();
    plan.rows[2].streams = {2, 3};
    const std::string message = message_of<PrivacyError>([&] { plan.validate(); });
    EXPECT_TRUE(contains(message, "agent 2"));
    EXPECT_TRUE(contains(message, "stream 3"));
    EXPECT_TRUE(contains(message, "does not hold its seed"));
}

TEST(NoisePlanValidate, RefusesRowsOutOfOrder) {
    expect_each_refused(
        unusual_plan,
        {{"senders swapped", [](NoisePlan& p) { std::swap(p.rows[1], p.rows[2]); }},
         {"receivers swapped", [](NoisePlan& p) { std::swap(p.rows[0], p.rows[1]); }},
         {"row twice", [](NoisePlan& p) { p.rows.insert(p.rows.begin(), p.rows.front()); }},
         {"all receivers and one of them",
          [](NoisePlan& p) { p.rows[0].receiver = NoiseRow::all_receivers; }}});
}

TEST(NoisePlanValidate, RefusesTemporalFactorsThatCannotBeInverted) {
    const auto lower = [](NoisePlan& p) -> Eigen::MatrixXd& { return p.temporal.lower; };
    expect_each_refused(
        dense_plan,
        {{"empty", [&](NoisePlan& p) { lower(p).resize(0, 0); }},
         {"not square", [&](NoisePlan& p) { lower(p) = Eigen::MatrixXd::Ones(3, 2); }},
         {"above the diagonal", [&](NoisePlan& p) { lower(p)(0, 2) = 1e-300; }},
         {"zero on the diagonal", [&](NoisePlan& p) { lower(p)(1, 1) = 0; }},
         {"negative on the diagonal", [&](NoisePlan& p) { lower(p)(1, 1) = -1; }},
         {"NaN", [&](NoisePlan& p) { lower(p)(2, 0) = not_a_number; }},
         {"NaN on the diagonal", [&](NoisePlan& p) { lower(p)(2, 2) = not_a_number; }},
         {"infinite", [&](NoisePlan& p) { lower(p)(2, 0) = infinity; }},
         {"identity with numbers",
          [](NoisePlan& p) { p.temporal.kind = TemporalFactor::Kind::identity; }}});
    expect_each_refused(
        unusual_plan,
        {{"one lag, three columns",
          [&](NoisePlan& p) {
              p.temporal.kind = TemporalFactor::Kind::one_lag;
              lower(p) = Eigen::MatrixXd::Ones(4, 3);
          }},
         {"banded, zero on the diagonal", [&](NoisePlan& p) { lower(p)(2, 0) = 0; }},
         {"banded, negative on the diagonal", [&](NoisePlan& p) { lower(p)(2, 0) = -1; }},
         {"banded, NaN", [&](NoisePlan& p) { lower(p)(2, 1) = not_a_number; }},
         {"banded, empty", [&](NoisePlan& p) { lower(p).resize(0, 0); }},
         {"banded, no column", [&](NoisePlan& p) { lower(p).resize(4, 0); }}});
}

TEST(NoisePlan, CountsTheStreamsThatItsBusiestAgentDraws) {
    EXPECT_EQ(sample_plan().streams_per_agent(), 4);
    // Agent 0 draws streams 0, 3 and 4 for its two receivers, stream 0 once for both.
    EXPECT_EQ(unusual_plan().streams_per_agent(), 3);
    EXPECT_EQ(noiseless_plan().streams_per_agent(), 0);
}

TEST(NoisePlan, KnowsWhetherReceiversGetTheSameMessage) {
    EXPECT_TRUE(sample_plan().same_message_to_all());
    EXPECT_TRUE(noiseless_plan().same_message_to_all());
    EXPECT_FALSE(unusual_plan().same_message_to_all());
}

TEST(NoisePlan, GivesItsCoefficientsAsAMatrixWithoutTheScale) {
    Eigen::MatrixXd expected(3, 6);
    expected << 1.0, 0, 0, 2.0 / 3, 1e-17, -0.5,  //
        0, 0.7, 0, -2.0 / 3, 0, 0,                //
        0, 0, 1.1, 0, 0, 0.25;
    EXPECT_EQ(sample_plan().coefficient_matrix(), expected);
    EXPECT_EQ(noiseless_plan().coefficient_matrix().cols(), 0);
    // Only the rows for all receivers count.
    EXPECT_TRUE(unusual_plan().coefficient_matrix().row(0).isZero(0));
    EXPECT_EQ(unusual_plan().coefficient_matrix()(1, 1), 0.7);
}

TEST(NoisePlan, HasAGridOfPowersOfTwo) {
    EXPECT_EQ(sample_plan().grid_step(), 0x1p-30);
    EXPECT_FALSE(sample_plan().noiseless());
    EXPECT_TRUE(noiseless_plan().noiseless());
}

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

/// As large as can be: groups of two as often as there is room, of which everybody adds all.
NoisePlan large_plan(int agents, int rounds) {
    NoisePlan plan;
    plan.mechanism = "pairs";
    plan.agents = agents;
    plan.scale = -0x1.fffffffffffffp-1000;
    plan.temporal.kind = TemporalFactor::Kind::dense;
    plan.temporal.lower = Eigen::MatrixXd::Constant(rounds, rounds, -0x1.fffffffffffffp-1000);
    const auto groups = static_cast<int>(most_group_members(agents) / 2);
    for (int g = 0; g < groups; ++g) {
        plan.groups.push_back({{0, agents - 1}});
        plan.streams.push_back({g, UINT64_MAX, StreamDistribution::gaussian});
    }
    for (const int sender : {0, agents - 1}) {
        NoiseRow row{sender, NoiseRow::all_receivers, {}, {}};
        for (int g = 0; g < groups; ++g) {
            row.streams.push_back(g);
            row.coefficients.push_back(-0x1.fffffffffffffp-1000);
        }
        plan.rows.push_back(row);
    }
    return plan;
}

TEST(LargestPlanBytes, AreEnoughForTheLargestPlanAndNotMuchMore) {
    for (const int agents : {2, 3, 20})
        for (const int rounds : {1, 50}) {
            const std::size_t bytes = to_json(large_plan(agents, rounds)).size();
            const auto most = largest_plan_bytes(agents, 0, static_cast<double>(rounds) * rounds);
            EXPECT_LE(bytes, most) << agents;
            EXPECT_GE(4 * bytes, most) << agents;
        }
}

TEST(LargestPlanBytes, SaturateWhereNoMemoryWouldDo) {
    EXPECT_EQ(largest_plan_bytes(2, 1e300, 1e300), std::uint64_t{1} << 62);
}

TEST(MostGroupMembers, HaveRoomForAllPairsAndAllNeighbourhoods) {
    for (const int n : {1, 2, 62, 1000}) {
        EXPECT_GE(most_group_members(n), std::int64_t{n} * (n - 1));
        EXPECT_GE(most_group_members(n), std::int64_t{n} * n);
    }
}

/// Agent 0's noise is `louder` times agent 1's; its own copy's, if any, `kept` times.
NoisePlan uneven_plan(double louder, double kept = 0) {
    NoisePlan plan;
    plan.mechanism = "uneven";
    plan.agents = 2;
    plan.scale = 0.5;
    plan.groups = {{{0}}, {{1}}};
    plan.streams = {{0, 0, StreamDistribution::gaussian}, {1, 0, StreamDistribution::gaussian}};
    if (kept > 0) plan.rows.push_back({0, 0, {0}, {kept}});
    plan.rows.push_back({0, kept > 0 ? 1 : NoiseRow::all_receivers, {0}, {louder}});
    plan.rows.push_back({1, NoiseRow::all_receivers, {1}, {1}});
    return plan;
}

TEST(NoiseGrid, FollowsTheLoudestNoiseThatIsAdded) {
    EXPECT_EQ(largest_deviation(uneven_plan(4)), 2);
    EXPECT_EQ(largest_deviation(uneven_plan(4, 16)), 8);
    EXPECT_EQ(finest_grid_step(uneven_plan(4)), 0x1p-45);
    NoisePlan laplace = uneven_plan(4);
    for (auto& stream : laplace.streams) stream.distribution = StreamDistribution::laplace;
    EXPECT_DOUBLE_EQ(largest_deviation(laplace), 2 * std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(finest_grid_step(laplace), 2 * std::sqrt(2.0) * 0x1p-43);
    EXPECT_EQ(largest_deviation(NoisePlan{}), 0);
}

TEST(NoiseGrid, NoPlanHasAFinerOneWhereverItsNoiseEnters) {
    for (const NoiseEntry entry : {NoiseEntry::gradient, NoiseEntry::message})
        for (const double kept : {0.0, 4096.0}) {
            NoisePlan plan = uneven_plan(4096, kept);
            plan.entry = entry;
            plan.grid_step_log2 = -35;
            EXPECT_NO_THROW(plan.validate());
            plan.grid_step_log2 = -36;
            EXPECT_THROW(plan.validate(), PrivacyError);
        }
}

TEST(NoisePlanJson, GivesBackEveryPlanExactly) {
    for (const auto& make : {sample_plan, unusual_plan, dense_plan, noiseless_plan}) {
        const NoisePlan plan = make();
        const NoisePlan back = plan_from_json(to_json(plan), "test");
        EXPECT_EQ(back.hash(), plan.hash());
        EXPECT_EQ(to_json(back), to_json(plan));
    }
}

TEST(NoisePlanJson, GivesBackNumbersBitForBit) {
    constexpr std::uint64_t seed = 11;
    SeededRandom random(seed, "plan coefficients");
    for (int repetition = 0; repetition < 200; ++repetition) {
        NoisePlan plan = sample_plan();
        plan.entry = NoiseEntry::message;  // whose quietest noise bounds no grid here
        plan.grid_step_log2 = 200;
        plan.scale = std::exp(10 * random.normal());
        for (auto& row : plan.rows)
            for (double& value : row.coefficients)
                value = random.normal() * std::exp(random.normal());
        plan.rows[0].coefficients[0] = std::numeric_limits<double>::denorm_min();
        plan.rows[0].coefficients[1] = std::ldexp(random.normal(), 160);
        plan.rows[0].coefficients[2] = -0.0;
        ASSERT_EQ(plan_from_json(to_json(plan), "test").hash(), plan.hash()) << "seed " << seed;
    }
}

TEST(NoisePlanJson, KeepsStreamIndicesOf64Bits) {
    NoisePlan plan = sample_plan();
    plan.streams[3].index = ~std::uint64_t{0};
    EXPECT_EQ(plan_from_json(to_json(plan), "test").streams[3].index, ~std::uint64_t{0});
}

TEST(NoisePlanJson, SaysWhatItIs) {
    const auto json = nlohmann::json::parse(to_json(sample_plan()));
    EXPECT_EQ(json["format"], "sotto-plan");
    EXPECT_EQ(json["version"], 1);
    EXPECT_EQ(json["mechanism"], "hand-made");
}

TEST(NoisePlanJson, RefusesTextThatIsNotAPlan) {
    const std::string whole = to_json(sample_plan());
    std::vector<std::string> texts{"",
                                   "not json",
                                   "{}",
                                   "[]",
                                   "null",
                                   "3",
                                   "\"text\"",
                                   "{\"format\":\"sotto-ledger\",\"version\":1}",
                                   std::string(1000, '['),
                                   std::string("\0\xff\xfe", 3),
                                   whole + "x",
                                   whole.substr(0, whole.size() / 2),
                                   whole.substr(0, whole.size() - 3)};
    for (const auto& text : texts)
        EXPECT_TRUE(contains(
            message_of<DataError>([&] { (void)plan_from_json(text, "plan.json"); }), "plan.json"))
            << text.substr(0, 60);
}

TEST(NoisePlanJson, RefusesAMissingOrMistypedField) {
    const auto good = nlohmann::json::parse(to_json(sample_plan()));
    for (const auto& [key, value] : good.items()) {
        auto json = good;
        json.erase(key);
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << key << " missing";
        json = good;
        json[key] = nullptr;
        if (key != "seed_groups" && key != "streams" && key != "rows") {
            EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << key << " null";
        }
        json[key] = {{"unexpected", "object"}};
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << key << " object";
    }
    for (const char* path : {"/temporal/kind",
                             "/temporal/lower",
                             "/streams/0/group",
                             "/streams/0/index",
                             "/streams/0/distribution",
                             "/rows/0/sender",
                             "/rows/0/receiver",
                             "/rows/0/streams",
                             "/rows/0/coefficients"}) {
        auto json = good;
        json[nlohmann::json::json_pointer(path)] = {{"unexpected", "object"}};
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << path;
    }
}

TEST(NoisePlanJson, RefusesAnotherFormatOrVersion) {
    for (const char* change : {R"([{"op":"replace","path":"/format","value":"sotto-run"}])",
                               R"([{"op":"replace","path":"/version","value":2}])"}) {
        const auto json =
            nlohmann::json::parse(to_json(sample_plan())).patch(nlohmann::json::parse(change));
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), DataError) << change;
    }
}

TEST(NoisePlanJson, RefusesUnknownNamesAndSuggestsTheNearest) {
    auto json = nlohmann::json::parse(to_json(sample_plan()));
    json["entry"] = "gradiant";
    EXPECT_TRUE(contains(message_of<DataError>([&] { (void)plan_from_json(json.dump(), "test"); }),
                         "did you mean 'gradient'?"));
}

TEST(NoisePlanJson, RefusesATemporalFactorWithUnevenRows) {
    auto json = nlohmann::json::parse(to_json(dense_plan()));
    json["temporal"]["lower"][1] = {1.0, 1.0};
    EXPECT_TRUE(contains(message_of<DataError>([&] { (void)plan_from_json(json.dump(), "test"); }),
                         "differ in length"));
}

TEST(NoisePlanJson, RefusesAWellFormedPlanThatIsInvalid) {
    auto json = nlohmann::json::parse(to_json(sample_plan()));
    json["scale"] = -1.0;
    EXPECT_THROW((void)plan_from_json(json.dump(), "test"), PrivacyError);
    // A number too large for a double must not turn into an infinite coefficient.
    std::string text = to_json(sample_plan());
    text.replace(text.find("\"scale\":0.1"), 11, "\"scale\":1e999");
    EXPECT_THROW((void)plan_from_json(text, "test"), Error);
}

TEST(NoisePlanJson, RefusesNestingThatWouldOverflowTheStack) {
    const std::string deep = std::string(300000, '[') + std::string(300000, ']');
    for (const char* field : {"\"agents\":", "\"mechanism\":", "\"more\":"}) {
        std::string text = to_json(sample_plan());
        const std::string wanted = field;
        if (const auto at = text.find(wanted); at != std::string::npos)
            text.replace(at, text.find(',', at) - at, wanted + deep);
        else
            text.insert(1, wanted + deep + ",");
        EXPECT_THROW((void)plan_from_json(text, "test"), DataError) << field;
    }
}

TEST(NoisePlanJson, RefusesNumbersThatDoNotFitTheirField) {
    // Cut to 32 bits, these would name an agent or a stream that exists.
    for (const auto& [path, value] :
         std::vector<std::pair<const char*, nlohmann::json>>{{"/agents", 4294967299},
                                                             {"/agents", 3.5},
                                                             {"/rows/0/sender", 4294967296},
                                                             {"/rows/0/streams/0", 4294967296},
                                                             {"/seed_groups/0/0", 4294967296},
                                                             {"/seed_groups/0/0", 0.5},
                                                             {"/streams/0/group", 4294967296},
                                                             {"/streams/0/index", -1},
                                                             {"/streams/3/index", 7.5}}) {
        auto json = nlohmann::json::parse(to_json(sample_plan()));
        json[nlohmann::json::json_pointer(path)] = value;
        EXPECT_THROW((void)plan_from_json(json.dump(), "test"), Error) << path << " " << value;
    }
}

}  // namespace
}  // namespace sotto
