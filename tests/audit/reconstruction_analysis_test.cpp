#include "audit/reconstruction_analysis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_run.hpp"

namespace sotto {
namespace {

using test::TemporaryFolder;

AuditConfig config_of(const TemporaryFolder& folder, const std::string& mechanism) {
    AuditConfig config = test::audit_config(mechanism, 6, 12);
    config.attack = "reconstruction";
    config.view = "coalition:1,4";
    std::string table = "a,b,c\n";
    for (int i = 0; i < 12; ++i) table += std::to_string(i + 1) + ",0.5,-1\n";
    config.train.task.data = folder.write("rows.csv", table);
    config.train.task.partition = {PartitionSpec::Kind::iid, 0, 1};
    config.train.run_directory = folder.path("run");
    return config;
}

/// Recordings of a run, and what it contributed.
struct Attacked {
    TemporaryFolder folder;
    AuditConfig config;
    AuditSubject subject;
    ReconstructionResult found;  ///< by the attack itself
    Rows rows;

    explicit Attacked(const std::string& mechanism)
        : config(config_of(folder, mechanism)),
          subject(build_audit_subject(config, true, *make_memory_network(6, 1))),
          found(test::audit<ReconstructionResult>(config)),
          rows(public_rows(config.train.plan, *subject.account)) {
        rows.values = recorded_rows(folder.path("run/rows.npy"), 6);
    }
    [[nodiscard]] ReconstructionResult analyse(const Rows& truth, double level) const {
        return analyse_reconstruction(
            folder.path("run/views"), subject.process, subject.view, truth, level, 1);
    }
};

TEST(ReconstructionAnalysis, EstimatesWithoutTheTruth) {
    const Attacked attacked("pairs");
    const ReconstructionResult result = attacked.analyse(attacked.rows, 0.99);
    EXPECT_EQ(result.estimates, attacked.found.estimates);
    Rows other = attacked.rows;
    other.values.setZero();
    EXPECT_EQ(attacked.analyse(other, 0.99).estimates, result.estimates);
    for (std::size_t k = 0; k < result.targets.size(); ++k) {
        const auto place = static_cast<Eigen::Index>(k);
        const int target = result.targets[k].target;
        EXPECT_TRUE(result.truths.row(place) == attacked.rows.values.row(target));
        EXPECT_NEAR(
            result.targets[k].error,
            (result.estimates.row(place) - result.truths.row(place)).norm() / std::sqrt(3.0),
            1e-12);
        EXPECT_TRUE(k == 0 || result.targets[k - 1].distance <= result.targets[k].distance);
    }
}

TEST(ReconstructionAnalysis, ScalesByTheBatch) {
    const Attacked attacked("ldp");
    Rows batches = attacked.rows;
    batches.divisors *= 8;
    const ReconstructionResult one = attacked.analyse(attacked.rows, 0.99),
                               many = attacked.analyse(batches, 0.99);
    EXPECT_LE((many.estimates - 8 * one.estimates).norm(), 1e-9 * many.estimates.norm());
    long known = 0;
    for (std::size_t k = 0; k < one.targets.size(); ++k) {
        const double deviation = one.targets[k].deviation;
        known += std::isfinite(deviation) ? 1 : 0;
        if (std::isfinite(deviation))
            EXPECT_NEAR(many.targets[k].deviation, 8 * deviation, 1e-9 * 8 * deviation);
        else
            EXPECT_EQ(many.targets[k].deviation, deviation);
    }
    EXPECT_GT(known, 0);
}

TEST(ReconstructionAnalysis, FindsRowsThatAreKnownTooWellUnderGaussianNoiseOnly) {
    for (const std::string mechanism : {"ldp", "homomorphic"}) {
        const Attacked attacked(mechanism);
        Rows guessed = attacked.rows;
        const ReconstructionResult honest = attacked.analyse(attacked.rows, 0.999);
        for (std::size_t k = 0; k < honest.targets.size(); ++k)
            guessed.values.row(honest.targets[k].target) =
                honest.estimates.row(static_cast<Eigen::Index>(k));
        const ReconstructionResult perfect = attacked.analyse(guessed, 0.999);
        const auto known = std::ranges::count_if(
            honest.targets, [](const auto& target) { return std::isfinite(target.deviation); });
        EXPECT_GT(known, 0);
        EXPECT_EQ(std::ssize(perfect.findings), mechanism == "ldp" ? known : 0);
    }
}

TEST(ReconstructionAnalysis, RefusesRowsOfAnotherLength) {
    const Attacked attacked("ldp");
    Rows longer = attacked.rows;
    longer.values = Eigen::MatrixXd::Ones(6, 5);
    test::expect_contains(
        test::message_of<DataError>([&] { (void)attacked.analyse(longer, 0.99); }), "rows have 5");
}

}  // namespace
}  // namespace sotto
