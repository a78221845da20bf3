#include "account/account_matrices.hpp"

#include <gtest/gtest.h>

#include "commands/account/account_report.hpp"
#include "commands/account/account_text.hpp"
#include "config/run_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::TemporaryFolder;

TEST(AccountMatrices, AccountForSomebodyElsesObservations) {
    const TemporaryFolder folder;
    // Two agents, two rounds; both rounds' inputs of agent 0 through one noise each.
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 4), b = 0.5 * Eigen::MatrixXd::Identity(2, 2);
    a(0, 0) = 1;
    a(1, 2) = 1;
    a(1, 1) = 0.5;
    write_npy(folder.path("a.npy"), a);
    write_npy(folder.path("b.npy"), b);
    const auto run = [&](const std::string& targets) {
        return account_matrices(
            folder.path("a.npy"), folder.path("b.npy"), 2, targets, 2, {}, 1e-5);
    };
    const AccountResult result = run("all");
    ASSERT_EQ(result.pairs.size(), 2u);
    EXPECT_EQ(result.pairs[0].target, 0);
    EXPECT_NEAR(result.pairs[0].guarantee.loss.mu().value(), 2 * std::sqrt(8), 1e-9);
    EXPECT_NEAR(result.pairs[1].guarantee.loss.mu().value(), 2 * 0.5 / 0.5, 1e-9);
    expect_contains(message_of<ConfigError>([&] { (void)run("2"); }), "agent 2 does not exist");
}

TEST(AccountMatrices, AreReportedWithoutObserversAndDistances) {
    const TemporaryFolder folder;
    write_npy(folder.path("a.npy"), Eigen::MatrixXd(Eigen::RowVector2d(1, 1)));
    write_npy(folder.path("b.npy"), Eigen::MatrixXd(Eigen::MatrixXd::Ones(1, 1)));
    const AccountResult result =
        account_matrices(folder.path("a.npy"), folder.path("b.npy"), 2, "1", 3, {}, 1e-5);
    const Json json = Json::parse(matrices_report_json(result, 3, 1e-5));
    EXPECT_EQ(json["view"], "matrices");
    EXPECT_EQ(json["sensitivity"], 3);
    EXPECT_TRUE(json["by_distance"].empty() && json["ldp"].is_null());
    ASSERT_EQ(json["pairs"].size(), 1U);
    EXPECT_NEAR(json["pairs"][0]["mu"], 3, 1e-9);
    EXPECT_TRUE(json["pairs"][0]["observers"].empty());
    expect_contains(matrices_report_text(result, 3, 1e-5), "sensitivity 3; delta 1e-05");
}

}  // namespace
}  // namespace sotto
