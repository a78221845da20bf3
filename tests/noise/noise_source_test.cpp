#include "noise/noise_source.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "agent/agent_fixtures.hpp"
#include "core/seeded_random.hpp"
#include "core/weighted_sum.hpp"

namespace sotto {
namespace {

using test::noisy_agents;
using test::privacy_error_of;

TEST(RoundGate, LetsEveryRoundBeginOnceInAscendingOrder) {
    RoundGate gate("noise");
    gate.begin(0, 0);
    gate.begin(0, 5);
    gate.begin(2, 1);
    EXPECT_EQ(
        privacy_error_of([&] { gate.begin(2, 1); }),
        "noise: round 1 of key epoch 2 is not allowed (above round 1 of key epoch 2: noise is "
        "drawn once, or the difference of two messages would be without any)");
    EXPECT_NE(privacy_error_of([&] { gate.begin(2, 0); }), "");
    EXPECT_NE(privacy_error_of([&] { gate.begin(1, 9); }), "");
    EXPECT_EQ(privacy_error_of([&] { gate.begin(2, 2); }), "");
}

TEST(RoundGate, LetsOneInAtATime) {
    const RoundGate gate("training");
    {
        const RoundGate::Stay stay = gate.enter();
        EXPECT_NE(privacy_error_of([&] {
                      static_cast<void>(gate.enter());
                  }).find("training: a call is not allowed while another one is under way"),
                  std::string::npos);
    }
    std::atomic<int> inside = 0, most = 0, entered = 0, refused = 0;
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k)
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) try {
                    const RoundGate::Stay stay = gate.enter();
                    if (++inside > most) most = inside.load();
                    ++entered;
                    --inside;
                } catch (const PrivacyError&) {
                    ++refused;
                }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(entered + refused, 8000);
    EXPECT_GT(entered, 0);
}

