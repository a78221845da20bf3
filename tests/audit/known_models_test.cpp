#include "audit/known_models.hpp"

#include <gtest/gtest.h>

#include "audit/recording_run.hpp"
#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::RecordingRun;

/// Mean of a column of a round's first gossip step, from round `first` on.
template <class Column>
Eigen::VectorXd mean_of(const RecordedView& view, long first, Column column) {
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(view.header.dimension);
    double count = 0;
    for (const RecordedRound& record : view.records)
        if (record.round >= first && record.gossip_step == 0) {
            sum += column(record);
            ++count;
        }
    return sum / count;
}
Eigen::VectorXd message(const RecordedRound& record) { return record.message.col(0); }
Eigen::VectorXd before(const RecordedRound& record) { return record.before; }

TEST(KnownModels, AreMeansOfMessagesWhereTheViewSeesThem) {
    const RecordingRun run({"GossipSteps", "decor", 2});
    for (const long first : {0L, 1L}) {
        const KnownModels known = read_known_models(
            run.views(), {View::Kind::neighbours, {1}}, run.plan(), run.made().run.rounds, first);
        const auto neighbours = run.graph().neighbours(1);
        for (int u = 0; u < RecordingRun::agents; ++u) {
            if (u == 1) continue;
            const bool heard = std::ranges::find(neighbours, u) != neighbours.end();
            EXPECT_EQ(known.heard[static_cast<std::size_t>(u)], heard) << u;
            const Eigen::VectorXd expected = heard ? mean_of(run.view_of(u), first, message)
                                                   : mean_of(run.view_of(1), first, before);
            EXPECT_LE((known.models.col(u) - expected).norm(), 1e-12 * expected.norm()) << u;
        }
    }
}

TEST(KnownModels, OfTheWireAreThoseOfEverybody) {
    const RecordingRun run({"Messages", "decor"});
    const KnownModels known = read_known_models(
        run.views(), {View::Kind::all_messages, {}}, run.plan(), run.made().run.rounds, 1);
    EXPECT_EQ(known.heard, std::vector<bool>(RecordingRun::agents, true));
    for (int u = 0; u < RecordingRun::agents; ++u) {
        const Eigen::VectorXd expected = mean_of(run.view_of(u), 1, message);
        EXPECT_LE((known.models.col(u) - expected).norm(), 1e-12 * expected.norm()) << u;
    }
}

TEST(KnownModels, OfSecureSumsAreTheMembersOwn) {
    const RecordingRun run({"Sums", "decor", 1, true});
    const KnownModels known = read_known_models(
        run.views(), {View::Kind::secure_sum, {1, 2}}, run.plan(), run.made().run.rounds, 0);
    EXPECT_EQ(known.heard, std::vector<bool>(RecordingRun::agents, false));
    const Eigen::VectorXd expected =
        (mean_of(run.view_of(1), 0, before) + mean_of(run.view_of(2), 0, before)) / 2;
    EXPECT_LE((known.models.colwise() - expected).norm(), 1e-12 * expected.norm());
}

TEST(KnownModels, OfAnotherRunAreRefused) {
    const RecordingRun run({"Messages", "decor"}), other({"Other", "ldp"});
    const auto read = [&](const NoisePlan& plan, long rounds) {
        return test::message_of<DataError>([&] {
            (void)read_known_models(run.views(), {View::Kind::neighbours, {1}}, plan, rounds, 0);
        });
    };
    test::expect_contains(read(other.plan(), 3), "not a recording of this run");
    test::expect_contains(read(run.plan(), 4), "not a recording of this run");
}

TEST(KnownModels, ArriveOnEveryProcess) {
    const auto network = make_memory_network(4, 1);
    const Eigen::MatrixXd models = Eigen::MatrixXd::Random(7, 4);
    EXPECT_EQ(share_models(models, models.rows(), *network), models);
}

}  // namespace
}  // namespace sotto
