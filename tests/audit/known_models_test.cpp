#include "audit/known_models.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "audit/canary_record_fixtures.hpp"
#include "audit/recording_run.hpp"
#include "config/run_fixtures.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"

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
        const KnownModels known = read_known_models(run.views(),
                                                    {View::Kind::neighbours, {1}},
                                                    run.plan(),
                                                    Correction::none,
                                                    run.made().run.rounds,
                                                    first);
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
    const KnownModels known = read_known_models(run.views(),
                                                {View::Kind::all_messages, {}},
                                                run.plan(),
                                                Correction::none,
                                                run.made().run.rounds,
                                                1);
    EXPECT_EQ(known.heard, std::vector<bool>(RecordingRun::agents, true));
    for (int u = 0; u < RecordingRun::agents; ++u) {
        const Eigen::VectorXd expected = mean_of(run.view_of(u), 1, message);
        EXPECT_LE((known.models.col(u) - expected).norm(), 1e-12 * expected.norm()) << u;
    }
}

TEST(KnownModels, OfSecureSumsAreTheMembersOwn) {
    const RecordingRun run({"Sums", "decor", 1, true});
    const KnownModels known = read_known_models(run.views(),
                                                {View::Kind::secure_sum, {1, 2}},
                                                run.plan(),
                                                Correction::none,
                                                run.made().run.rounds,
                                                0);
    EXPECT_EQ(known.heard, std::vector<bool>(RecordingRun::agents, false));
    const Eigen::VectorXd expected =
        (mean_of(run.view_of(1), 0, before) + mean_of(run.view_of(2), 0, before)) / 2;
    EXPECT_LE((known.models.colwise() - expected).norm(), 1e-12 * expected.norm());
}

