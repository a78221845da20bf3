#include "audit/reconstruction_attack.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

#include "audit/audit_report.hpp"
#include "audit/audit_run.hpp"
#include "audit/reconstruction_result.hpp"
#include "sotto/core/files.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::message_of;
using test::TemporaryFolder;

/// Points in the given number of dimensions, one a line, none near zero.
std::string table(int records, int columns) {
    std::string text;
    for (int j = 0; j < columns; ++j) text += (j == 0 ? "x" : ",x") + std::to_string(j);
    text += "\n";
    for (int i = 0; i < records; ++i) {
        for (int j = 0; j < columns; ++j)
            text += (j == 0 ? "" : ",") + std::to_string(std::sin(1 + 7.3 * i + 1.7 * j));
        text += "\n";
    }
    return text;
}

AuditConfig reconstruction_config(const TemporaryFolder& folder,
                                  const std::string& mechanism,
                                  const std::string& view,
                                  int columns = 6) {
    constexpr int agents = 7;
    AuditConfig config;
    config.attack = "reconstruction";
    config.view = view;
    config.train.graph.topology.topology = Topology::erdos_renyi;
    config.train.graph.topology.agents = agents;
    config.train.graph.topology.graph_seed = 3;
    config.train.graph.topology.edge_probability = 0.4;
    config.train.plan.mechanism = mechanism;
    config.train.plan.rounds = 30;
    config.train.plan.utility = {Utility::Kind::horizon, 10};
    config.train.task.data = folder.write("rows.csv", table(3 * agents, columns));
    config.train.task.partition = {PartitionSpec::Kind::iid, 0, 1};
    config.train.noise_seed = 5;
    config.train.run_directory = folder.path("run-" + mechanism);
    return config;
}

ReconstructionResult attack_reconstruction(const AuditConfig& config) {
    return test::audit<ReconstructionResult>(config);
}

/// Every mean squared error is the bound times chi-squared over its degrees of freedom, up to what
/// happens once in a million targets.
void expect_errors_attain_the_bound(const ReconstructionResult& result) {
    const auto freedom = static_cast<double>(result.dimension());
    const boost::math::chi_squared chi(freedom);
    long tested = 0;
    for (const ReconstructedRow& row : result.targets) {
        ASSERT_FALSE(row.exact) << row.target;
        if (!row.identifiable) continue;
        const double squared = freedom * std::pow(row.error / row.deviation, 2);
        EXPECT_GT(squared, boost::math::quantile(chi, 1e-6)) << row.target;
        EXPECT_LT(squared, boost::math::quantile(boost::math::complement(chi, 1e-6))) << row.target;
        ++tested;
    }
    EXPECT_GE(tested, 3);
}

TEST(Reconstruction, RecoversEveryRowWithoutNoise) {
    const TemporaryFolder folder;
    for (const std::string view : {"coalition:2,5", "eavesdropper", "secure-sum:1,2,4"}) {
        AuditConfig config = reconstruction_config(folder, "none", view);
        config.train.run_directory = folder.path(view);
        const ReconstructionResult result = attack_reconstruction(config);
        EXPECT_TRUE(result.consistent()) << view;
        for (const ReconstructedRow& row : result.targets) {
            EXPECT_TRUE(row.exact && row.recovered) << view << " " << row.target;
            EXPECT_LT(row.relative_error, 1e-6) << view << " " << row.target;
        }
    }
}

TEST(Reconstruction, ErrsByTheCramerRaoBoundUnderNoise) {
    const TemporaryFolder folder;
    for (const char* mechanism : {"ldp", "pairs", "decor", "zip-dl"}) {
        SCOPED_TRACE(mechanism);
        AuditConfig config = reconstruction_config(folder, mechanism, "coalition:2,5", 400);
        const ReconstructionResult result = attack_reconstruction(config);
        EXPECT_TRUE(result.consistent());
        EXPECT_EQ(result.dimension(), 400);
        expect_errors_attain_the_bound(result);
    }
}

TEST(Reconstruction, CountsBatchesParticipationAndGossipSteps) {
    const TemporaryFolder folder;
    AuditConfig config = reconstruction_config(folder, "mafalda", "eavesdropper", 400);
    config.train.plan.adjacency = Adjacency::record;
    config.train.plan.participation.cycle = 4;
    config.train.plan.batch_size = 16;
    const ReconstructionResult records = attack_reconstruction(config);
    EXPECT_TRUE(records.consistent());
    expect_errors_attain_the_bound(records);

    config = reconstruction_config(folder, "muffliato", "coalition:2,5", 400);
    config.train.plan.gossip_steps = 2;
    const ReconstructionResult gossip = attack_reconstruction(config);
    EXPECT_TRUE(gossip.consistent());
    expect_errors_attain_the_bound(gossip);
}

TEST(Reconstruction, BoundOfIndependentNoiseSeenWholeIsTheNoiseOverTheRounds) {
    // The eavesdropper sees -row + noise of every agent in every round by itself.
    const TemporaryFolder folder;
    AuditConfig config = reconstruction_config(folder, "ldp", "eavesdropper", 400);
    config.train.plan.noise_std = 0.7;
    const ReconstructionResult result = attack_reconstruction(config);
    ASSERT_EQ(result.targets.size(), 7U);
    for (const ReconstructedRow& row : result.targets) {
        EXPECT_EQ(row.distance, -1);
        EXPECT_NEAR(row.deviation, 0.7 / std::sqrt(30.0), 1e-9);
    }
    expect_errors_attain_the_bound(result);
}

