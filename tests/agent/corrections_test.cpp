// The Trainer with corrections against the equations in plain matrices.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "agent/agent_fixtures.hpp"
#include "core/numbers.hpp"
#include "learn/quadratic.hpp"
#include "sotto/graph/mixing_schedule.hpp"

namespace sotto {
namespace {

constexpr int few = 6;

std::vector<LocalAgent> agents_that_differ() {
    std::vector<LocalAgent> result;
    for (int u = 0; u < few; ++u)
        result.push_back(test::local_agent(u, make_quadratic_objective(u, few), 1));
    return result;
}

Eigen::MatrixXd gradients_at(const Eigen::MatrixXd& models) {
    Eigen::MatrixXd gradients(models.rows(), models.cols());
    for (int u = 0; u < few; ++u)
        make_quadratic_objective(u, few)->mean_gradient(models.col(u), {}, gradients.col(u));
    return gradients;
}

/// Steps that change, momentum, regularisation, and several exchanges.
TrainerOptions corrected_options(const Topography& topography,
                                 Correction correction,
                                 GossipRule rule,
                                 int gossip_steps) {
    TrainerOptions options;
    options.clip_norm = 1e6;
    options.steps = {StepSchedule::Kind::inverse_sqrt, 0.01, {}};
    options.l2 = 0.7;
    options.smoothing.correction = correction;
    options.smoothing.momentum = 0.6;
    options.gossip = gossip_polynomial(topography.mixing, rule, gossip_steps);
    if (correction == Correction::exact_diffusion)
        options.gossip =
            options.gossip.with_laziness(laziness_for(topography.mixing, options.gossip));
    return options;
}

/// The recursions with all models as columns.
class DenseReference {
  public:
    DenseReference(const TrainerOptions& options,
                   const MixingMatrix& mixing,
                   const Eigen::VectorXd& initial)
        : options_(options),
          mixing_(options.gossip.of(mixing.dense()).transpose()),
          models(initial.replicate(1, mixing.agents())),
          carried(options.smoothing.correction == Correction::tracking ? 0 * models : models) {}

    void round(long t) {
        const double step = options_.steps.at(t);
        const double before = t > 0 ? options_.steps.at(t - 1) : step;
        const Eigen::MatrixXd earlier = velocities_;
        velocities_ = options_.smoothing.momentum * velocities_ + gradients_at(models);
        const double keep = 1 - step * options_.l2;
        if (options_.smoothing.correction == Correction::tracking) {
            carried = (carried + velocities_ - earlier) * mixing_;
            models = (keep * models - step * carried) * mixing_;
            return;
        }
        const Eigen::MatrixXd psi = keep * models - step * velocities_;
        models = (psi + step / before * (models - carried)) * mixing_;
        carried = psi;
    }

  private:
    const TrainerOptions& options_;
    Eigen::MatrixXd mixing_, velocities_ = Eigen::MatrixXd::Zero(2, few);

  public:
    Eigen::MatrixXd models, carried;
};

TEST(Corrections, FollowTheirEquations) {
    const Eigen::Vector2d initial(0.4, -1.5);
    for (const Topology shape : {Topology::ring, Topology::star, Topology::erdos_renyi})
        for (const Correction correction : {Correction::exact_diffusion, Correction::tracking})
            for (const auto& [rule, steps] : {std::pair{GossipRule::plain, 1},
                                              {GossipRule::plain, 2},
                                              {GossipRule::chebyshev, 3}}) {
                const Topography topography = test::topography_of(shape, few);
                const TrainerOptions options =
                    corrected_options(topography, correction, rule, steps);
                test::SilentTraining training(topography, agents_that_differ(), initial, options);
                DenseReference reference(options, topography.mixing, initial);
                for (long t = 0; t < 25; ++t) {
                    reference.round(t);
                    training.run(1);
                    const Trainer& trainer = *training.trainer;
                    // The grid of 2^-40 accounts for the difference.
                    EXPECT_LT((trainer.models() - reference.models).cwiseAbs().maxCoeff(), 1e-8)
                        << name_of(correction) << ", K " << steps << ", round " << t;
                    EXPECT_LT((trainer.carried() - reference.carried).cwiseAbs().maxCoeff(), 1e-7)
                        << name_of(correction) << ", K " << steps << ", round " << t;
                }
            }
}

TEST(Corrections, AddUpToZero) {
    const Eigen::Vector2d initial(0.4, -1.5);
    const Topography topography = test::topography_of(Topology::ring, few);
    for (const auto precision : {MessagePrecision::float64, MessagePrecision::float32})
        for (const Correction correction : {Correction::exact_diffusion, Correction::tracking}) {
            const TrainerOptions options =
                corrected_options(topography, correction, GossipRule::plain, 1);
            test::SilentTraining training(topography, agents_that_differ(), initial, options);
            training.network->set_message_precision(precision);
            for (long t = 0; t < 200; ++t) {
                training.run(1);
                const Trainer& trainer = *training.trainer;
                // sum_u (x_u(t) - psi_u(t-1)), or sum_u (y_u - u_u): 0 whatever rounding does.
                const Eigen::MatrixXd& against =
                    correction == Correction::tracking ? trainer.directions() : trainer.models();
                EXPECT_LT((against - trainer.carried()).rowwise().sum().cwiseAbs().maxCoeff(),
                          1e-11)
                    << name_of(correction) << ", round " << t;
            }
        }
}

TEST(Corrections, BringModelsOfAgentsThatDifferToOne) {
    // With constant steps models of D-SGD stay apart.
    const Eigen::Vector2d initial(0.4, -1.5);
    const Topography topography = test::topography_of(Topology::path, few);
    const auto apart = [&](Correction correction) {
        TrainerOptions options;
        options.clip_norm = 1e6;
        options.steps.step_size = 0.02;
        options.smoothing.correction = correction;
        if (correction == Correction::exact_diffusion)
            options.gossip = GossipPolynomial(1).with_laziness(laziness_for(topography.mixing, 1));
        test::SilentTraining training(topography, agents_that_differ(), initial, options);
        training.run(6000);
        const Eigen::MatrixXd& models = training.trainer->models();
        return (models.colwise() - models.rowwise().mean()).cwiseAbs().maxCoeff();
    };
    EXPECT_GT(apart(Correction::none), 1e-2);
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking})
        EXPECT_LT(apart(correction), 1e-8) << name_of(correction);
}

