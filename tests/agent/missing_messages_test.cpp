// Rounds that agents miss, with noise as agents draw it: what was sent has the covariance that is
// accounted for, and what is left is what dropout_utility predicts. Noise seeds and sets of missing
// agents are fixed, so the figures are the same in every run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "agent/agent_fixtures.hpp"
#include "design/changing_utility.hpp"
#include "noise/noise_source.hpp"
#include "privacy/dropouts.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int agents = 8;
constexpr double probability = 0.25;
constexpr Utility last_models{Utility::Kind::final_model, 0};
constexpr long rounds = 5;
constexpr std::uint32_t epoch = 1;

Topography topography() { return test::topography_of(Topology::erdos_renyi, agents, 0.4); }

/// Made for agents that miss rounds.
NoisePlan plan_for(const std::string& mechanism, const Topography& where) {
    const Mechanism& found = find_mechanism("mechanism", mechanism);
    DesignInput input;
    input.graph = &where.graph;
    input.mixing = &where.mixing;
    input.utility = last_models;
    input.rounds = rounds;
    input.given_utility = dropout_utility(where.mixing, last_models, rounds, probability);
    input.kappa = test::uneven_limits(agents);
    input.coalition_size = found.default_coalition_size;
    if (found.seed_groups()) input.seed_groups = make_seed_groups("all-pairs", where.graph);
    return found.design(input).plan;
}

std::vector<KeyRing> rings_of(const NoisePlan& plan) {
    const auto network = make_memory_network(plan.agents, 1);
    return distribute_seeds(*network, plan, 6);
}

/// One round: those who are there send, and give weights of messages that do not come to
/// themselves.
MatrixXd after_round(const MatrixXd& models,
                     const MatrixXd& noise,
                     const MixingMatrix& mixing,
                     const std::vector<bool>& there) {
    MatrixXd messages = models;
    for (int u = 0; u < agents; ++u)
        if (there[static_cast<std::size_t>(u)]) messages.col(u) -= noise.col(u);
    MatrixXd mixed = models;
    for (int u = 0; u < agents; ++u) {
        if (!there[static_cast<std::size_t>(u)]) continue;
        mixed.col(u).setZero();
        for (int v = 0; v < agents; ++v)
            mixed.col(u) +=
                mixing.weight(u, v) * messages.col(there[static_cast<std::size_t>(v)] ? v : u);
    }
    return mixed;
}

struct Measured {
    double mean = 0, standard_error = 0;
};

/// Squared noise a coordinate in all last models, over many trainings without gradients.
Measured noise_left(const NoisePlan& plan, const MixingMatrix& mixing) {
    constexpr int trials = 4000;
    constexpr Index dimension = 16;
    const auto rings = rings_of(plan);
    NoiseSource source(plan, rings, 1);
    SeededRandom random(3, "missing agents");
    MatrixXd noise(dimension, agents);
    std::vector<bool> there(agents);
    double sum = 0, squares = 0;
    for (int trial = 0; trial < trials; ++trial) {
        MatrixXd models = MatrixXd::Zero(dimension, agents);
        for (int t = 0; t < rounds; ++t) {
            source.draw(epoch, static_cast<std::uint64_t>(trial * rounds + t), noise);
            for (int u = 0; u < agents; ++u)
                there[static_cast<std::size_t>(u)] = random.uniform() >= probability;
            models = after_round(models, noise, mixing, there);
        }
        const double left = models.squaredNorm() / dimension;
        sum += left;
        squares += left * left;
    }
    const double mean = sum / trials;
    return {mean, std::sqrt((squares / trials - mean * mean) / trials)};
}

TEST(MissingMessages, LeaveTheNoiseThatIsPredicted) {
    const Topography where = topography();
    for (const char* mechanism : {"ldp", "decor", "corn", "pairs"}) {
        const NoisePlan plan = plan_for(mechanism, where);
        const MatrixXd covariance = spatial_covariance(plan);
        const double predicted = dropout_utility(where.mixing, last_models, rounds, probability)
                                     .cwiseProduct(covariance)
                                     .sum();
        const double if_all_came =
            utility_matrix(where.mixing, last_models, rounds).cwiseProduct(covariance).sum();
        const Measured left = noise_left(plan, where.mixing);
        RecordProperty(mechanism, std::to_string(left.mean / predicted));
        EXPECT_NEAR(left.mean, predicted, 5 * left.standard_error) << mechanism;
        EXPECT_LT(left.standard_error, 0.015 * predicted) << mechanism;
        // Of independent noise less is sent, and less is averaged away.
        if (mechanism != std::string("ldp")) {
            EXPECT_GT(left.mean - if_all_came, 5 * left.standard_error) << mechanism;
        }
    }
}

/// What an agent adds of streams whose holders all are there: what nobody publishes.
VectorXd unpublished_noise(const NoisePlan& plan,
                           const KeyRing& ring,
                           const std::vector<bool>& there,
                           std::uint64_t round,
                           Index dimension) {
    const NoiseRow& row = plan.rows[static_cast<std::size_t>(ring.agent())];
    VectorXd sum = VectorXd::Zero(dimension), values(dimension);
    for (std::size_t j = 0; j < row.streams.size(); ++j) {
        const NoiseStream& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
        const auto& holders = plan.groups[static_cast<std::size_t>(stream.group)].members;
        if (!std::ranges::all_of(holders,
                                 [&](int u) { return there[static_cast<std::size_t>(u)]; }))
            continue;
        NormalStream(ring.stream_key(stream.group, stream.index))
            .fill(epoch, round, 0, {values.data(), static_cast<std::size_t>(dimension)});
        sum += plan.scale * row.coefficients[j] * values;
    }
    return sum;
}

