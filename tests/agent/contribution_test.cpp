#include "agent/contribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "agent/agent_fixtures.hpp"
#include "core/numbers.hpp"
#include "learn/logistic.hpp"
#include "learn/readers.hpp"

namespace sotto {
namespace {

using Eigen::VectorXd;

// What an agent contributes to a round, before noise.

constexpr double grid = 0x1p-30;

/// An agent whose gradient at x is x less one.
LocalAgent towards_one(Eigen::Index dimension) {
    return test::local_agent(
        0,
        std::make_unique<test::FunctionObjective>(
            dimension, [](const VectorXd& x) { return VectorXd(x.array() - 1); }),
        1);
}

/// Of round 3.
VectorXd contribution_of(LocalAgent& agent, const TrainerOptions& options, const VectorXd& model) {
    VectorXd contribution(model.size());
    AgentReport report;
    contribute({options, NoiseEntry::gradient, false, grid}, 3, model, agent, contribution, report);
    return contribution;
}

TEST(Contribution, IsTheGradientAtTheModelWhereItIsNoLongerThanTheClip) {
    TrainerOptions options;
    options.clip_norm = 10;
    LocalAgent agent = towards_one(3);
    EXPECT_EQ(contribution_of(agent, options, VectorXd::Constant(3, 0.25)),
              VectorXd::Constant(3, -0.75));
    options.clip_norm = 0.5;
    const VectorXd clipped = contribution_of(agent, options, VectorXd::Constant(3, 0.25));
    EXPECT_LE(clipped.norm(), 0.5);
    EXPECT_NEAR(clipped.norm(), 0.5, 1e-8);
}

TEST(Contribution, OfLocalStepsIsTheWayTheyLeadOverTheStepSizeWithoutRegularisationAtTheModel) {
    TrainerOptions options;
    options.clip_norm = 100;
    options.steps = {StepSchedule::Kind::inverse, 0.4, {}};
    const double step = options.steps.at(3);
    for (const double l2 : {0.0, 0.5})
        for (const int steps : {1, 2, 7}) {
            options.l2 = l2;
            options.local_steps = steps;
            LocalAgent agent = towards_one(3);
            const VectorXd model = VectorXd::LinSpaced(3, -2, 4);
            VectorXd walked = model;
            for (int e = 0; e < steps; ++e)
                walked -= step * (VectorXd(walked.array() - 1) + l2 * walked);
            const VectorXd expected = (model - walked) / step - steps * l2 * model;
            EXPECT_LT((contribution_of(agent, options, model) - expected).cwiseAbs().maxCoeff(),
                      1e-8)
                << steps << " steps, l2 " << l2;
        }
}

TEST(Contribution, OfLocalStepsIsClippedAsAWhole) {
    TrainerOptions options;
    options.clip_norm = 0.7;
    options.local_steps = 4;
    options.steps.step_size = 0.01;
    LocalAgent agent = towards_one(2);
    // Four gradients of length one half each, and nearly so.
    const VectorXd model = VectorXd::Constant(2, 1 + 0.5 / std::sqrt(2.0));
    const VectorXd clipped = contribution_of(agent, options, model);
    EXPECT_LE(clipped.norm(), 0.7);
    EXPECT_NEAR(clipped.norm(), 0.7, 1e-8);
    options.clip_norm = 2.1;
    EXPECT_NEAR(contribution_of(agent, options, model).norm(), 2, 0.05);
}

TEST(Contribution, OfEveryLocalStepHasABatchOfItsOwn) {
    std::vector<Eigen::Index> asked;
    class AskedRows final : public Objective {
      public:
        explicit AskedRows(std::vector<Eigen::Index>& asked) : asked_(asked) {}
        Eigen::Index dimension() const override { return 1; }
        Eigen::Index records() const override { return 20; }
        void mean_gradient(const Eigen::Ref<const VectorXd>&,
                           std::span<const Eigen::Index> rows,
                           Eigen::Ref<VectorXd> gradient) override {
            asked_.insert(asked_.end(), rows.begin(), rows.end());
            gradient.setZero();
        }
        void clipped_gradient_sum(const Eigen::Ref<const VectorXd>&,
                                  std::span<const Eigen::Index>,
                                  double,
                                  double,
                                  Eigen::Ref<VectorXd>) override {}
        bool record_clipping() const override { return false; }
        LossSum train_loss(const Eigen::Ref<const VectorXd>&) override { return {}; }
        LossSum test_loss(const Eigen::Ref<const VectorXd>&, Eigen::Index, Eigen::Index) override {
            return {};
        }

      private:
        std::vector<Eigen::Index>& asked_;
    };
    TrainerOptions options;
    options.local_steps = 3;
    LocalAgent agent{0, std::make_unique<AskedRows>(asked), BatchSampler::in_order(20), 1};
    (void)contribution_of(agent, options, VectorXd::Zero(1));
    EXPECT_EQ(asked, (std::vector<Eigen::Index>{9, 10, 11}));  // of round 3
}

TEST(Contribution, ThatIsNotFiniteIsZeroAndCounted) {
    TrainerOptions options;
    LocalAgent agent = test::local_agent(
        0,
        std::make_unique<test::FunctionObjective>(
            2, [](const VectorXd&) { return VectorXd::Constant(2, std::nan("")); }),
        1);
    VectorXd contribution(2);
    AgentReport report;
    const VectorXd model = VectorXd::Zero(2);
    contribute({options, NoiseEntry::gradient, false, grid}, 0, model, agent, contribution, report);
    EXPECT_EQ(contribution, VectorXd::Zero(2));
    EXPECT_EQ(report.gradients_set_to_zero, 1);
}

TEST(Contribution, IsRefusedWhereTheClipLeavesNoRoomForRoundingMessages) {
    TrainerOptions options;
    options.clip_norm = 1;
    LocalAgent agent = towards_one(2);
    VectorXd contribution(2);
    AgentReport report;
    const VectorXd model = VectorXd::Zero(2);
    EXPECT_THROW(
        contribute(
            {options, NoiseEntry::message, false, 0x1p-4}, 0, model, agent, contribution, report),
        PrivacyError);
}

// What the Trainer sends of a gradient: never longer than the clip norm, on the plan's grid.

/// The gradient as it entered the message of one agent in one round.
Eigen::VectorXd sent_gradient(const Eigen::VectorXd& raw, double clip_norm, int grid_step_log2) {
    const Topography alone = test::topography_of(Topology::complete, 1);
    TrainerOptions options;
    options.clip_norm = clip_norm;
    std::vector<LocalAgent> agents;
    agents.push_back(test::local_agent(
        0,
        std::make_unique<test::FunctionObjective>(raw.size(), [&](const auto&) { return raw; }),
        1));
    test::SilentTraining training(
        alone, std::move(agents), Eigen::VectorXd::Zero(raw.size()), options, grid_step_log2);
    test::Recorder recorder(raw.size(), 1);
    training.trainer->observe(&recorder);
    training.run(1);
    return recorder.recording.gradients.front().col(0);
}

/// Squares added from the smallest to the largest in extended precision: 64 bits, so that the sum
/// of d squares is off by at most d 2^-64.
long double exact_norm(const Eigen::VectorXd& vector) {
    std::vector<long double> squares;
    for (const double value : vector)
        squares.push_back(static_cast<long double>(value) * static_cast<long double>(value));
    std::sort(squares.begin(), squares.end());
    long double sum = 0;
    for (const long double square : squares) sum += square;
    return std::sqrt(sum);
}

TEST(ClippedGradient, IsOnTheGridAndNotLongerThanTheClipNorm) {
    int clipped = 0;
    int unclipped = 0;
    for (const Eigen::Index d : {1, 2, 7, 64, 1000, 30000})
        for (const double clip : {1.0, 0.1, 3.7e-3, 250.0})
            for (const double scale : {0.0, 1e-300, 1e-9, 0.3, 1.0, 40.0, 1e12, 1e150}) {
                const int grid = std::ilogb(clip) - 24;
                SeededRandom random(static_cast<std::uint64_t>(d), "test.agent.clip");
                Eigen::VectorXd raw(d);
                for (double& value : raw)
                    value = scale * clip * random.normal() / std::sqrt(static_cast<double>(d));
                const Eigen::VectorXd sent = sent_gradient(raw, clip, grid);
                const double step = std::ldexp(1.0, grid);
                ASSERT_LE(exact_norm(sent), static_cast<long double>(clip))
                    << "d " << d << ", clip " << clip << ", scale " << scale;
                ASSERT_TRUE(((sent / step).array() == (sent / step).array().round()).all());
                // Truncation takes less than a step of each coordinate, clipping the excess only.
                const auto norm = static_cast<double>(exact_norm(raw));
                const double factor = norm > clip ? clip / norm : 1;
                (norm > clip ? clipped : unclipped) += 1;
                ASSERT_LT((factor * raw - sent).cwiseAbs().maxCoeff(), step * 1.001)
                    << "d " << d << ", clip " << clip << ", scale " << scale;
                ASSERT_TRUE((sent.array() * raw.array() >= 0).all());
                ASSERT_TRUE((sent.array().abs() <= raw.array().abs()).all());
            }
    EXPECT_GT(clipped, 20);
    EXPECT_GT(unclipped, 20);
}

TEST(ClippedGradient, HidesNoLengthInCoordinatesThatAreLostBesideALargeOne) {
    // Every small square is below half a unit in the last place of 1: added one after the other to
    // the large one they vanish, and a norm computed like that is short by one part in 2^37.
    Eigen::VectorXd raw = Eigen::VectorXd::Constant(1 << 20, 0x1p-27);
    for (const Eigen::Index place : {0, 1, 5}) {
        raw.setConstant(0x1p-27);
        raw(place) = 1;
        EXPECT_LE(exact_norm(sent_gradient(raw, 1, -40)), 1.0L);
    }
}

TEST(ClippedGradient, OfOnePlaneAboveTheNormIsClippedAndOneBelowIsNot) {
    for (const double clip : {1.0, 0.1, 0.3}) {
        Eigen::VectorXd raw(2);
        raw << 0.6 * clip * (1 + 1e-9), 0.8 * clip * (1 + 1e-9);
        EXPECT_LE(exact_norm(sent_gradient(raw, clip, -60)), static_cast<long double>(clip));
        raw << 0.6 * clip * (1 - 1e-9), 0.8 * clip * (1 - 1e-9);
        const Eigen::VectorXd sent = sent_gradient(raw, clip, -60);
        EXPECT_LE((sent - raw).cwiseAbs().maxCoeff(), 0x1p-60);
    }
}

TEST(ClippedGradient, OfWhatIsNotFiniteIsZero) {
    for (const double bad : {not_a_number, infinity, -infinity}) {
        Eigen::VectorXd raw = Eigen::VectorXd::Ones(5);
        raw(3) = bad;
        EXPECT_TRUE((sent_gradient(raw, 1, -20).array() == 0).all()) << bad;
    }
}

TEST(ClippedGradient, KeepsItsDirectionAndTheNormWhereSquaresOverflowOrAreLost) {
    for (const double scale : {1e155, 1e200, 1.7e308}) {
        Eigen::VectorXd raw(3);
        raw << scale, -scale, 0;
        const Eigen::VectorXd sent = sent_gradient(raw, 1, -40);
        EXPECT_LE(exact_norm(sent), 1.0L);
        EXPECT_NEAR(sent(0), std::sqrt(0.5), 1e-9);
        EXPECT_NEAR(sent(1), -std::sqrt(0.5), 1e-9);
    }
    // A norm computed as zero would let these pass unclipped.
    Eigen::VectorXd raw = Eigen::VectorXd::Constant(4, 1e-170);
    EXPECT_TRUE(clip_to_grid(raw, false, 1e-180, 0x1p-640));
    EXPECT_NEAR(raw(0) / 1e-180, 0.5, 1e-9);
    raw.setConstant(1e-200);
    EXPECT_TRUE(clip_to_grid(raw, false, 1e-180, 0x1p-700));
    EXPECT_NEAR(raw(0) / 1e-200, 1, 1e-9);
}

/// Record adjacency: the sum of clipped records over B, by a loop over records.
TEST(ClippedGradient, OfRecordsIsTheirSumOverTheBatchSize) {
    const Topography alone = test::topography_of(Topology::complete, 1);
    const Dataset data = synthetic_binary(64, 2);
    constexpr int grid = -30;
    constexpr double clip = 0.8;
    for (const Eigen::Index batch : {1, 7, 64}) {
        std::vector<LocalAgent> agents;
        agents.push_back(test::local_agent(0, make_logistic_objective(data, nullptr), batch));
        auto rows_of = BatchSampler::uniform(64, batch, 7, 0);
        TrainerOptions options;
        options.clip_norm = clip;
        options.adjacency = Adjacency::record;
        const Eigen::VectorXd initial = Eigen::VectorXd::Constant(124, 0.05);
        test::SilentTraining training(alone, std::move(agents), initial, options, grid);
        test::Recorder recorder(124, 1);
        training.trainer->observe(&recorder);
        training.run(5);
        for (std::size_t t = 0; t < 5; ++t) {
            const Eigen::VectorXd model = recorder.recording.before[t].col(0);
            Eigen::VectorXd sum = Eigen::VectorXd::Zero(124);
            for (const Eigen::Index row : rows_of.rows(t)) {
                Eigen::VectorXd record(124);
                record << Eigen::VectorXd(data.features.row(row).transpose()), 1;
                const double label = data.labels(row);
                record *= -label / (1 + std::exp(label * record.dot(model)));
                sum += record * std::min(1.0, clip / record.norm());
            }
            const Eigen::VectorXd sent = recorder.recording.gradients[t].col(0);
            const double step = std::ldexp(1.0, grid);
            // Each record is rounded toward zero to the grid B gamma.
            EXPECT_LT((sent - sum / static_cast<double>(batch)).cwiseAbs().maxCoeff(),
                      step * static_cast<double>(batch) * 1.001);
            EXPECT_TRUE(((sent / step).array() == (sent / step).array().round()).all());
        }
    }
}

TEST(ClipToGrid, InL1NormIsNotLongerThanTheClipNorm) {
    constexpr double step = 0x1p-30;
    for (const double scale : {1e-6, 0.02, 1.0, 1e9}) {
        SeededRandom random(3, "test.agent.clip-l1");
        Eigen::VectorXd raw(1000);
        for (double& value : raw) value = scale * random.normal();
        Eigen::VectorXd clipped = raw;
        EXPECT_TRUE(clip_to_grid(clipped, true, 0.7, step));
        EXPECT_LE(clipped.lpNorm<1>(), 0.7);
        EXPECT_TRUE(((clipped / step).array() == (clipped / step).array().round()).all());
        const double factor = std::min(1.0, 0.7 / raw.lpNorm<1>());
        EXPECT_LT((factor * raw - clipped).cwiseAbs().maxCoeff(), step * 1.001);
    }
}

TEST(ClipCoordinatesToGrid, ClipsEachByItself) {
    Eigen::VectorXd gradient(5);
    gradient << 3, -3, 0.3, -0.24, 0;
    EXPECT_TRUE(clip_coordinates_to_grid(gradient, 1, 0.25));
    Eigen::VectorXd wanted(5);
    wanted << 1, -1, 0.25, 0, 0;
    EXPECT_EQ(gradient, wanted);
    gradient << 0.5, std::nan(""), 2, -infinity, infinity;
    EXPECT_FALSE(clip_coordinates_to_grid(gradient, 1, 0.25));
    wanted << 0.5, 0, 1, 0, 0;
    EXPECT_EQ(gradient, wanted) << "the others are models of their own";
}

}  // namespace
}  // namespace sotto
