#include "audit/recorded_messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "audit/recording_run.hpp"
#include "config/run_fixtures.hpp"

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
    EXPECT_TRUE(recorded.leaked_seeds().empty());
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
                    "ask secure-sum");
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
    EXPECT_EQ(recorded.leaked_seeds(), (std::vector<std::pair<int, int>>{{1, foreign}}));
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

}  // namespace
}  // namespace sotto