TEST(RoundGate, LetsNothingInToAProcessThatWasForked) {
    const RoundGate gate("agent");
    EXPECT_TRUE(gate.in_its_process());
    const pid_t child = fork();
    if (child == 0) {
        const std::string said = privacy_error_of([&] { static_cast<void>(gate.enter()); });
        _exit(!gate.in_its_process() && said.find("forked") != std::string::npos ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(privacy_error_of([&] { static_cast<void>(gate.enter()); }), "");
}

TEST(RoundGate, KeepsItsRoundsWhereItIsMovedTo) {
    RoundGate from("noise");
    from.begin(1, 4);
    RoundGate to(std::move(from));
    EXPECT_NE(privacy_error_of([&] { to.begin(1, 4); }), "");
    EXPECT_FALSE(from.in_its_process());  // NOLINT(bugprone-use-after-move)
    EXPECT_NE(privacy_error_of([&] { static_cast<void>(from.enter()); }), "");
}

constexpr std::uint64_t noise_seed = 4;

std::vector<KeyRing> rings_of(const NoisePlan& plan) {
    const auto network = make_memory_network(plan.agents, 1);
    return distribute_seeds(*network, plan, noise_seed);
}

/// One agent's noise, from whole streams side by side: no tiles, no sharing, no threads.
Eigen::VectorXd direct_noise(const NoisePlan& plan,
                             const KeyRing& ring,
                             std::uint32_t epoch,
                             std::uint64_t round,
                             Eigen::Index dimension) {
    Eigen::VectorXd result = Eigen::VectorXd::Zero(dimension);
    for (const auto& row : plan.rows) {
        if (row.sender != ring.agent()) continue;
        Eigen::MatrixXd streams(dimension, static_cast<Eigen::Index>(row.streams.size()));
        std::vector<const double*> columns;
        std::vector<double> weights;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const auto& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
            auto column = streams.col(static_cast<Eigen::Index>(j));
            NormalStream(ring.stream_key(stream.group, stream.index))
                .fill(epoch, round, 0, {column.data(), static_cast<std::size_t>(dimension)});
            columns.push_back(column.data());
            weights.push_back(row.coefficients[j] * plan.scale);
        }
        const std::span<double> out(result.data(), static_cast<std::size_t>(dimension));
        weighted_sum(columns, weights, out);
        round_to_grid(out, plan.grid_step());
    }
    return result;
}

/// Of every mechanism with independent rounds, or with correlated ones.
std::vector<NoisePlan> plans(bool correlated = false) {
    const Topography topography = test::topography_of(Topology::erdos_renyi, noisy_agents, 0.3);
    std::vector<NoisePlan> result;
    for (const auto& entry : test::mechanism_cases())
        if (find_mechanism("mechanism", entry.mechanism).correlates_rounds == correlated)
            result.push_back(test::plan_of(entry, topography, test::uneven_limits(noisy_agents)));
    return result;
}

TEST(NoiseSource, GivesWhatThePlanSaysForEveryDimensionAndNumberOfThreads) {
    // 20 and more streams: tiles of a few thousand coordinates, so 20000 takes several.
    for (const NoisePlan& plan : plans()) {
        const auto rings = rings_of(plan);
        for (const int threads : {1, 2, 3}) {
            for (const Eigen::Index d : {1, 63, 64, 65, 1000, 20000}) {
                NoiseSource source(plan, rings, threads);
                Eigen::MatrixXd noise = Eigen::MatrixXd::Constant(d, noisy_agents, 7);
                source.draw(3, 11, noise);
                for (int u = 0; u < noisy_agents; ++u)
                    ASSERT_TRUE(noise.col(u) ==
                                direct_noise(plan, rings[static_cast<std::size_t>(u)], 3, 11, d))
                        << plan.mechanism << ", agent " << u << ", dimension " << d << ", "
                        << threads << " threads";
            }
        }
    }
}

TEST(NoiseSource, RoundsAllNoiseToTheGridHoweverUnevenAnHonestPlanIs) {
    // Models that hardly keep anything of their own: homomorphic's own copies carry 2^14 times the
    // noise of its messages, which a grid of 2^-40 of the messages' would not round.
    const Graph graph = Graph::from_edges(2, {{0, 1}});
    constexpr double own = 0x1p-14;
    const MixingMatrix mixing = MixingMatrix::from_dense(
        graph, (Eigen::MatrixXd(2, 2) << own, 1 - own, 1 - own, own).finished());
    DesignInput input;
    input.graph = &graph;
    input.mixing = &mixing;
    input.rounds = 3;
    input.kappa = Eigen::VectorXd::Ones(2);
    for (const char* mechanism : {"homomorphic", "zip-dl"}) {
        const NoisePlan plan = find_mechanism("mechanism", mechanism).design(input).plan;
        const auto rings = rings_of(plan);
        NoiseSource source(plan, rings, 1);
        Eigen::MatrixXd noise(20'000, static_cast<Eigen::Index>(source.outputs().size()));
        source.draw(0, 0, noise);
        EXPECT_GT(noise.cwiseAbs().maxCoeff(), 0x1p12 * noise.col(1).cwiseAbs().mean());
        for (const double value : noise.reshaped()) {
            const double steps = value / plan.grid_step();
            ASSERT_EQ(steps, std::nearbyint(steps)) << mechanism;
            ASSERT_LT(std::abs(steps), 0x1p51) << mechanism;
        }
    }
}

/// Factors of 9 rounds: prefix sums (banded inverse), two subdiagonals, full, diagonal,
/// one lag.
std::vector<TemporalFactor> temporal_factors() {
    constexpr Eigen::Index rounds = 9;
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(rounds, rounds);
    sums.triangularView<Eigen::Lower>().setOnes();
    Eigen::MatrixXd banded(rounds, 3), full = Eigen::MatrixXd::Zero(rounds, rounds);
    SeededRandom random(5, "temporal factors");
    for (Eigen::Index t = 0; t < rounds; ++t) {
        banded.row(t) << 1 + random.uniform(), random.normal(), random.normal();
        for (Eigen::Index s = 0; s <= t; ++s) full(t, s) = s == t ? 2 : random.normal();
    }
    const Eigen::MatrixXd diagonal = full.diagonal().asDiagonal();
    Eigen::MatrixXd one_lag(rounds, 2);
    for (Eigen::Index t = 0; t < rounds; ++t)
        one_lag.row(t) << 1 + random.uniform(), t == 4 ? 0.0 : random.normal();
    return {{TemporalFactor::Kind::dense, sums},
            {TemporalFactor::Kind::banded, banded},
            {TemporalFactor::Kind::dense, full},
            {TemporalFactor::Kind::dense, diagonal},
            {TemporalFactor::Kind::one_lag, one_lag}};
}

TEST(NoiseSource, CorrelatesRoundsAsTheTemporalFactorSaysAlsoWhereRoundsAreLeftOut) {
    constexpr Eigen::Index rounds = 9;
    for (NoisePlan plan : plans()) {
        if (plan.mechanism != "ldp" && plan.mechanism != "pairs") continue;
        plan.grid_step_log2 -= 20;  // rounding to the grid is not what is compared
        const auto rings = rings_of(plan);
        for (const Eigen::Index d : {5, 7000}) {  // one tile, and two
            std::vector<Eigen::MatrixXd> fresh(rounds, Eigen::MatrixXd(d, noisy_agents));
            NoiseSource independent(plan, rings, 1);
            for (Eigen::Index t = 0; t < rounds; ++t)
                independent.draw(
                    1, static_cast<std::uint64_t>(t), fresh[static_cast<std::size_t>(t)]);
            for (const TemporalFactor& factor : temporal_factors()) {
                NoisePlan correlated = plan;
                correlated.temporal = factor;
                const Eigen::MatrixXd inverse = dense_factor(factor, rounds).inverse();
                NoiseSource source(correlated, rings, 2);
                Eigen::MatrixXd noise(d, noisy_agents), again(d, noisy_agents);
                for (Eigen::Index t = 0; t < rounds; ++t) {
                    source.draw(1, static_cast<std::uint64_t>(t), noise);
                    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(d, noisy_agents);
                    for (Eigen::Index s = 0; s <= t; ++s)
                        expected += inverse(t, s) * fresh[static_cast<std::size_t>(s)];
                    EXPECT_LT((noise - expected).cwiseAbs().maxCoeff(),
                              1e-9 * (1 + expected.cwiseAbs().maxCoeff()))
                        << plan.mechanism << ", round " << t;
                    if (t % 4 == 3) {  // another epoch before, and no earlier round
                        NoiseSource jumping(correlated, rings, 1);
                        jumping.draw(0, 1, again);
                        EXPECT_FALSE(again == noise);
                        jumping.draw(1, static_cast<std::uint64_t>(t), again);
                        EXPECT_TRUE(again == noise) << plan.mechanism << ", round " << t;
                    }
                }
                EXPECT_THROW(source.draw(1, rounds, noise), PrivacyError);
            }
        }
    }
}

TEST(NoiseSource, GivesOneAgentAloneTheSameAsAmongOthers) {
    for (const NoisePlan& plan : plans()) {
        const auto rings = rings_of(plan);
        NoiseSource together(plan, rings, 1);
        Eigen::MatrixXd all(5000, noisy_agents);
        together.draw(0, 2, all);
        int drawn = 0;
        for (int u = 0; u < noisy_agents; ++u) {
            NoiseSource alone(plan, {&rings[static_cast<std::size_t>(u)], 1}, 1);
            Eigen::MatrixXd own(5000, 1);
            alone.draw(0, 2, own);
            EXPECT_TRUE(own.col(0) == all.col(u)) << plan.mechanism << ", agent " << u;
            drawn += alone.streams();
        }
        EXPECT_EQ(together.streams(), static_cast<int>(plan.streams.size()));
        EXPECT_GE(drawn, together.streams());
    }
}

TEST(NoiseSource, GivesOtherNoiseInEveryRoundAndEpoch) {
    for (const NoisePlan& plan : plans()) {
        if (plan.noiseless()) continue;
        const auto rings = rings_of(plan);
        NoiseSource source(plan, rings, 1);
        std::vector<Eigen::VectorXd> seen;
        for (const std::uint32_t epoch : {0u, 1u})
            for (const std::uint64_t round : {0ull, 1ull, 2ull, 1ull << 32, (1ull << 32) + 1}) {
                Eigen::MatrixXd noise(100, noisy_agents);
                source.draw(epoch, round, noise);
                for (const auto& other : seen)
                    EXPECT_GT((noise.col(0) - other).cwiseAbs().maxCoeff(), 1e-3);
                seen.emplace_back(noise.col(0));
                Eigen::MatrixXd again(100, noisy_agents);
                NoiseSource(plan, rings, 1).draw(epoch, round, again);
                EXPECT_TRUE(again == noise);
            }
    }
}

TEST(NoiseSource, NeedsTheSeedsOfItsAgents) {
    for (const NoisePlan& plan : plans()) {
        if (plan.noiseless()) continue;
        std::vector<KeyRing> empty;
        empty.emplace_back(0);
        EXPECT_THROW(NoiseSource(plan, empty, 1), CryptoError) << plan.mechanism;
    }
}

TEST(NoiseSource, KeepsAFewMegabytesWhateverTheDimension) {
    for (const NoisePlan& plan : plans()) {
        const NoiseSource source(plan, rings_of(plan), 1);
        for (const Eigen::Index dimension : {100, 100000, 100000000})
            EXPECT_LE(source.memory_bytes(dimension), 1 << 20) << plan.mechanism;
    }
}

TEST(NoiseSource, GivesTheSameBitsWhetherThePastIsKeptOrDrawnAgain) {
    int drawn_again = 0;
    for (const NoisePlan& plan : plans(true)) {
        const auto rings = rings_of(plan);
        NoiseSource kept(plan, rings, 2), again(plan, rings, 2, 0);
        constexpr Eigen::Index dimension = 3000;
        EXPECT_FALSE(kept.draws_past_again(dimension));
        if (again.draws_past_again(dimension)) ++drawn_again;
        const auto outputs = static_cast<Eigen::Index>(kept.outputs().size());
        Eigen::MatrixXd a(dimension, outputs), b(dimension, outputs);
        const auto rounds = static_cast<std::uint64_t>(plan.temporal.lower.rows());
        for (std::uint64_t round = 0; round < std::min<std::uint64_t>(rounds, 12); ++round) {
            kept.draw(1, round, a);
            again.draw(1, round, b);
            EXPECT_TRUE(a == b) << plan.mechanism << ", round " << round;
        }
        // Rounds before it are left out.
        NoiseSource(plan, rings, 2, 0).draw(1, 2, b);
        NoiseSource(plan, rings, 2).draw(1, 2, a);
        EXPECT_TRUE(a == b) << plan.mechanism;
        if (again.draws_past_again(dimension)) {
            EXPECT_LT(again.memory_bytes(50000000), 200 << 20) << plan.mechanism;
        }
    }
    EXPECT_GE(drawn_again, 3);  // dense, restarted and one-lag factors
}

/// Of 70 rounds: all of the past, 40 rounds of fresh noise, 40 rounds of noise.
std::vector<TemporalFactor> factors_of_many_lags() {
    constexpr Eigen::Index rounds = 70, lags = 40;
    Eigen::MatrixXd full = Eigen::MatrixXd::Identity(rounds, rounds);
    for (Eigen::Index t = 0; t < rounds; ++t)
        for (Eigen::Index s = 0; s < t; ++s)
            full(t, s) =
                0.3 * std::sin(static_cast<double>(7 * t + 3 * s)) / static_cast<double>(t - s);
    Eigen::MatrixXd band = full;
    for (Eigen::Index t = 0; t < rounds; ++t) band.row(t).head(std::max(0L, t - lags)).setZero();
    return {{TemporalFactor::Kind::dense, full},
            {TemporalFactor::Kind::dense,
             band.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(rounds, rounds))},
            {TemporalFactor::Kind::dense, band}};
}

TEST(NoiseSource, SumsManyLagsOfSeveralRoundsAtOnceToTheSameBits) {
    constexpr Eigen::Index dimension = 150;
    std::vector<NoisePlan> all = plans();
    const auto ldp = std::ranges::find(all, "ldp", &NoisePlan::mechanism);
    ASSERT_NE(ldp, all.end());
    ldp->grid_step_log2 -= 20;
    const auto rings = rings_of(*ldp);
    std::vector<int> lags;
    for (const TemporalFactor& factor : factors_of_many_lags()) {
        NoisePlan plan = *ldp;
        plan.temporal = factor;
        const auto rounds = static_cast<std::uint64_t>(factor.lower.rows());
        NoiseSource kept(plan, rings, 2), again(plan, rings, 1, 0), independent(*ldp, rings, 1);
        lags.push_back(kept.lags());
        EXPECT_GT(kept.memory_bytes(100000) - kept.memory_bytes(50000),
                  50000L * noisy_agents * kept.lags() * static_cast<long>(sizeof(double)));
        Eigen::MatrixXd a(dimension, noisy_agents), b(dimension, noisy_agents);
        Eigen::MatrixXd fresh(dimension * noisy_agents, factor.lower.rows()), drawn = fresh;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const auto t = static_cast<Eigen::Index>(round);
            kept.draw(1, round, a);
            again.draw(1, round, b);
            EXPECT_TRUE(a == b) << kept.lags() << " lags, round " << round;
            drawn.col(t) = a.reshaped();
            independent.draw(1, round, b);
            fresh.col(t) = b.reshaped();
        }
        const Eigen::MatrixXd left = drawn * factor.lower.transpose() - fresh;
        EXPECT_LT(left.cwiseAbs().maxCoeff(), 1e-9 * fresh.cwiseAbs().maxCoeff());
        NoiseSource some(plan, rings, 2);
        for (const std::uint64_t round : {8, 33, 34, 69}) {  // others are left out
            some.draw(1, round, a);
            EXPECT_TRUE(a.reshaped() == drawn.col(static_cast<Eigen::Index>(round))) << round;
        }
    }
    EXPECT_EQ(lags, (std::vector{69, 40, 40}));
}