TEST(KnownModels, OfAnotherRunAreRefused) {
    const RecordingRun run({"Messages", "decor"}), other({"Other", "ldp"});
    const auto read = [&](const NoisePlan& plan, long rounds) {
        return test::message_of<DataError>([&] {
            (void)read_known_models(
                run.views(), {View::Kind::neighbours, {1}}, plan, Correction::none, rounds, 0);
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

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rounds of which two modes show sums, with orthogonal columns.
Eigen::SparseMatrix<double> two_modes() {
    MatrixXd response(3, 2);
    response << 1, 2, 2, -1, 0.5, 0;
    return response.sparseView();
}

/// Expectation of f(z - mean) over all coins of one record, z less its noise.
template <class Function>
double expected(const Eigen::SparseMatrix<double>& response,
                double contribution,
                double q,
                const VectorXd& mean,
                Function&& function) {
    const MatrixXd dense(response);
    double sum = 0;
    for (int coins = 0; coins < 8; ++coins) {
        VectorXd drawn(3);
        double probability = 1;
        for (int t = 0; t < 3; ++t) {
            drawn(t) = (coins >> t) & 1;
            probability *= drawn(t) > 0 ? q : 1 - q;
        }
        sum += probability * function(VectorXd(contribution * dense.transpose() * drawn - mean));
    }
    return sum;
}

TEST(CoinModel, HasTheMomentsOfAllCoins) {
    const auto response = two_modes();
    const double contribution = 0.7, q = 0.3;
    const CoinModel model(response, contribution, {q}, 1);
    const auto over = [&](auto&& function) {
        return expected(response, contribution, q, model.mean(), function);
    };
    for (Index k = 0; k < 2; ++k) {
        EXPECT_NEAR(over([&](const VectorXd& z) { return z(k); }), 0, 1e-12);
        EXPECT_NEAR(
            model.variance()(k), 1 + over([&](const VectorXd& z) { return z(k) * z(k); }), 1e-12);
    }
    // Noise n is normal: E (z + n)^4 = E z^4 + 6 E z^2 + 3.
    const VectorXd weights = VectorXd{{0.4, 1.1}};
    const double length = weights.squaredNorm();
    const double second = over([&](const VectorXd& z) { return std::pow(weights.dot(z), 2); });
    const double fourth = over([&](const VectorXd& z) { return std::pow(weights.dot(z), 4); });
    EXPECT_NEAR(model.variance_of_square(weights),
                fourth + 6 * length * second + 3 * length * length - std::pow(second + length, 2),
                1e-12);
    // sum_k w_k (z_k + n_k)^2: variances of z part, of cross terms and of noise.
    const auto squares = [&](const VectorXd& z) { return weights.dot(z.cwiseAbs2()); };
    const double mean = over(squares);
    const double variance = over([&](const VectorXd& z) { return std::pow(squares(z) - mean, 2); });
    const double cross =
        4 * over([&](const VectorXd& z) { return z.cwiseProduct(weights).squaredNorm(); });
    // Columns of the response are orthogonal, which the formula counts on.
    EXPECT_NEAR(model.variance_of_squares(weights), variance + cross + 2 * length, 1e-12);
}

TEST(CoinModel, OfManyRecordsAddsThemUp) {
    const auto response = two_modes();
    const CoinModel one(response, 0.7, {0.3}, 1), many(response, 0.7, {0.3}, 9);
    EXPECT_NEAR((many.mean() - 9 * one.mean()).norm(), 0, 1e-12);
    EXPECT_NEAR(
        (many.variance() - VectorXd::Ones(2) - 9 * (one.variance() - VectorXd::Ones(2))).norm(),
        0,
        1e-12);
}

/// Rounds in epochs of two, of which the last is cut: expectation over the places of one record.
template <class Function>
double expected_of_places(const VectorXd& shown, const VectorXd& mean, Function&& function) {
    double sum = 0;
    for (int places = 0; places < 8; ++places) {
        VectorXd taken = VectorXd::Zero(5);
        for (int epoch = 0; epoch < 3; ++epoch)
            if (const int round = 2 * epoch + (places >> epoch & 1); round < 5) taken(round) = 1;
        sum += function(VectorXd(shown.cwiseProduct(taken) - mean)) / 8;
    }
    return sum;
}

TEST(CoinModel, HasTheMomentsOfAllPlacesOfRandomAllocation) {
    const VectorXd shown{{0.6, 0.9, 1.1, 0.4, 0.8}};
    Eigen::SparseMatrix<double> response(5, 5);
    for (Index t = 0; t < 5; ++t) response.insert(t, t) = shown(t) / 0.7;
    const CoinModel model(response, 0.7, {0.5, 2}, 1);
    const auto over = [&](auto&& function) {
        return expected_of_places(shown, model.mean(), function);
    };
    const VectorXd weights{{0.4, 1.1, 0.7, 0.9, 0.5}};
    const double length = weights.squaredNorm();
    const double second = over([&](const VectorXd& z) { return std::pow(weights.dot(z), 2); });
    const double fourth = over([&](const VectorXd& z) { return std::pow(weights.dot(z), 4); });
    EXPECT_NEAR(over([&](const VectorXd& z) { return weights.dot(z); }), 0, 1e-12);
    EXPECT_NEAR(model.variance_of_sum(weights), length + second, 1e-12);
    EXPECT_NEAR(model.variance_of_square(weights),
                fourth + 6 * length * second + 3 * length * length - std::pow(second + length, 2),
                1e-12);
    const auto squares = [&](const VectorXd& z) { return weights.dot(z.cwiseAbs2()); };
    const double mean = over(squares);
    const double variance = over([&](const VectorXd& z) { return std::pow(squares(z) - mean, 2); });
    const double cross =
        4 * over([&](const VectorXd& z) { return z.cwiseProduct(weights).squaredNorm(); });
    EXPECT_NEAR(model.variance_of_squares(weights), variance + cross + 2 * length, 1e-12);
    MatrixXd covariance = MatrixXd::Identity(5, 5);
    for (Index s = 0; s < 5; ++s)
        for (Index t = 0; t < 5; ++t)
            covariance(s, t) += over([&](const VectorXd& z) { return z(s) * z(t); });
    EXPECT_NEAR(model.normal_variance_of_squares(weights),
                2 * (weights.asDiagonal() * covariance)
                        .eval()
                        .cwiseProduct((covariance * weights.asDiagonal()).eval())
                        .sum(),
                1e-12);
    MatrixXd of_places = MatrixXd::Zero(2, 2);
    for (Index s = 0; s < 5; ++s)
        for (Index t = 0; t < 5; ++t) of_places(s % 2, t % 2) += covariance(s, t);
    EXPECT_NEAR((model.covariance_of_places() - of_places).norm(), 0, 1e-12);
}

TEST(CheckOfMean, IsANormalTest) {
    const CoinCheck check = check_of_mean("a", 20 + 1.959963985 * 3, 20, 9, 10);
    EXPECT_NEAR(check.p_value, 0.05, 1e-8);
    EXPECT_NEAR(check.expected, 2, 1e-12);
    EXPECT_NEAR(check.standard_error, 0.3, 1e-12);
}

TEST(CheckOfSquares, IsChiSquaredForNormalValues) {
    // 10 values of variance 4: the upper 2.5% of chi-squared with 10 degrees of freedom is 20.483.
    const CoinCheck check = check_of_squares("b", 4 * 20.4831773, 40, 2 * 10 * 16);
    EXPECT_NEAR(check.p_value, 0.05, 1e-6);
    EXPECT_NEAR(check.measured, 2.04831773, 1e-6);
    EXPECT_EQ(check.expected, 1);
}

/// How a record's rounds are drawn.
enum class Draws { coins, places, same_place, twice };

/// Modes that are rounds, of canaries and companions with coins of this probability, or in epochs.
struct Simulated {
    ContributionModes modes;
    CoinSubject subject;
    KnownCoins own;

    /// @param response of a mode to a unit contribution.
    Simulated(double q,
              double accounted,
              std::uint64_t seed,
              long epoch = 1,
              Draws draws = {},
              double response = 1.5) {
        constexpr Index rounds = 40, trials = 400;
        SeededRandom random(seed, "coin checks");
        // Whether the next record takes part, by round.
        std::vector<bool> taken(rounds);
        const auto draw = [&] {
            if (draws == Draws::coins)
                for (Index t = 0; t < rounds; ++t)
                    taken[static_cast<std::size_t>(t)] = random.uniform() < q;
            if (draws == Draws::coins) return;
            taken.assign(rounds, false);
            const auto places = static_cast<std::uint64_t>(epoch);
            const auto first = random.below(places);
            for (long begin = 0; begin < rounds; begin += epoch) {
                const auto place = draws == Draws::same_place ? first : random.below(places);
                taken[static_cast<std::size_t>(begin) + place] = true;
                if (draws == Draws::twice)  // every other record in two rounds, the rest in none
                    taken[static_cast<std::size_t>(begin) + place] = random.below(2) == 0;
                if (draws == Draws::twice && taken[static_cast<std::size_t>(begin) + place])
                    taken[static_cast<std::size_t>(begin) + (place + 1) % places] = true;
            }
        };
        subject = {.signs = VectorXd(trials),
                   .companions = 300,
                   .contribution = 0.5,
                   .secret = {accounted, epoch},
                   .known = {}};
        modes.by_round = true;
        modes.response.resize(rounds, rounds);
        for (Index t = 0; t < rounds; ++t) modes.response.insert(t, t) = response;
        modes.values.resize(rounds, trials + 1);
        for (double& z : modes.values.reshaped()) z = random.normal();
        own = {"its own coins", MatrixXd::Zero(rounds, trials)};
        for (Index i = 0; i <= trials; ++i) {
            if (i < trials) subject.signs(i) = random.below(2) == 0 ? -1 : 1;
            for (int record = 0; record < (i < trials ? 1 : 300); ++record) {
                draw();
                for (Index t = 0; t < rounds; ++t) {
                    if (!taken[static_cast<std::size_t>(t)]) continue;
                    if (i < trials) own.drawn(t, i) = 1;
                    if (i == trials || subject.signs(i) > 0) modes.values(t, i) += 0.5 * response;
                }
            }
        }
    }
    [[nodiscard]] double smallest_p() const {
        return std::ranges::min_element(checks(), {}, &CoinCheck::p_value)->p_value;
    }
    [[nodiscard]] const std::vector<CoinCheck>& checks() const {
        checks_ = check_coins(modes, subject);
        return checks_;
    }

  private:
    mutable std::vector<CoinCheck> checks_;
};

TEST(CheckCoins, PassesIndependentCoins) {
    // The smallest of 8 p-values is below .01 in one run of 12.
    int small = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        small += Simulated(0.2, 0.2, seed).smallest_p() < 0.01 ? 1 : 0;
    EXPECT_LE(small, 12);
}

TEST(CheckCoins, PassesRandomAllocationAndNothingElse) {
    // The smallest of 10 p-values is below .01 in one run of 10.
    int small = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        small += Simulated(0.125, 0.125, seed, 8, Draws::places).smallest_p() < 0.01 ? 1 : 0;
    EXPECT_LE(small, 14);
    const auto p_of = [](const Simulated& simulated, const std::string& name) {
        const auto& checks = simulated.checks();
        const auto found = std::ranges::find(checks, name, &CoinCheck::name);
        return found == checks.end() ? -1 : found->p_value;
    };
    const std::string within = "sum over the rounds of an epoch of canaries that are there";
    const std::string between = "sum over epochs of a place of canaries that are there";
    EXPECT_LT(p_of(Simulated(0.125, 0.125, 1, 8, Draws::coins, 6), within), 1e-6);
    EXPECT_LT(p_of(Simulated(0.125, 0.125, 1, 8, Draws::twice, 6), within), 1e-6);
    EXPECT_GT(p_of(Simulated(0.125, 0.125, 1, 8, Draws::places, 6), within), 1e-6);
    const double same = p_of(Simulated(0.125, 0.125, 1, 8, Draws::same_place, 6), between);
    EXPECT_LT(same, 1e-6);
    EXPECT_GE(same, 0);
    EXPECT_GT(p_of(Simulated(0.125, 0.125, 1, 8, Draws::same_place, 6), within), 1e-6);
}

TEST(CheckCoins, MeasuresTheProbabilityThatRan) {
    const Simulated simulated(0.3, 0.15, 3);
    EXPECT_NEAR(simulated.checks().front().measured, 0.3, 0.03);
    EXPECT_EQ(simulated.checks().front().expected, 0.15);
    EXPECT_LT(simulated.checks().front().p_value, 1e-10);
}

TEST(CheckCoins, SaysHowMuchOfTheCoinsIsKnown) {
    Simulated simulated(0.2, 0.2, 5);
    const Simulated other(0.2, 0.2, 6);
    simulated.subject.known = {simulated.own, other.own};
    const auto checks = simulated.checks();
    const CoinCheck &same = checks[checks.size() - 2], &different = checks.back();
    EXPECT_EQ(same.name, "its own coins");
    EXPECT_NEAR(same.measured, 1, 4 * same.standard_error);
    EXPECT_LT(same.p_value, 1e-10);
    EXPECT_GT(different.p_value, 1e-4);
}

TEST(CheckCoins, NeedsACoordinateOfCompanions) {
    Simulated simulated(0.2, 0.2, 5);
    simulated.modes.values.conservativeResize(Eigen::NoChange, 400);
    EXPECT_THROW((void)simulated.checks(), ConfigError);
}

}  // namespace
}  // namespace sotto

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

CanaryRecords some_canaries() { return {.target = 2, .seed = 9, .trials = 400, .members = {0, 3}}; }

TEST(CanaryRecords, AreThereByFairCoinsOfTheSeed) {
    CanaryRecords canaries = some_canaries();
    canaries.trials = 10000;
    const VectorXd signs = canaries.signs();
    EXPECT_EQ(signs.cwiseAbs(), VectorXd::Ones(10000));
    EXPECT_LT(std::abs(signs.sum()), 400);
    EXPECT_EQ(signs, canaries.signs());
    canaries.seed = 10;
    EXPECT_NE(signs, canaries.signs());
}

TEST(CanaryRecords, AreWrittenAndRead) {
    const CanaryRecords canaries = some_canaries();
    EXPECT_EQ(canary_records_from_json(to_json(canaries), "file"), canaries);
    const auto refusal = [](std::string text) {
        return test::message_of<DataError>(
            [&] { (void)canary_records_from_json(text, "file.json"); });
    };
    test::expect_contains(refusal("{}"), "file.json");
    std::string text = to_json(canaries);
    text.replace(text.find("400"), 3, "399");
    test::expect_contains(refusal(text), "trials");
    CanaryRecords twice = canaries;
    twice.members = {3, 3};
    test::expect_contains(refusal(to_json(twice)), "ascending");
}

/// Sum of clipped gradients of these records of one agent.
VectorXd sum_of(const LocalTask& task, std::size_t agent, const std::vector<Index>& rows) {
    VectorXd sum(task.objectives[agent]->dimension());
    task.objectives[agent]->clipped_gradient_sum(task.initial, rows, 0.1, 0x1p-30, sum);
    return sum;
}

TEST(CanaryRecordTask, HasCanariesAsCoinsFellAndMembersAll) {
    const CanaryRecords canaries = some_canaries();
    const auto network = make_memory_network(5, 1);
    const LocalTask task = make_canary_record_task(canaries, 0.1, *network);
    ASSERT_EQ(task.objectives.size(), 5U);
    EXPECT_EQ(task.records, std::vector<Index>(5, 1600));
    EXPECT_TRUE(task.fixed_inputs);
    EXPECT_FALSE(task.rows_are_rounds);
    EXPECT_EQ(task.initial, VectorXd::Zero(401));
    std::vector<Index> all(1600);
    std::iota(all.begin(), all.end(), Index{0});
    const VectorXd signs = canaries.signs();
    const VectorXd target = sum_of(task, 2, all), member = sum_of(task, 3, all);
    // Gradients are longer than the clip: each record contributes it.
    for (Index i = 0; i < 400; ++i) {
        EXPECT_NEAR(target(i), signs(i) > 0 ? 0.1 : 0, 1e-8);
        EXPECT_NEAR(member(i), 0.1, 1e-8);
    }
    EXPECT_NEAR(target(400), 120, 1e-5);
    EXPECT_NEAR(member(400), 120, 1e-5);
    for (const std::size_t other : {1U, 4U})
        EXPECT_EQ(sum_of(task, other, all), VectorXd::Zero(401));
    const VectorXd one = sum_of(task, 3, {7, 900});
    EXPECT_EQ((one.array() != 0).count(), 2);
    EXPECT_NEAR(one(7), 0.1, 1e-8);
    EXPECT_NEAR(one(400), 0.1, 1e-8);
    EXPECT_EQ(task.objectives[2]->records_set_to_zero(), 0);
}

}  // namespace
}  // namespace sotto

