#include "audit/recorded_messages.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "audit/recording_run.hpp"
#include "config/run_fixtures.hpp"
#include "core/temporary_folder.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::pair_view;
using test::RecordingRun;

TEST(RecordedMessages, AreWhatTheirSendersSent) {
    for (const test::RecordedCase& entry : {test::RecordedCase{"Messages", "decor"},
                                            test::RecordedCase{"GossipSteps", "decor", 3},
                                            test::RecordedCase{"ZipDl", "zip-dl"}}) {
        SCOPED_TRACE(entry.label);
        const RecordingRun run(entry);
        RecordedMessages recorded(run.views(), pair_view, run.process(), 1);
        EXPECT_EQ(recorded.dimension(), run.made().run.dimension);
        std::vector<RecordedView> own;
        for (int u = 0; u < RecordingRun::agents; ++u) own.push_back(run.view_of(u));
        std::size_t steps = 0;
        for (; recorded.next(); ++steps) {
            const SeenStep step = recorded.step();
            for (const int receiver : pair_view.members)
                for (const int sender : run.graph().closed_neighbourhood(receiver)) {
                    const RecordedView& sent = own[static_cast<std::size_t>(sender)];
                    EXPECT_TRUE(step.message(sender, receiver) ==
                                sent.records[steps].message.col(
                                    test::column_for(sent.header.outputs, receiver)))
                        << sender << " to " << receiver;
                }
        }
        EXPECT_EQ(steps, own.front().records.size());
    }
}

TEST(RecordedMessages, OfEverybodyAreThoseOnTheWire) {
    const RecordingRun run({"Messages", "decor"});
    RecordedMessages recorded(run.views(), View{View::Kind::all_messages, {}}, run.process(), 1);
    for (std::size_t t = 0; recorded.next(); ++t)
        for (int u = 0; u < RecordingRun::agents; ++u)
            EXPECT_TRUE(recorded.step().message(u, run.graph().neighbours(u).front()) ==
                        run.view_of(u).records[t].message.col(0));
}

TEST(RecordedMessages, KnowTheNoiseOfSeedsThatMembersHold) {
    // All noise of corn comes from one seed, which everybody holds.
    const RecordingRun run({"Corn", "corn"});
    RecordedMessages recorded(run.views(), pair_view, run.process(), 1);
    for (std::size_t t = 0; recorded.next(); ++t)
        for (const int u : {0, 2, 4}) {
            const Eigen::VectorXd noise = run.view_of(u).records[t].noise.col(0);
            EXPECT_TRUE(recorded.step().known_noise(u, 1) == noise) << u;
            EXPECT_GT(noise.norm(), 0);
        }
    EXPECT_TRUE(recorded.leak_findings().empty());
    // Nobody else's seed tells anything about noise of one's own.
    const RecordingRun independent({"Independent", "ldp"});
    RecordedMessages others(independent.views(), pair_view, independent.process(), 1);
    ASSERT_TRUE(others.next());
    const Eigen::VectorXd known = others.step().known_noise(0, 1);
    EXPECT_TRUE(known.size() == 0 || known.isZero(0));
}

TEST(RecordedMessages, OfSecureSumsAreTheSumsAlone) {
    const RecordingRun run({"Sums", "decor", 1, true});
    const View sums{View::Kind::secure_sum, {1}};
    RecordedMessages recorded(run.views(), sums, run.process(), 1);
    const MixingMatrix& mixing = run.made().topography.mixing;
    for (std::size_t t = 0; recorded.next(); ++t) {
        Eigen::VectorXd sum = Eigen::VectorXd::Zero(recorded.dimension());
        for (const int v : run.graph().neighbours(1))
            sum += mixing.weight(1, v) * run.view_of(v).records[t].message.col(0);
        // Half a step of the fixed point a neighbour.
        EXPECT_LE((recorded.step().sum(1) - sum).cwiseAbs().maxCoeff(),
                  RecordingRun::agents * 0x1p-41);
    }
    expect_contains(message_of<ConfigError>(
                        [&] { (void)RecordedMessages(run.views(), pair_view, run.process(), 1); }),
                    "use secure-sum");
    expect_contains(message_of<ConfigError>([&] {
                        (void)RecordedMessages(
                            run.views(), View{View::Kind::all_messages, {}}, run.process(), 1);
                    }),
                    "masked shares");
}