TEST(Corrections, ByTrackingStandMixingThatChanges) {
    const Graph graph = test::topography_of(Topology::exponential, few).graph;
    const auto network = make_memory_network(few, 1);
    network->connect(graph);
    const NoisePlan plan = test::silent_plan(few);
    std::vector<KeyRing> rings;
    for (int u = 0; u < few; ++u) rings.emplace_back(u);
    TrainerOptions options;
    options.clip_norm = 1e6;
    options.steps.step_size = 0.01;
    options.smoothing.correction = Correction::tracking;
    Trainer trainer(*network,
                    MixingSchedule(one_peer_schedule(graph)),
                    plan,
                    NoiseSource(plan, rings, 1),
                    agents_that_differ(),
                    Eigen::Vector2d(0.4, -1.5),
                    options);
    for (long t = 0; t < 6000; ++t) trainer.run_round(t);
    const Eigen::MatrixXd& models = trainer.models();
    EXPECT_LT((models.colwise() - models.rowwise().mean()).cwiseAbs().maxCoeff(), 1e-8);
    EXPECT_LT(gradients_at(models).rowwise().mean().norm(), 1e-8);
}

TEST(Corrections, WithAPreconditionerStillAddUpToZeroAndConverge) {
    const Eigen::Vector2d initial(0.4, -1.5);
    const Topography topography = test::topography_of(Topology::ring, few);
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking}) {
        TrainerOptions options = corrected_options(topography, correction, GossipRule::plain, 1);
        options.l2 = options.smoothing.momentum = 0;
        options.steps = {StepSchedule::Kind::constant, 0.02, {}};
        options.preconditioning = {.every = 7, .consensus = 40, .noise_variance = 0};
        test::SilentTraining training(topography, agents_that_differ(), initial, options);
        for (long t = 0; t < 3000; ++t) training.run(1);
        const Trainer& trainer = *training.trainer;
        const Eigen::MatrixXd& against =
            correction == Correction::tracking ? trainer.directions() : trainer.models();
        EXPECT_LT((against - trainer.carried()).rowwise().sum().cwiseAbs().maxCoeff(), 1e-11);
        const Eigen::MatrixXd& models = trainer.models();
        EXPECT_LT((models.colwise() - models.rowwise().mean()).cwiseAbs().maxCoeff(), 1e-3)
            << name_of(correction);
        EXPECT_LT(gradients_at(models).rowwise().mean().norm(), 1e-2) << name_of(correction);
    }
}

TEST(Corrections, GoOnFromWhatTheyKeep) {
    const Eigen::Vector2d initial(0.4, -1.5);
    const Topography topography = test::topography_of(Topology::ring, few);
    for (const Correction correction : {Correction::exact_diffusion, Correction::tracking}) {
        TrainerOptions options = corrected_options(topography, correction, GossipRule::plain, 2);
        options.smoothing.momentum = 0;
        test::SilentTraining whole(topography, agents_that_differ(), initial, options);
        whole.run(9);
        const auto resume = [&](test::SilentTraining& later, bool correct) {
            later.next = 9;
            later.trainer->start_from(whole.trainer->models());
            if (correct)
                later.trainer->start_correction_from(whole.trainer->carried(),
                                                     whole.trainer->directions());
        };
        test::SilentTraining again(topography, agents_that_differ(), initial, options);
        test::SilentTraining plainly(topography, agents_that_differ(), initial, options);
        resume(again, true);
        resume(plainly, false);
        for (auto* training : {&whole, &again, &plainly}) training->run(4);
        EXPECT_EQ(again.trainer->models(), whole.trainer->models()) << name_of(correction);
        EXPECT_EQ(again.trainer->carried(), whole.trainer->carried()) << name_of(correction);
        EXPECT_NE(plainly.trainer->models(), whole.trainer->models()) << name_of(correction);
        Eigen::MatrixXd bad = whole.trainer->carried();
        EXPECT_THROW(again.trainer->start_correction_from(bad.leftCols(2), {}), DataError);
        bad(0, 0) = not_a_number;
        EXPECT_THROW(again.trainer->start_correction_from(bad, whole.trainer->directions()),
                     DataError);
    }
}