TEST(MissingMessages, LeaveLessWhereTheStreamsOfTheMissingAreSubtracted) {
    constexpr int trials = 1500;
    constexpr Index dimension = 16;
    const Topography where = topography();
    const NoisePlan plan = plan_for("pairs", where);
    const auto rings = rings_of(plan);
    SeededRandom random(4, "missing agents");
    MatrixXd noise(dimension, agents);
    std::vector<bool> there(agents);
    double sum = 0, squares = 0;
    for (int trial = 0; trial < trials; ++trial) {
        MatrixXd models = MatrixXd::Zero(dimension, agents);
        for (int t = 0; t < rounds; ++t) {
            for (int u = 0; u < agents; ++u)
                there[static_cast<std::size_t>(u)] = random.uniform() >= probability;
            for (int u = 0; u < agents; ++u)
                noise.col(u) = unpublished_noise(plan,
                                                 rings[static_cast<std::size_t>(u)],
                                                 there,
                                                 static_cast<std::uint64_t>(trial * rounds + t),
                                                 dimension);
            models = after_round(models, noise, where.mixing, there);
        }
        const double left = models.squaredNorm() / dimension;
        sum += left;
        squares += left * left;
    }
    const double mean = sum / trials;
    const double standard_error = std::sqrt((squares / trials - mean * mean) / trials);
    const double predicted = recovered_noise(plan, where.mixing, last_models, rounds, probability);
    RecordProperty("ratio", std::to_string(mean / predicted));
    EXPECT_NEAR(mean, predicted, 5 * standard_error);
    EXPECT_LT(standard_error, 0.02 * predicted);
    const double unrecovered = dropout_utility(where.mixing, last_models, rounds, probability)
                                   .cwiseProduct(spatial_covariance(plan))
                                   .sum();
    EXPECT_GT(unrecovered - mean, 5 * standard_error);
}

/// Noise that the agents of `seen` sent, less what is published of it; columns are coordinates of
/// all rounds.
MatrixXd seen_noise(const NoisePlan& plan,
                    const std::vector<int>& seen,
                    const NoisePlan& unpublished) {
    constexpr Index dimension = 250, drawn = 80;
    const auto rings = rings_of(plan);
    NoiseSource source(plan, rings, 1);
    MatrixXd noise(dimension, agents), result(std::ssize(seen), dimension * drawn);
    VectorXd values(dimension);
    for (Index round = 0; round < drawn; ++round) {
        source.draw(epoch, static_cast<std::uint64_t>(round), noise);
        for (std::size_t i = 0; i < seen.size(); ++i) {
            const auto u = static_cast<std::size_t>(seen[i]);
            VectorXd sent = noise.col(seen[i]);
            for (std::size_t j = 0; j < plan.rows[u].streams.size(); ++j) {
                const int k = plan.rows[u].streams[j];
                if (std::ranges::binary_search(unpublished.rows[u].streams, k)) continue;
                const NoiseStream& stream = plan.streams[static_cast<std::size_t>(k)];
                NormalStream(rings[u].stream_key(stream.group, stream.index))
                    .fill(epoch,
                          static_cast<std::uint64_t>(round),
                          0,
                          {values.data(), static_cast<std::size_t>(dimension)});
                sent -= plan.scale * plan.rows[u].coefficients[j] * values;
            }
            result.row(static_cast<Index>(i)).segment(round * dimension, dimension) = sent;
        }
    }
    return result;
}

/// Diagonal of the inverse of the sample covariance is what is accounted for, of those who are
/// seen.
void expect_precision(const MatrixXd& noise,
                      const std::vector<int>& seen,
                      const std::vector<int>& targets,
                      const VectorXd& accounted) {
    const auto samples = static_cast<double>(noise.cols());
    const MatrixXd covariance = noise * noise.transpose() / samples;
    const VectorXd measured = covariance.inverse().diagonal();
    const double tolerance = 5 * std::sqrt(2 / samples) + 2 * agents / samples;
    for (const int target : targets) {
        const auto place = std::ranges::find(seen, target) - seen.begin();
        EXPECT_NEAR(measured(place) / accounted(target), 1, tolerance) << "agent " << target;
    }
}

TEST(MissingMessages, LeaveOfThoseThatAreSeenTheNoiseThatIsAccountedFor) {
    const NoisePlan plan = plan_for("pairs", topography());
    const std::vector<int> missing{1, 4}, there{0, 2, 3, 5, 6, 7}, all{0, 1, 2, 3, 4, 5, 6, 7};
    const DropoutPrecision accounted = dropout_precision(plan, {}, missing);
    expect_precision(seen_noise(plan, there, plan), there, there, accounted.silent);
    NoisePlan revealed = plan;
    for (const int u : there)
        revealed.rows[static_cast<std::size_t>(u)] =
            without_published(plan, missing).rows[static_cast<std::size_t>(u)];
    expect_precision(seen_noise(plan, there, revealed), there, there, accounted.revealed);
    expect_precision(
        seen_noise(plan, all, without_published(plan, missing)), all, missing, accounted.late);
    EXPECT_GT((accounted.revealed - accounted.silent)(there).minCoeff(), 0);
    EXPECT_GT((accounted.late - observed_precision(plan, {}))(missing).minCoeff(), 0);
}

}  // namespace
}  // namespace sotto