/// So many pieces of a round. @return whether more are left.
bool draw_pieces(NoiseSource& source,
                 std::uint64_t round,
                 int pieces,
                 Eigen::Ref<Eigen::MatrixXd> noise) {
    source.begin(1, round, noise.rows());
    bool more = true;
    for (int piece = 0; more && piece < pieces; ++piece) more = source.draw_piece(noise);
    return more;
}

TEST(NoiseSource, GivesTheSameBitsInPiecesAndAfterARoundThatWasLeft) {
    constexpr Eigen::Index dimension = 7000;  // two tiles and more
    int left = 0;
    for (const bool correlated : {false, true})
        for (const NoisePlan& plan : plans(correlated)) {
            const auto rings = rings_of(plan);
            for (const std::int64_t most_past_bytes : {std::int64_t{0}, std::int64_t{1} << 30}) {
                NoiseSource whole(plan, rings, 1, most_past_bytes);
                NoiseSource pieces(plan, rings, 1, most_past_bytes);
                const auto outputs = static_cast<Eigen::Index>(whole.outputs().size());
                Eigen::MatrixXd a(dimension, outputs), b(dimension, outputs);
                for (std::uint64_t round = 0; round < 8; ++round) {
                    whole.draw(1, round, a);
                    if (round % 3 == 1) {  // left in the middle, for the next one
                        if (draw_pieces(pieces, round, 1, b)) ++left;
                        continue;
                    }
                    EXPECT_FALSE(draw_pieces(pieces, round, 1000, b)) << plan.mechanism;
                    // And no more than that.
                    EXPECT_FALSE(pieces.draw_piece(b)) << plan.mechanism;
                    ASSERT_TRUE(a == b) << plan.mechanism << ", round " << round;
                }
            }
        }
    EXPECT_GE(left, 10);
}

