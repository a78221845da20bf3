#include "audit/contributed_rows.hpp"

#include <gtest/gtest.h>

#include "audit/audit_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

constexpr int contributors = 4;

TEST(ContributedRows, TakePartInTheRoundsOfTheirParticipation) {
    AuditConfig config = test::audit_config("mafalda", contributors, 10);
    config.train.plan.adjacency = Adjacency::record;
    config.train.plan.participation.cycle = 4;
    config.train.plan.batch_size = 16;
    const auto network = make_memory_network(contributors, 1);
    const AuditSubject subject = build_audit_subject(config, true, *network);
    const Rows rows = public_rows(config.train.plan, *subject.account);
    EXPECT_EQ(rows.rounds, (Eigen::VectorXd(10) << 1, 0, 0, 0, 1, 0, 0, 0, 1, 0).finished());
    EXPECT_EQ(rows.divisors, Eigen::VectorXd::Constant(contributors, 16));
    config.train.plan.adjacency = Adjacency::agent;
    EXPECT_EQ(public_rows(config.train.plan, *subject.account).divisors,
              Eigen::VectorXd::Ones(contributors));
}

TEST(ContributedRows, AreFirstRecordsNoLongerThanTheClip) {
    const TemporaryFolder folder;
    TrainConfig train;
    train.plan.clip_norm = 0.5;
    train.task.data = folder.write("rows.csv", "x,y\n0.3,0.4\n3,4\n0.1,0\n0,-2\n");
    train.task.partition = {PartitionSpec::Kind::iid, 0, 1};
    const auto network = make_memory_network(contributors, 1);
    for (const auto noise : {StreamDistribution::gaussian, StreamDistribution::laplace}) {
        const Rows rows = read_rows({}, train, noise, *network);
        ASSERT_EQ(rows.values.rows(), contributors);
        ASSERT_EQ(rows.values.cols(), 2);
        EXPECT_EQ(rows.image_rows, 0);
        for (int u = 0; u < contributors; ++u) {
            const Eigen::VectorXd row = rows.values.row(u).transpose();
            const double norm = noise == StreamDistribution::laplace ? row.lpNorm<1>() : row.norm();
            EXPECT_LE(norm, 0.5 * (1 + 1e-12)) << u;
            EXPECT_GT(norm, 0.09) << u;
        }
    }
    train.task.data = folder.write("few.csv", "x,y\n1,2\n");
    EXPECT_NE(message_of<DataError>(
                  [&] { (void)read_rows({}, train, StreamDistribution::gaussian, *network); }),
              "");
}

TEST(ContributedRows, EnterAsMinusThemselvesAndNotAtAllInOtherRounds) {
    const auto network = make_memory_network(contributors, 1);
    Rows rows;
    rows.values = Eigen::MatrixXd::Random(contributors, 3);
    rows.rounds = Eigen::Vector3d(1, 0, 1);
    const LocalTask task = make_rows_task(rows, *network);
    EXPECT_TRUE(task.fixed_inputs && task.rows_are_rounds && !task.coordinates);
    EXPECT_EQ(task.initial, Eigen::VectorXd::Zero(3));
    for (int u = 0; u < contributors; ++u)
        for (Eigen::Index round = 0; round < 3; ++round) {
            Eigen::VectorXd gradient(3);
            task.objectives[static_cast<std::size_t>(u)]->mean_gradient(
                task.initial, {&round, 1}, gradient);
            EXPECT_EQ(gradient,
                      Eigen::VectorXd(-rows.rounds(round) * rows.values.row(u).transpose()));
        }
}

TEST(ContributedRows, OfAnotherRunAreRefused) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder.path("rows.npy");
    const Eigen::MatrixXd values = Eigen::MatrixXd::Random(contributors, 3);
    write_npy(file, values);
    EXPECT_EQ(recorded_rows(file, contributors), values);
    expect_contains(message_of<DataError>([&] { (void)recorded_rows(file, contributors + 1); }),
                    "4 rows, there are 5 agents");
}

}  // namespace
}  // namespace sotto