TEST(Corrections, AreCountedInMemory) {
    const std::int64_t plain = Trainer::memory_bytes(1000, 3, 3, 0);
    Smoothing smoothing;
    smoothing.correction = Correction::exact_diffusion;
    EXPECT_EQ(Trainer::memory_bytes(1000, 3, 3, 0, 1, smoothing) - plain, 3 * 8000);
    EXPECT_EQ(
        Trainer::memory_bytes(1000, 3, 3, 0, GossipPolynomial(1).with_laziness(0.2), smoothing) -
            plain,
        6 * 8000);
    smoothing.correction = Correction::tracking;
    EXPECT_EQ(Trainer::memory_bytes(1000, 3, 3, 0, 1, smoothing) - plain, 6 * 8000);
}

TEST(Corrections, LeaveTheNoiseThatThePlanSays) {
    // Noise alone, in many coordinates: all models together have Tr(M R) eta^2 of it.
    constexpr Eigen::Index coordinates = 20000;
    constexpr long rounds = 15;
    const Utility last{Utility::Kind::final_model, 0};
    for (const Topology shape : {Topology::ring, Topology::erdos_renyi})
        for (const char* mechanism : {"ldp", "pairs"})
            for (const Correction correction :
                 {Correction::none, Correction::exact_diffusion, Correction::tracking}) {
                const Topography topography = test::topography_of(shape, few);
                const NoisePlan plan = test::plan_of({"Corrected", mechanism, last},
                                                     topography,
                                                     Eigen::VectorXd::Constant(few, 1.0));
                TrainerOptions options =
                    corrected_options(topography, correction, GossipRule::plain, 1);
                options.steps = {StepSchedule::Kind::constant, 0.01, {}};
                options.l2 = 0;
                const auto network = make_memory_network(few, 1);
                network->connect(topography.graph);
                std::vector<LocalAgent> agents;
                for (int u = 0; u < few; ++u)
                    agents.push_back(test::local_agent(
                        u,
                        std::make_unique<test::FunctionObjective>(
                            coordinates,
                            [](const auto& model) { return Eigen::VectorXd(0 * model); }),
                        1));
                Trainer trainer(*network,
                                MixingSchedule({topography.mixing}),
                                plan,
                                NoiseSource(plan, distribute_seeds(*network, plan, 7), 1),
                                std::move(agents),
                                Eigen::VectorXd::Zero(coordinates),
                                options);
                for (long t = 0; t < rounds; ++t) trainer.run_round(t);
                const double expected =
                    utility_matrix(
                        topography.mixing, last, rounds, options.gossip, options.smoothing)
                        .cwiseProduct(spatial_covariance(plan))
                        .sum() *
                    1e-4;
                const double found =
                    trainer.models().squaredNorm() / static_cast<double>(coordinates);
                // Five standard errors of one chi-squared variable a coordinate at most.
                EXPECT_NEAR(found / expected, 1, 5 * std::sqrt(2.0 / coordinates))
                    << mechanism << ", " << name_of(correction) << ", " << name_of(shape);
            }
}

/// A run with noise of a plan, and what agents sent.
test::Recording corrected_recording(const Topography& topography,
                                    const NoisePlan& plan,
                                    const test::NoiseRun& run) {
    const auto network = make_memory_network(plan.agents, run.threads);
    return test::record_rounds(*network, topography, plan, run);
}

TEST(Corrections, InjectTheAccountedNoise) {
    const Utility horizon{Utility::Kind::horizon, 20};
    for (const char* mechanism : {"ldp", "corn", "pairs"})
        for (const Correction correction : {Correction::exact_diffusion, Correction::tracking})
            for (const Topology shape : {Topology::ring, Topology::erdos_renyi}) {
                const Topography topography = test::topography_of(shape, test::noisy_agents, 0.3);
                const NoisePlan plan = test::plan_of({"Corrected", mechanism, horizon},
                                                     topography,
                                                     test::uneven_limits(test::noisy_agents));
                test::NoiseRun run;
                run.correction = correction;
                if (correction == Correction::exact_diffusion)
                    run.gossip =
                        run.gossip.with_laziness(laziness_for(topography.mixing, run.gossip));
                test::Recording recorded = corrected_recording(topography, plan, run);
                EXPECT_EQ(test::injected_is_not_accounted(recorded, topography, plan, run), "")
                    << mechanism << ", " << name_of(correction) << ", " << name_of(shape);
                // Who takes the messages for those of other rounds notices.
                recorded.correction = Correction::none;
                EXPECT_NE(test::injected_is_not_accounted(recorded, topography, plan, run), "")
                    << mechanism << ", " << name_of(correction) << ", " << name_of(shape);
            }
}

}  // namespace
}  // namespace sotto