/// Of two agents of one process, with independent rounds or, with a past, correlated ones.
NoisePlan small_plan(bool with_past) {
    std::vector<NoisePlan> all = plans();
    NoisePlan plan = *std::ranges::find(all, "ldp", &NoisePlan::mechanism);
    if (with_past) plan.temporal = temporal_factors()[2];
    return plan;
}

TEST(NoiseSource, GivesEveryRoundOnceAndInAscendingOrder) {
    constexpr Eigen::Index dimension = 7000;
    for (const bool with_past : {false, true})
        for (const std::int64_t most_past_bytes : {std::int64_t{0}, std::int64_t{1} << 30}) {
            const NoisePlan plan = small_plan(with_past);
            NoiseSource source(plan, rings_of(plan), 1, most_past_bytes);
            Eigen::MatrixXd first(dimension, noisy_agents);
            source.draw(1, 3, first);
            const Eigen::MatrixXd untouched = Eigen::MatrixXd::Constant(dimension, noisy_agents, 7);
            Eigen::MatrixXd second = untouched;
            for (const auto& [epoch, round] :
                 {std::pair{1u, 3ull}, {1u, 2ull}, {0u, 3ull}, {0u, 8ull}, {1u, 0ull}}) {
                EXPECT_THROW(source.draw(epoch, round, second), PrivacyError)
                    << epoch << ", " << round;
                EXPECT_THROW(source.begin(epoch, round, dimension), PrivacyError);
                EXPECT_TRUE(second == untouched);
            }
            source.draw(1, 4, second);
            EXPECT_FALSE(second == first);
            source.draw(2, 0, second);  // of another key epoch
        }
}

