#include "audit/recorded_shares.hpp"

#include <gtest/gtest.h>

#include "audit/recording_run.hpp"
#include "core/temporary_folder.hpp"

namespace sotto {
namespace {

using test::RecordingRun;

constexpr Eigen::Index dimension = 300;

/// Shares of the three agents of a triangle in three exchanges; word(agent, exchange, coordinate).
MaskCheck check_of(const std::function<std::uint64_t(int, int, Eigen::Index)>& word) {
    const test::TemporaryFolder folder;
    const std::filesystem::path views = folder.path("views");
    const std::vector<int> all{0, 1, 2};
    const Graph triangle = Graph::from_edges(3, std::vector<Edge>{{0, 1}, {0, 2}, {1, 2}});
    const Topography topography = test::topography_of(Topology::complete, 3, 1);
    const NoisePlan plan = test::plan_of(
        {"Shares", "ldp", {Utility::Kind::one_step, 1}}, topography, test::uneven_limits(3));
    WireRecorder wire(views / "wire", all, triangle, plan, {dimension, WireContent::shares, 1, 0});
    const Eigen::VectorXd nothing;
    for (int exchange = 0; exchange < 3; ++exchange)
        for (int agent = 0; agent < 3; ++agent) {
            const auto local = static_cast<std::size_t>(agent);
            wire.on_message(exchange,
                            local,
                            {.receiver = NoiseRow::all_receivers,
                             .gossip_step = 0,
                             .step_size = 1,
                             .before = nothing,
                             .gradient = nothing,
                             .noise = nothing,
                             .message = nothing,
                             .mixing_row = {},
                             .sent = false});
            std::vector<std::uint64_t> words;
            for (Eigen::Index i = 0; i < dimension; ++i) words.push_back(word(agent, exchange, i));
            for (std::size_t neighbour : {0, 1})
                wire.on_share(exchange, 0, local, neighbour, 0, words);
            wire.on_mixed(exchange, local);
        }
    wire.finish();
    return check_masks(views, View{View::Kind::secure_sum, {1}}, triangle);
}

std::uint64_t random_word(int agent, int exchange, Eigen::Index coordinate) {
    SeededRandom random(static_cast<std::uint64_t>(1000 * coordinate + 10 * agent + exchange),
                        "share");
    return random.below(std::uint64_t{1} << 63) * 2 + random.below(2);
}

TEST(RecordedShares, WithMasksOfTheirOwnAreFine) {
    const MaskCheck check = check_of(random_word);
    // Two neighbours, three exchanges in pairs.
    EXPECT_EQ(check.pairs, 2 * 3);
    EXPECT_TRUE(check.findings.empty());
}

TEST(RecordedShares, WhoseMasksRepeatAreFoundAndNamed) {
    // Agent 2 masks small numbers alike in exchanges 0 and 2.
    const MaskCheck check = check_of([](int agent, int exchange, Eigen::Index i) {
        return agent == 2 && exchange == 2 ? random_word(2, 0, i) + 1000
                                           : random_word(agent, exchange, i);
    });
    ASSERT_EQ(check.findings.size(), 1U);
    EXPECT_NE(check.findings.front().find(
                  "the masks of agent 2 for agent 1 are the same in exchanges 0 and 2"),
              std::string::npos)
        << check.findings.front();
}

TEST(RecordedShares, AreNotCountedWhereMessagesWereRecorded) {
    const RecordingRun run({"Messages", "decor"});
    const MaskCheck check =
        check_masks(run.views(), View{View::Kind::secure_sum, {1}}, run.graph());
    EXPECT_EQ(check.pairs, 0);
    const RecordingRun sums({"Sums", "decor", 1, true});
    const MaskCheck real =
        check_masks(sums.views(), View{View::Kind::secure_sum, {1}}, sums.graph());
    const long degree = sums.graph().degree(1);
    EXPECT_EQ(real.pairs, degree >= 2 ? degree * 3 : 0);
    EXPECT_TRUE(real.findings.empty());
}

}  // namespace
}  // namespace sotto