TEST(RecordedMessages, NameSeedsThatMembersHoldAgainstThePlan) {
    RecordingRun run({"Messages", "decor"});
    int foreign = -1;
    for (const int group : run.rings()[4].groups())
        if (!run.rings()[1].holds(group)) foreign = group;
    ASSERT_GE(foreign, 0);
    run.rings()[1].add(foreign, run.rings()[4].seed(foreign).clone());
    std::filesystem::remove(run.views() / "1" / "seeds.json");
    record_seeds(run.views(), run.plan(), run.rings()[1]);
    const RecordedMessages recorded(run.views(), pair_view, run.process(), 1);
    ASSERT_EQ(recorded.leak_findings().size(), 1U);
    expect_contains(recorded.leak_findings().front(),
                    fmt::format("agent 1 holds the seed of group {}", foreign));
    const auto& holders = recorded.knowledge().groups[static_cast<std::size_t>(foreign)].members;
    EXPECT_TRUE(std::ranges::is_sorted(holders));
    EXPECT_TRUE(std::ranges::binary_search(holders, 1));
}

TEST(RecordedMessages, OfAnotherRunAreRefused) {
    const RecordingRun run({"Messages", "decor"}), other({"Other", "ldp"});
    const auto message = [&](const std::filesystem::path& views, const MessageProcess& process) {
        return message_of<DataError>([&] { (void)RecordedMessages(views, pair_view, process, 1); });
    };
    expect_contains(message(run.views(), other.process()), "not a recording of this run");
    MessageProcess longer = run.process();
    longer.phases.front().rounds = 4;
    expect_contains(message(run.views(), longer), "records");
    std::filesystem::remove(run.views() / "3" / "view.bin");
    expect_contains(message(run.views(), run.process()), "agent 3 did not record its view");
}

TEST(RecordedInnovations, AreAsManyAsTheResponses) {
    for (const int gossip_steps : {1, 2}) {
        const RecordingRun run({"Messages", "decor", gossip_steps});
        const MessageProcess process = run.process();
        RecordedInnovations recorded(run.views(), pair_view, process, 24, "24", 1);
        const std::vector<int> target{0};
        const auto responses =
            recorded.test().responses(target, Eigen::MatrixXd::Ones(process.rounds(), 1));
        Eigen::Index steps = 0, whitened = 0, noiseless = 0;
        for (; const auto innovation = recorded.next(); ++steps) {
            EXPECT_EQ(innovation->whitened.cols(), 24);
            EXPECT_TRUE(innovation->whitened.allFinite());
            whitened += innovation->whitened.rows();
            noiseless += innovation->noiseless.rows();
        }
        EXPECT_EQ(steps, process.rounds() * gossip_steps);
        EXPECT_EQ(whitened, responses.whitened.rows());
        EXPECT_EQ(noiseless, responses.noiseless.rows());
        EXPECT_TRUE(recorded.leak_findings().empty());
    }
}

TEST(RecordedInnovations, SayWhoHoldsASeedAndWhoseItIs) {
    RecordingRun run({"Messages", "decor"});
    for (const int group : run.rings()[4].groups())
        if (!run.rings()[1].holds(group))
            run.rings()[1].add(group, run.rings()[4].seed(group).clone());
    std::filesystem::remove(run.views() / "1" / "seeds.json");
    record_seeds(run.views(), run.plan(), run.rings()[1]);
    const MessageProcess process = run.process();
    const RecordedInnovations recorded(run.views(), pair_view, process, 24, "24", 1);
    const auto findings = recorded.leak_findings();
    ASSERT_FALSE(findings.empty());
    for (const std::string& finding : findings) {
        EXPECT_TRUE(finding.starts_with("agent 1 holds the seed of group ")) << finding;
        EXPECT_NE(finding.find('4', finding.find("members are")), std::string::npos) << finding;
    }
}

TEST(RecordedInnovations, OfOtherModelsAreRefused) {
    const RecordingRun run({"Messages", "decor"});
    const MessageProcess process = run.process();
    test::expect_contains(test::message_of<DataError>([&] {
                              const RecordedInnovations recorded(
                                  run.views(), pair_view, process, 25, "rows have 25", 1);
                          }),
                          "models of 24 coordinates are recorded, rows have 25");
}

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
