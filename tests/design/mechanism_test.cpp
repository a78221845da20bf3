#include "sotto/design/mechanism.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/numbers.hpp"
#include "core/temporary_folder.hpp"
#include "core/test_support.hpp"
#include "design/mechanism_fixtures.hpp"
#include "plan/lagged_noise.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {
namespace {

using namespace test;

/// Calls f(mechanism, input, design) for every private mechanism over graphs, horizons and kappa.
template <class Function>
void for_each_design(Function&& f) {
    for (const auto& setting : settings({1, 2, 5, 12}))
        for (const long horizon : {1L, 200L})
            for (const bool equal : {true, false})
                for (const auto& mechanism : mechanisms().records()) {
                    if (!mechanism.needs_budget) continue;
                    // Those that optimise over coalitions take seconds for more, all together.
                    if (mechanism.seed_groups() && setting.named.graph.agents() > 5) continue;
                    SCOPED_TRACE(setting.named.name + ", " + mechanism.name + ", horizon " +
                                 std::to_string(horizon) + (equal ? "" : ", unequal kappa"));
                    const Eigen::Index n = setting.named.graph.agents();
                    DesignInput input =
                        setting.input(horizon,
                                      equal ? Eigen::VectorXd::Constant(n, 0.02).eval()
                                            : random_kappa(n, unequal_kappa_seed));
                    ask_like_the_program(input, mechanism);
                    const Design design = mechanism.design(input);
                    // Noise on messages has tests of its own.
                    if (design.plan.entry == NoiseEntry::gradient) f(mechanism, input, design);
                }
}

TEST(Mechanisms, KeepEveryAgentWithinItsOwnBudget) {
    for_each_design([](const Mechanism&, const DesignInput& input, const Design& design) {
        EXPECT_EQ(design.plan.coalition_size, input.coalition_size);
        const Eigen::VectorXd precision = coalition_precision(design.plan, input.coalition_size);
        for (Eigen::Index u = 0; u < precision.size(); ++u)
            EXPECT_LE(precision(u), input.kappa(u) * (1 + 1e-9)) << "agent " << u;
    });
}

TEST(Mechanisms, MakePlansThatEveryProcessAcceptsForItsBudget) {
    for_each_design([](const Mechanism& mechanism, const DesignInput& input, const Design& design) {
        EXPECT_NO_THROW(design.plan.validate());
        EXPECT_EQ(design.plan.mechanism, mechanism.name);
        EXPECT_EQ(design.plan.agents, input.graph->agents());
        // mu_u^2 = Delta_u^2 sens2 kappa_u.
        std::vector<Exposure> exposures;
        std::vector<PrivacyBudget> budgets;
        std::vector<int> everybody(static_cast<std::size_t>(design.plan.agents));
        std::iota(everybody.begin(), everybody.end(), 0);
        for (const int u : everybody) {
            const auto squared = [&](const TemporalFactor& factor) {
                return temporal_sensitivity_squared(factor, input.participation, input.rounds);
            };
            exposures.push_back({0.2, squared(design.plan.temporal), 1});
            const StreamDistribution noise = design.plan.distribution();
            const double distance = 0.2 * std::sqrt(squared({}) * input.kappa(u));
            budgets.push_back(budget_spent_by(loss_of_distance(noise, distance), noise, 1e-5));
        }
        EXPECT_NO_THROW(verify_agents_protected(
            design.plan, everybody, exposures, budgets, input.coalition_size));
    });
}

TEST(Mechanisms, ChooseTheCoarsestGridThatTheConditionalNoiseAllows) {
    for_each_design([](const Mechanism&, const DesignInput& input, const Design& design) {
        const double rounds = largest_round_precision(design.plan.temporal);
        const double finest_std =
            1 /
            std::sqrt(coalition_precision(design.plan, input.coalition_size).maxCoeff() * rounds);
        EXPECT_LE(design.plan.grid_step(), std::ldexp(finest_std, -20));
        // Two steps of rounding where rounds are correlated.
        EXPECT_GT(design.plan.grid_step() * (rounds == 1 ? 2 : 64),
                  std::ldexp(finest_std, -20) * (1 - 1e-12));
    });
}

TEST(Mechanisms, StateTheObjectiveOfTheNoiseThatTheirPlanInjects) {
    for_each_design([](const Mechanism& mechanism, const DesignInput& input, const Design& design) {
        if (mechanism.aggregation == Aggregation::trusted_mean) return;  // noise of the mean only
        if (mechanism.correlates_rounds) return;                         // of another utility
        const Eigen::MatrixXd utility =
            utility_matrix(*input.mixing, input.utility, input.rounds, input.gossip);
        const double injected = cost(utility, spatial_covariance(design.plan));
        EXPECT_TRUE(relatively_near(injected * input.kappa.minCoeff(), design.objective, 1e-6));
        EXPECT_GE(design.relative_gap(), -1e-10);
        EXPECT_GT(design.lower_bound, 0);
        EXPECT_LE(design.relative_gap(), 1e-2);
    });
}

TEST(Mechanisms, KeepTheCapOnEveryVariance) {
    for_each_design([](const Mechanism&, const DesignInput& input, const Design& design) {
        // A common private variance needs max kappa / min kappa in any case.
        const double cap = std::max(1e4, input.kappa.maxCoeff() / input.kappa.minCoeff());
        EXPECT_LE(spatial_covariance(design.plan).diagonal().cwiseProduct(input.kappa).maxCoeff(),
                  cap * (1 + 1e-6));
    });
}

TEST(Mechanisms, ScaleTheirNoiseAndNotTheirObjectiveWithTheBudget) {
    for (const auto& setting : settings({6}))
        for (const auto& mechanism : mechanisms().records()) {
            if (!mechanism.needs_budget) continue;
            SCOPED_TRACE(setting.named.name + ", " + mechanism.name);
            const Eigen::VectorXd kappa = random_kappa(6, unequal_kappa_seed);
            DesignInput input = setting.input(10, kappa);
            ask_like_the_program(input, mechanism);
            const Design loose = mechanism.design(input);
            input.kappa = kappa / 1024;
            const Design tight = mechanism.design(input);
            if (loose.plan.entry == NoiseEntry::gradient) {
                EXPECT_TRUE(relatively_near(tight.objective, loose.objective, 1e-12));
            }
            EXPECT_TRUE(largest_message_variance(tight.plan)
                            .isApprox(1024 * largest_message_variance(loose.plan), 1e-9));
            EXPECT_TRUE(spatial_covariance(tight.plan)
                            .isApprox(1024 * spatial_covariance(loose.plan), 1e-9));
            EXPECT_EQ(tight.plan.grid_step(), 32 * loose.plan.grid_step());
        }
}

TEST(Mechanisms, RankCornBeforeDecorBeforeLdpOnEveryGraph) {
    for (const auto& setting : settings({2, 5, 12, 20}))
        for (const long horizon : {1L, 10L, 200L}) {
            SCOPED_TRACE(setting.named.name + ", horizon " + std::to_string(horizon));
            const DesignInput input = setting.input(horizon);
            const Design ldp = design_of("ldp", input), decor = design_of("decor", input),
                         corn = design_of("corn", input), cdp = design_of("cdp", input);
            EXPECT_LE(decor.objective, ldp.objective * (1 + 1e-12));
            // Under the cap corn stops within a few percent of it.
            EXPECT_LE(corn.objective, decor.objective * (1 + (corn.capped ? 1e-4 : 1e-9)));
            EXPECT_LE(corn.lower_bound, decor.objective * (1 + 1e-12));
            EXPECT_LE(cdp.objective, corn.objective * (1 + 1e-9));
        }
}

TEST(Mechanisms, GiveTheSamePlanForTheSameInput) {
    for (const auto& setting : settings({7}))
        for (const auto& mechanism : mechanisms().records()) {
            DesignInput input = setting.input(50);
            ask_like_the_program(input, mechanism);
            EXPECT_EQ(mechanism.design(input).plan.hash(), mechanism.design(input).plan.hash())
                << mechanism.name;
        }
}

TEST(Mechanisms, RefuseAKappaThatIsNotFiniteAndPositiveAndNameTheAgent) {
    const Setting setting = settings({5}).front();
    for (const double bad : {0.0,
                             -1.0,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()})
        for (const auto& mechanism : mechanisms().records()) {
            if (!mechanism.needs_budget) continue;
            Eigen::VectorXd kappa = Eigen::VectorXd::Ones(5);
            kappa(1) = bad;
            DesignInput input = setting.input(10, kappa);
            ask_like_the_program(input, mechanism);
            EXPECT_TRUE(contains(message_of<ConfigError>([&] { (void)mechanism.design(input); }),
                                 "kappa of agent 1"))
                << mechanism.name << " " << bad;
        }
}

TEST(Mechanisms, AreWhatTheirRecordsSay) {
    for (const auto& setting : settings({5}))
        for (const auto& mechanism : mechanisms().records()) {
            SCOPED_TRACE(setting.named.name + ", " + mechanism.name);
            DesignInput input = setting.input(10);
            ask_like_the_program(input, mechanism);
            const NoisePlan plan = mechanism.design(input).plan;
            EXPECT_EQ(plan.mechanism, mechanism.name);
            EXPECT_EQ(plan.noiseless(), !mechanism.needs_budget);
            EXPECT_EQ(plan.distribution(), mechanism.distribution);
            EXPECT_EQ(plan.aggregation, mechanism.aggregation);
            EXPECT_EQ(plan.temporal.kind != TemporalFactor::Kind::identity,
                      mechanism.correlates_rounds);
            EXPECT_FALSE(mechanism.summary.empty());
            if (!mechanism.coalitions || mechanism.takes_spatial) continue;
            input.coalition_size = 2;
            EXPECT_TRUE(coalition_precision(mechanism.design(input).plan, 2).allFinite());
        }
}

TEST(FindMechanism, KnowsEveryNameAndSuggestsTheNearest) {
    for (const auto& name : mechanisms().names())
        EXPECT_EQ(find_mechanism("mechanism", name).name, name);
    EXPECT_EQ(mechanisms().names(),
              (std::vector<std::string>{"none",
                                        "ldp",
                                        "cdp",
                                        "dp-fedavg",
                                        "decor",
                                        "corn",
                                        "corn-hbc",
                                        "pairs",
                                        "covariance",
                                        "muffliato",
                                        "anti-pgd",
                                        "mafalda",
                                        "space-time",
                                        "zip-dl",
                                        "homomorphic",
                                        "laplace"}));
    const std::string message =
        message_of<ConfigError>([] { (void)find_mechanism("mechanism", "cron"); });
    EXPECT_TRUE(contains(message, "mechanism"));
    EXPECT_TRUE(contains(message, "did you mean 'corn'?"));
}

TEST(MechanismsWith, ListsNamesInTheOrderOfTheTableAndRecommendsFromItsEnd) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(mechanisms_with(&Mechanism::takes_temporal), (Names{"mafalda", "space-time"}));
    EXPECT_EQ(mechanisms_with(&Mechanism::spatial_part),
              (Names{"ldp", "decor", "corn", "corn-hbc", "pairs"}));
    EXPECT_EQ(recommended_mechanisms(&Mechanism::seed_groups), (Names{"pairs", "corn-hbc"}));
    EXPECT_TRUE(mechanisms_with([](const Mechanism&) { return false; }).empty());
}

TEST(RequireSpatialPart, RefusesEveryOtherMechanismAndNamesThoseThatCan) {
    for (const auto& mechanism : mechanisms().records()) {
        if (mechanism.spatial_part) {
            EXPECT_NO_THROW(require_spatial_part(mechanism));
            continue;
        }
        const std::string message =
            message_of<ConfigError>([&] { require_spatial_part(mechanism); });
        const bool trusted = mechanism.aggregation == Aggregation::trusted_mean;
        EXPECT_EQ(message,
                  "spatial-mechanism: " + mechanism.name + " is not possible" +
                      (trusted ? ", whose aggregator is trusted" : "") +
                      " (allowed: ldp, decor, corn, corn-hbc, pairs)");
    }
}

}  // namespace
}  // namespace sotto