TEST(NoiseSource, GivesARoundThatWasLeftToNobodyElse) {
    const NoisePlan plan = small_plan(false);
    constexpr Eigen::Index dimension = 7000;  // two tiles and more
    NoiseSource source(plan, rings_of(plan), 1);
    Eigen::MatrixXd first = Eigen::MatrixXd::Zero(dimension, noisy_agents), second = first;
    source.begin(0, 0, dimension);
    EXPECT_TRUE(source.draw_piece(first));
    EXPECT_THROW(static_cast<void>(source.draw_piece(second)), PrivacyError);
    EXPECT_THROW(source.begin(0, 0, dimension), PrivacyError);
    EXPECT_TRUE(second.isZero(0));
}

TEST(NoiseSource, GivesNothingToAProcessThatWasForked) {
    const NoisePlan plan = small_plan(false);
    const auto rings = rings_of(plan);
    constexpr Eigen::Index dimension = 7000;
    NoiseSource source(plan, rings, 1), begun(plan, rings, 1);
    Eigen::MatrixXd noise = Eigen::MatrixXd::Zero(dimension, noisy_agents);
    begun.begin(0, 0, dimension);
    EXPECT_TRUE(begun.draw_piece(noise));
    const auto refused = [](auto&& use) {
        try {
            use();
        } catch (const PrivacyError& error) {
            return std::string(error.what()).find("forked") != std::string::npos;
        }
        return false;
    };
    const pid_t child = fork();
    if (child == 0)
        _exit(refused([&] { source.draw(0, 0, noise); }) &&
                      refused([&] { static_cast<void>(begun.draw_piece(noise)); })
                  ? 0
                  : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_NO_THROW(source.draw(0, 0, noise));
}

TEST(NoiseSource, CannotBeCopied) {
    EXPECT_FALSE(std::is_copy_constructible_v<NoiseSource>);
    EXPECT_FALSE(std::is_copy_assignable_v<NoiseSource>);
}

/// Values of every size below 2^49 steps, of both signs, and ties.
std::vector<double> samples(double step) {
    SeededRandom random(1, "test.agent.grid");
    std::vector<double> values{0.0,
                               -0.0,
                               step,
                               -step,
                               0.5 * step,
                               -0.5 * step,
                               1.5 * step,
                               2.5 * step,
                               -2.5 * step,
                               1e-300,
                               -1e-300};
    for (int i = 0; i < 20000; ++i) {
        const double size =
            std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(100)) - 50);
        values.push_back(size * step);
    }
    return values;
}