namespace sotto::test {
namespace {

using Eigen::Index;

/// Coins of the canaries that batches draw.
Eigen::MatrixXd drawn_by(BatchSampler batches, long trials, long rounds) {
    Eigen::MatrixXd drawn = Eigen::MatrixXd::Zero(rounds, trials);
    for (Index t = 0; t < rounds; ++t)
        for (const Index row : batches.rows(static_cast<std::uint64_t>(t)))
            if (row < trials) drawn(t, row) = 1;
    return drawn;
}

TEST(PublicCoins, AreThoseThatASeedGives) {
    const CanaryRecords canaries{.target = 2, .seed = 9, .trials = 400, .members = {}};
    const auto coins = public_coins(canaries, 9, {0.1}, 160, 5);
    ASSERT_EQ(coins.size(), 2U);
    EXPECT_EQ(coins[0].drawn,
              drawn_by(sampled_batches(1600, 0.1, reproducible_coins(9, 0, 2)), 400, 5));
    EXPECT_EQ(coins[1].drawn, drawn_by(BatchSampler::uniform(1600, 160, 9, 2), 400, 5));
    EXPECT_NEAR(coins[0].drawn.mean(), 0.1, 0.04);
}

TEST(MemberCoins, AreReadOffTheirGradients) {
    AuditConfig config = canary_config("ldp", "coalition:1,3");
    config.train.plan.rounds = 6;
    CanaryPipeline pipeline(config);
    const TemporaryFolder folder;
    pipeline.record(folder.path("views"), {}, 7);
    const auto coins = member_coins(pipeline.canaries(), folder.path("views"), 6);
    ASSERT_EQ(coins.size(), 2U);
    EXPECT_EQ(coins[1].whose, "coins of agent 3");
    for (const int member : {1, 3})
        EXPECT_EQ(coins[member == 1 ? 0 : 1].drawn,
                  drawn_by(sampled_batches(1600,
                                           pipeline.account().secret.probability,
                                           reproducible_coins(7, 0, member)),
                           400,
                           6));
    // Of another number of rounds.
    EXPECT_THROW((void)member_coins(pipeline.canaries(), folder.path("views"), 3), DataError);
    EXPECT_THROW((void)member_coins(pipeline.canaries(), folder.path("nothing"), 6), DataError);
}

}  // namespace
}  // namespace sotto::test
