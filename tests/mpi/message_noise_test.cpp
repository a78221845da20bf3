// Under mpiexec, any number of ranks: one agent a rank. Noise that is added to messages, measured
// on the messages that agents give to the network. Every rank calls every collective, so nothing
// between collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <map>

#include "mpi/mpi_main.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "net/network_fixtures.hpp"

namespace sotto {
namespace {

using test::NoiseRun;

/// What one agent added to its message for every receiver: one vector of all rounds' coordinates
/// each.
class NoiseByReceiver final : public RoundObserver {
  public:
    void on_message(long /*round*/, std::size_t /*local_index*/, const OwnRound& own) override {
        const Eigen::VectorXd noise = own.message - (own.before - own.step_size * own.gradient);
        auto& all = added[own.receiver];
        all.insert(all.end(), noise.begin(), noise.end());
        longest_l1 = std::max(longest_l1, own.gradient.lpNorm<1>());
        without_noise[own.receiver] = own.message - own.noise;
    }
    std::map<int, std::vector<double>> added;
    double longest_l1 = 0;                         // of all gradients
    std::map<int, Eigen::VectorXd> without_noise;  // messages of the last round

    [[nodiscard]] Eigen::Map<const Eigen::VectorXd> of(int receiver) const {
        const auto& values = added.at(receiver);
        return {values.data(), static_cast<Eigen::Index>(values.size())};
    }
};

/// Mean of a power of the noise, within 5 standard errors of what it should be; `of_twice` is the
/// mean of its square.
void expect_moment(const Eigen::VectorXd& values, double expected, double of_twice) {
    const double error =
        std::sqrt((of_twice - expected * expected) / static_cast<double>(values.size()));
    EXPECT_NEAR(values.mean(), expected, 5 * error + 1e-12);
}

NoisePlan plan_of(const std::string& mechanism, const Topography& topography) {
    return test::plan_of({mechanism, mechanism, {Utility::Kind::one_step, 1}},
                         topography,
                         test::uneven_limits(topography.graph.agents()));
}

/// Runs the mechanism on every graph and calls f(topography, plan, own agent, noise).
template <class Function>
void for_each_graph(const std::string& mechanism, double scale, Function&& f) {
    const int n = test::mpi_session().ranks();
    for (const auto& [name, graph] : test::graphs_of(n)) {
        if (!graph.connected() || name != "ring") continue;
        SCOPED_TRACE(mechanism + " on " + name);
        const Topography topography = test::metropolis_on(graph);
        const NoisePlan plan = plan_of(mechanism, topography);
        NoisePlan injected = plan;
        injected.scale *= scale;
        const auto network = make_mpi_network(test::mpi_session());
        NoiseByReceiver noise;
        RoundObserver* const observer = &noise;
        (void)test::observe_rounds(*network, topography, injected, NoiseRun{}, {&observer, 1});
        f(topography, plan, network->local_agents().front(), noise);
    }
}

/// Rows of the agent as a matrix: receivers x streams, with the plan's scale.
Eigen::MatrixXd rows_of(const NoisePlan& plan, int agent, std::vector<int>& receivers) {
    std::vector<Eigen::VectorXd> rows;
    for (const auto& row : plan.rows) {
        if (row.sender != agent) continue;
        receivers.push_back(row.receiver);
        rows.emplace_back(Eigen::Map<const Eigen::VectorXd>(
            row.coefficients.data(), static_cast<Eigen::Index>(row.coefficients.size())));
    }
    Eigen::MatrixXd matrix(static_cast<Eigen::Index>(rows.size()), rows.front().size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        matrix.row(static_cast<Eigen::Index>(i)) = rows[i].transpose();
    return plan.scale * matrix;
}

/// Whether the sample covariance over receivers is the plan's within 5 standard errors.
bool gaussian_as_planned(const NoisePlan& plan, int agent, const NoiseByReceiver& noise) {
    std::vector<int> receivers;
    const Eigen::MatrixXd q = rows_of(plan, agent, receivers);
    const Eigen::MatrixXd expected = q * q.transpose();
    bool good = true;
    for (std::size_t i = 0; i < receivers.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
            const auto x = noise.of(receivers[i]), y = noise.of(receivers[j]);
            const auto count = static_cast<double>(x.size());
            const double error = std::sqrt(
                (expected(a, a) * expected(b, b) + expected(a, b) * expected(a, b)) / count);
            good = good && std::abs(x.dot(y) / count - expected(a, b)) <=
                               5 * error + 1e-12 * expected.diagonal().maxCoeff();
        }
    return good;
}

TEST(MessageNoise, OfZipDlHasThePlannedCovarianceOverReceivers) {
    for_each_graph("zip-dl", 1, [](auto&, const NoisePlan& plan, int agent, auto& noise) {
        EXPECT_TRUE(gaussian_as_planned(plan, agent, noise));
    });
    if (test::mpi_session().ranks() > 1)
        for_each_graph("zip-dl", 1.1, [](auto&, const NoisePlan& plan, int agent, auto& noise) {
            EXPECT_FALSE(gaussian_as_planned(plan, agent, noise));
        });
}

TEST(MessageNoise, OfLaplaceMechanismsIsLaplaceOfThePlannedScale) {
    // E z^2 = 2 b^2, E z^4 = 24 b^4, E z^8 = 40320 b^8; |z| is exponential.
    for (const char* mechanism : {"homomorphic", "laplace"})
        for_each_graph(mechanism, 1, [](auto&, const NoisePlan& plan, int agent, auto& noise) {
            std::vector<int> receivers;
            const Eigen::MatrixXd q = rows_of(plan, agent, receivers);
            for (std::size_t i = 0; i < receivers.size(); ++i) {
                const double scale = q(static_cast<Eigen::Index>(i), 0);
                if (scale == 0) continue;  // nobody to send to
                const Eigen::VectorXd z = noise.of(receivers[i]) / scale;
                expect_moment(z, 0, 2);
                expect_moment(z.cwiseAbs(), 1, 2);
                expect_moment(z.array().square(), 2, 24);
                expect_moment(z.array().pow(4), 24, 40320);
                const auto tail = static_cast<double>((z.array().abs() > 3).count()) /
                                  static_cast<double>(z.size());
                const double expected = std::exp(-3.0);
                EXPECT_NEAR(
                    tail, expected, 5 * std::sqrt(expected / static_cast<double>(z.size())));
            }
        });
}

TEST(MessageNoise, CancelsInEveryRoundBeforeItReachesTheMean) {
    // sum_v w_vu q_uv = 0 on what was sent, coordinate by coordinate.
    for (const char* mechanism : {"zip-dl", "homomorphic"})
        for_each_graph(
            mechanism,
            1,
            [](const Topography& topography, const NoisePlan& plan, int agent, auto& noise) {
                Eigen::VectorXd sum = Eigen::VectorXd::Zero(noise.of(agent).size());
                double loudest = 0;
                for (const int v : topography.mixing.members(agent)) {
                    sum += topography.mixing.weight(v, agent) * noise.of(v);
                    loudest = std::max(loudest, noise.of(v).cwiseAbs().maxCoeff());
                }
                EXPECT_LE(sum.cwiseAbs().maxCoeff(), 1e-9 * loudest + 4 * plan.grid_step());
            });
}

TEST(MessageNoise, LeavesTheMeanOfAllModelsAsWithoutNoise) {
    const int n = test::mpi_session().ranks();
    const Topography topography = test::topography_of(Topology::ring, n);
    NoiseRun run;
    run.clip_norm = 1e6;  // L1 and L2 clipping leave gradients alike where neither clips
    const auto mean_after = [&](const NoisePlan& plan) {
        const auto network = make_mpi_network(test::mpi_session());
        const Eigen::MatrixXd models = test::observe_rounds(*network, topography, plan, run, {});
        return Eigen::VectorXd(network->sum_over_agents(models) / n);
    };
    const Eigen::VectorXd quiet = mean_after(plan_of("none", topography));
    for (const char* mechanism : {"zip-dl", "homomorphic"}) {
        const NoisePlan plan = plan_of(mechanism, topography);
        const double noise_std = std::sqrt(largest_message_variance(plan).maxCoeff());
        // The room that the clip leaves changes no gradient here; rounding of message and noise
        // does, by half a step each.
        EXPECT_LE((mean_after(plan) - quiet).cwiseAbs().maxCoeff(),
                  1e-9 * noise_std + static_cast<double>(run.rounds) * plan.grid_step())
            << mechanism;
    }
}

TEST(MessageNoise, HidesGradientsClippedInL1NormWhereItIsLaplace) {
    // Epsilon counts L1 changes; these gradients are many times longer, also where L2 would clip.
    const NoiseRun run;
    ASSERT_GT(test::pattern_gradient(0, run.dimension).lpNorm<1>(), 2 * run.clip_norm);
    for (const char* mechanism : {"homomorphic", "laplace"})
        for_each_graph(mechanism, 1, [&](auto&, const NoisePlan&, int, auto& noise) {
            EXPECT_LE(noise.longest_l1, run.clip_norm);
            EXPECT_GT(noise.longest_l1, 0.99 * run.clip_norm);
        });
}

TEST(MessageNoise, IsAddedToMessagesOnTheGrid) {
    // What others get is a multiple of the grid's step whatever the data; both sums are exact.
    for (const char* mechanism : {"zip-dl", "homomorphic", "laplace"})
        for_each_graph(mechanism, 1, [](auto&, const NoisePlan& plan, int agent, auto& noise) {
            for (const auto& [receiver, quiet] : noise.without_noise) {
                if (receiver == agent) continue;
                const Eigen::ArrayXd steps = quiet.array() / plan.grid_step();
                EXPECT_TRUE((steps == steps.round()).all()) << "for " << receiver;
            }
        });
}

TEST(MessageNoise, IsFreshInEveryRound) {
    for (const char* mechanism : {"zip-dl", "homomorphic", "laplace"})
        for_each_graph(
            mechanism, 1, [](auto&, const NoisePlan&, int, const NoiseByReceiver& noise) {
                const NoiseRun run;
                for (const auto& [receiver, values] : noise.added) {
                    double products = 0, squares = 0;
                    for (std::size_t i = 0;
                         i + static_cast<std::size_t>(run.dimension) < values.size();
                         ++i) {
                        const double next = values[i + static_cast<std::size_t>(run.dimension)];
                        products += values[i] * next;
                        squares += values[i] * values[i] * next * next;
                    }
                    EXPECT_LE(std::abs(products), 5 * std::sqrt(squares)) << "for " << receiver;
                }
            });
}

}  // namespace
}  // namespace sotto