TEST(RoundToGrid, GivesTheNearestMultipleAndTiesToEven) {
    for (const int exponent : {-60, -20, 0, 13}) {
        const double step = std::ldexp(1.0, exponent);
        const std::vector<double> values = samples(step);
        std::vector<double> rounded = values;
        round_to_grid(rounded, step);
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_EQ(rounded[i], std::nearbyint(values[i] / step) * step)
                << values[i] << ", step 2^" << exponent;
    }
}

TEST(RoundMessageToGrid, RoundsValuesOfEverySize) {
    SeededRandom random(3, "test.agent.grid");
    for (const int exponent : {-60, -20, 13}) {
        const double step = std::ldexp(1.0, exponent);
        std::vector<double> values = samples(step);
        for (int bits = 48; bits < 60; ++bits)
            for (int i = 0; i < 200; ++i)
                values.push_back(std::ldexp(random.uniform() - 0.5, bits + 1) * step);
        std::vector<double> rounded = values;
        round_message_to_grid(rounded, step);
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_EQ(rounded[i], std::nearbyint(values[i] / step) * step)
                << values[i] << ", step 2^" << exponent;
    }
}

TEST(TruncateToGrid, GivesTheNextMultipleTowardZero) {
    for (const int exponent : {-60, -20, 0, 13}) {
        const double step = std::ldexp(1.0, exponent);
        const std::vector<double> values = samples(step);
        std::vector<double> truncated = values;
        truncate_to_grid(truncated, step);
        for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_EQ(truncated[i], std::trunc(truncated[i] / step) * step);
            EXPECT_LE(std::abs(truncated[i]), std::abs(values[i]));
            EXPECT_LT(std::abs(values[i] - truncated[i]), step);
            EXPECT_FALSE(truncated[i] * values[i] < 0);
        }
    }
}

TEST(TruncateToGrid, LeavesMultiplesAlone) {
    SeededRandom random(2, "test.agent.grid");
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i)
        values.push_back(std::ldexp(static_cast<double>(random.below(1ull << 50)) - 0x1p49, -20));
    for (const auto change : {round_to_grid, truncate_to_grid}) {
        std::vector<double> changed = values;
        change(changed, 0x1p-20);
        EXPECT_EQ(changed, values);
    }
}

}  // namespace
}  // namespace sotto