TEST(Reconstruction, SeesThroughCornWithOneCuriousAgent) {
    // All noise is shared: who holds the seed takes it away, but for rounding to the noise's grid.
    const TemporaryFolder folder;
    const ReconstructionResult result =
        attack_reconstruction(reconstruction_config(folder, "corn", "all-messages:3"));
    EXPECT_TRUE(result.consistent());
    for (const ReconstructedRow& row : result.targets) {
        EXPECT_TRUE(row.exact && row.recovered) << row.target;
        EXPECT_LT(row.relative_error, 1e-4) << row.target;
    }
}

TEST(Reconstruction, SaysWhoCannotBeIdentified) {
    // One round shows the neighbours' messages and nothing of anybody further away.
    const TemporaryFolder folder;
    AuditConfig config = reconstruction_config(folder, "none", "node:0");
    config.train.graph.topology.topology = Topology::ring;
    config.train.plan.rounds = 1;
    const ReconstructionResult result = attack_reconstruction(config);
    ASSERT_EQ(result.targets.size(), 6U);
    for (std::size_t k = 0; k < result.targets.size(); ++k) {
        const ReconstructedRow& row = result.targets[k];
        EXPECT_EQ(row.distance, static_cast<int>(k) / 2 + 1);
        EXPECT_EQ(row.identifiable, row.distance == 1);
        EXPECT_EQ(row.recovered, row.distance == 1);
        EXPECT_EQ(std::isinf(row.deviation), row.distance != 1);
    }
}

TEST(Reconstruction, LeavesWhatItFoundInTheRunDirectory) {
    const TemporaryFolder folder;
    AuditConfig config = reconstruction_config(folder, "pairs", "coalition:2,5");
    const ReconstructionResult result = attack_reconstruction(config);
    const std::filesystem::path run_directory = result.run_directory;
    const Eigen::MatrixXd rows = read_npy(run_directory / "rows.npy");
    const Eigen::MatrixXd estimates = read_npy(run_directory / "reconstruction.npy");
    ASSERT_EQ(rows.rows(), 7);
    ASSERT_EQ(estimates.rows(), 5);
    EXPECT_LE(rows.rowwise().norm().maxCoeff(), config.train.plan.clip_norm * (1 + 1e-12));
    const Json report = test::read_json(run_directory / "audit.json");
    for (std::size_t k = 0; k < result.targets.size(); ++k) {
        const Json& entry = report["targets"][k];
        const auto truth = rows.row(entry["target"].get<Eigen::Index>());
        const auto estimate = estimates.row(static_cast<Eigen::Index>(k));
        EXPECT_NEAR(entry["relative_error"].get<double>(),
                    (estimate - truth).norm() / truth.norm(),
                    1e-9 * entry["relative_error"].get<double>());
    }
    // The recordings of one member alone, looked at later.
    config.run = result.run_directory;
    config.view = "node:5";
    const ReconstructionResult again = attack_reconstruction(config);
    EXPECT_EQ(again.targets.size(), 6U);
    EXPECT_TRUE(again.consistent());
}

TEST(Reconstruction, IsInconsistentWhereRowsAreKnownBetterThanTheBound) {
    const TemporaryFolder folder;
    AuditConfig config = reconstruction_config(folder, "pairs", "coalition:2,5");
    const ReconstructionResult honest = attack_reconstruction(config);
    ASSERT_TRUE(honest.consistent());
    // As if the estimates had been the truth.
    const std::filesystem::path file = std::filesystem::path(honest.run_directory) / "rows.npy";
    Eigen::MatrixXd rows = read_npy(file);
    for (std::size_t k = 0; k < honest.targets.size(); ++k)
        rows.row(honest.targets[k].target) = honest.estimates.row(static_cast<Eigen::Index>(k));
    write_npy(file, rows);
    config.run = honest.run_directory;
    const ReconstructionResult leaky = attack_reconstruction(config);
    EXPECT_FALSE(leaky.consistent());
    EXPECT_EQ(leaky.findings.size(), honest.targets.size());
    expect_contains(audit_report_text(leaky), "INCONSISTENT");
}

TEST(Reconstruction, RefusesWhatItCannotAttack) {
    const TemporaryFolder folder;
    expect_contains(message_of<ConfigError>([&] {
                        (void)attack_reconstruction(reconstruction_config(folder, "cdp", "node:0"));
                    }),
                    "cannot be audited");
    expect_contains(
        message_of<ConfigError>([&] {
            (void)attack_reconstruction(reconstruction_config(folder, "ldp", "all-nodes"));
        }),
        "one observer");
    AuditConfig config = reconstruction_config(folder, "ldp", "node:0");
    config.level = 1;
    expect_contains(message_of<ConfigError>([&] { (void)attack_reconstruction(config); }),
                    "--confidence");
    config = reconstruction_config(folder, "ldp", "node:0");
    config.train.task.data = folder.write("few.csv", table(3, 2));
    EXPECT_NE(message_of<DataError>([&] { (void)attack_reconstruction(config); }), "");
}

}  // namespace
}  // namespace sotto
