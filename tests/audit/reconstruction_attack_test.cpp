#include "audit/reconstruction_attack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_job.hpp"
#include "audit/audit_run.hpp"
#include "config/run_fixtures.hpp"
#include "core/files.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
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

ReconstructionResult result_of_three() {
    const double infinity = std::numeric_limits<double>::infinity();
    ReconstructionResult result;
    result.attack = "reconstruction";
    result.mechanism = "pairs";
    result.view = "node:0";
    result.agents = 4;
    result.targets = {{1, 1, true, true, 1e-9, 0, 1e-8, true, false},
                      {2, 1, true, false, 0.2, 0.1, 0.6, false, false},
                      {3, 2, false, false, 0.7, infinity, 1, false, false}};
    result.estimates = Eigen::MatrixXd::Constant(3, 4, 0.5);
    result.truths = Eigen::MatrixXd::Ones(3, 4);
    return result;
}

TEST(ReconstructionResult, CountsWhatWasRecoveredAndWhatIsHidden) {
    const ReconstructionResult result = result_of_three();
    EXPECT_EQ(result.recovered(), 1);
    EXPECT_EQ(result.dimension(), 4);
    const Json json = Json::parse(audit_report_json(result));
    EXPECT_EQ(json.at("recovered"), 1);
    EXPECT_EQ(json.at("dimension"), 4);
    const Json& near = json.at("by_distance")[0];
    EXPECT_EQ(near.at("targets"), 2);
    EXPECT_EQ(near.at("identifiable"), 2);
    EXPECT_EQ(near.at("exact"), 1);
    EXPECT_EQ(near.at("recovered"), 1);
    EXPECT_EQ(near.at("relative_error_median"), 0.6);
    EXPECT_EQ(json.at("by_distance")[1].at("identifiable"), 0);
    EXPECT_EQ(json.at("targets")[1].at("ratio"), 2);
    EXPECT_TRUE(json.at("targets")[0].at("ratio").is_null());
    EXPECT_TRUE(json.at("targets")[2].at("cramer_rao").is_null());
    const std::string text = audit_report_text(result);
    expect_contains(text, "reconstructs the rows of 3 agents, 4 values each");
    expect_contains(text, "unbounded");
    expect_contains(text, "recovered to 10%: 1 of 3 rows");
}

TEST(ReconstructionResult, UnderLaplaceNoiseHasNoCramerRaoBound) {
    ReconstructionResult result = result_of_three();
    result.gaussian = false;
    const Json json = Json::parse(audit_report_json(result));
    EXPECT_TRUE(json.at("targets")[1].at("cramer_rao").is_null());
    EXPECT_EQ(json.at("targets")[1].at("linear_bound"), 0.1);
    expect_contains(audit_report_text(result), "best linear");
}

TEST(ReconstructionResult, LeavesAPictureOfImagesOnly) {
    const test::TemporaryFolder folder;
    for (const Eigen::Index image_rows : {0, 2}) {
        ReconstructionResult result = result_of_three();
        result.image_rows = image_rows;
        const std::filesystem::path path = folder.path(std::to_string(image_rows));
        std::filesystem::create_directories(path);
        result.write_files(RunDirectory::existing(path));
        EXPECT_EQ(read_npy(path / "reconstruction.npy"), result.estimates);
        EXPECT_EQ(std::filesystem::exists(path / "reconstruction.pgm"), image_rows > 0);
    }
}

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

/// Pixels of a PGM.
MatrixXd pixels_of(const std::string& picture) {
    int width = 0, height = 0, end = 0;
    EXPECT_EQ(std::sscanf(picture.c_str(), "P5\n%d %d\n255%n", &width, &height, &end), 2);
    EXPECT_EQ(picture.size(), static_cast<std::size_t>(end + 1 + width * height));
    MatrixXd pixels(height, width);
    for (Index y = 0; y < height; ++y)
        for (Index x = 0; x < width; ++x)
            pixels(y, x) = static_cast<unsigned char>(
                picture[static_cast<std::size_t>(end + 1 + y * width + x)]);
    return pixels;
}

TEST(ReconstructionPicture, HasTheTruthAboveTheEstimateAsBrightAsTheTruth) {
    // A row of 2 x 3 values a picture.
    MatrixXd truths(2, 6), estimates(2, 6);
    truths << 0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0;
    estimates << 5, 4, 3, 2, 1, -1, 1, 1, 1, 1, 1, 1;
    const MatrixXd pixels = pixels_of(reconstruction_picture(truths, estimates, 2));
    ASSERT_EQ(pixels.rows(), 2 * 2 + 3 * 2);
    ASSERT_EQ(pixels.cols(), 2 * (3 + 2) + 2);
    EXPECT_EQ(pixels.block(2, 2, 2, 3), (MatrixXd(2, 3) << 0, 51, 102, 153, 204, 255).finished());
    EXPECT_EQ(pixels.block(6, 2, 2, 3), (MatrixXd(2, 3) << 255, 204, 153, 102, 51, 0).finished());
    // Nothing is white where the truth is black.
    EXPECT_TRUE(pixels.block(6, 7, 2, 3).isZero(0));
    EXPECT_TRUE((pixels.row(0).array() == 128).all());
    EXPECT_TRUE((pixels.col(5).array() == 128).all());
}

TEST(ReconstructionPicture, ShowsTheFirstFewOnly) {
    const MatrixXd many = MatrixXd::Ones(100, 4);
    const MatrixXd pixels = pixels_of(reconstruction_picture(many, many, 2));
    EXPECT_EQ(pixels.cols(), 12 * (2 + 2) + 2);
    EXPECT_EQ(pixels.rows(), 4 * (2 * 2 + 3 * 2));
}

}  // namespace
}  // namespace sotto
