// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <optional>

#include "mpi/bootstrap_fixtures.hpp"
#include "sotto/privacy/budget.hpp"
#include "sotto/privacy/privacy_record.hpp"

namespace sotto {
namespace {

using test::expect_same_refusal;
using test::MechanismCase;
using test::mpi_network;
using test::named_path;

/// Budgets, exposures and the matching limits of a run of `agents` agents.
struct Protection {
    std::vector<Exposure> exposures;
    std::vector<PrivacyBudget> budgets;
    Eigen::VectorXd kappa;
};
Protection protection_of(int agents) {
    Protection result;
    result.kappa.resize(agents);
    for (int u = 0; u < agents; ++u) {
        result.exposures.push_back(agent_exposure(Adjacency::agent, {}, 0.1, 100, 0, 1));
        result.budgets.push_back(make_budget(5 + u, 1e-5, Calibration::exact));
        result.kappa(u) = precision_limit(result.budgets.back(), result.exposures.back());
    }
    return result;
}

/// A mechanism's plan for these budgets, and what its rounds reveal: those of plan_of, in which
/// correlated rounds have a participation of their own.
struct ProtectedPlan {
    ProtectedPlan(const MechanismCase& entry, const Topography& topography)
        : protection(protection_of(topography.graph.agents())) {
        const bool correlated = find_mechanism("mechanism", entry.mechanism).correlates_rounds;
        const auto count = [&](const TemporalFactor& factor) {
            for (std::size_t u = 0; correlated && u < protection.exposures.size(); ++u) {
                Exposure& exposure = protection.exposures[u];
                exposure.sensitivity_squared_over_rounds =
                    temporal_sensitivity_squared(factor, entry.participation, 100);
                if (plan.rows.empty())
                    protection.kappa(static_cast<Eigen::Index>(u)) =
                        precision_limit(protection.budgets[u], exposure);
            }
        };
        count({});
        plan = test::plan_of(entry, topography, protection.kappa);
        count(plan.temporal);
    }
    Protection protection;
    NoisePlan plan;
};

/// What verify_agreement throws here.
std::optional<Error> refusal(Network& network,
                             const Topography& topography,
                             const NoisePlan& plan,
                             const Protection& protection) {
    try {
        verify_agreement(network,
                         topography,
                         plan,
                         protection.exposures,
                         protection.budgets,
                         plan.coalition_size);
    } catch (const Error& error) {
        EXPECT_EQ(dynamic_cast<const PrivacyError*>(&error) != nullptr,
                  error.exit_code() == ExitCode::privacy);
        EXPECT_EQ(dynamic_cast<const NetworkError*>(&error) != nullptr,
                  error.exit_code() == ExitCode::network);
        return error;
    }
    return std::nullopt;
}

TEST(ProtectionAgreement, AcceptsPlansThatProtectEverybody) {
    const auto network = mpi_network();
    const Topography topography = named_path(network->agents());
    for (const MechanismCase& entry : test::mechanism_cases()) {
        if (entry.mechanism == "none") continue;
        const ProtectedPlan run(entry, topography);
        EXPECT_FALSE(refusal(*network, topography, run.plan, run.protection)) << entry.label;
    }
}

TEST(ProtectionAgreement, RefusesAPlanWithTooLittleNoiseOnEveryRank) {
    const auto network = mpi_network();
    const Topography topography = named_path(network->agents());
    for (const MechanismCase& entry : test::mechanism_cases()) {
        if (entry.mechanism == "none") continue;
        ProtectedPlan run(entry, topography);
        run.plan.scale *= 0.9;
        expect_same_refusal(*network,
                            refusal(*network, topography, run.plan, run.protection),
                            ExitCode::privacy,
                            "does not protect agent");
    }
}

TEST(ProtectionAgreement, RefusesWhatOnlyTheLastAgentCannotAccept) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Topography topography = named_path(n);
    Protection protection = protection_of(n);
    const NoisePlan plan =
        test::plan_of({"Ldp", "ldp", {Utility::Kind::horizon, 20}}, topography, protection.kappa);
    // Its owner, and nobody else, was told of a stricter budget.
    if (network->process() == n - 1)
        protection.budgets.back() = make_budget(0.5, 1e-5, Calibration::exact);
    expect_same_refusal(*network,
                        refusal(*network, topography, plan, protection),
                        ExitCode::privacy,
                        "does not protect agent " + std::to_string(n - 1));
}

TEST(ProtectionAgreement, RefusesAPlanWithoutNoiseUnlessTheBudgetAsksForNone) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Topography topography = named_path(n);
    const NoisePlan plan =
        test::plan_of({"None", "none", {Utility::Kind::horizon, 20}}, topography, {});
    Protection protection = protection_of(n);
    expect_same_refusal(
        *network, refusal(*network, topography, plan, protection), ExitCode::privacy, "no noise");
    for (PrivacyBudget& budget : protection.budgets) {
        budget = {};
        budget.delta = 1e-5;
    }
    EXPECT_FALSE(refusal(*network, topography, plan, protection));
    // One agent that was promised protection is enough to stop all.
    if (network->process() == n - 1)
        protection.budgets.back() = make_budget(5, 1e-5, Calibration::exact);
    expect_same_refusal(
        *network, refusal(*network, topography, plan, protection), ExitCode::privacy, "no noise");
}

TEST(ProtectionAgreement, NoticesRanksWithAnotherPlanGraphOrMixing) {
    const auto network = mpi_network();
    const int n = network->agents();
    if (n < 2) GTEST_SKIP() << "one rank cannot disagree with itself";
    const bool last = network->process() == n - 1;
    const Topography common = named_path(n);
    const Protection protection = protection_of(n);
    const NoisePlan plan =
        test::plan_of({"Ldp", "ldp", {Utility::Kind::horizon, 20}}, common, protection.kappa);
    const std::string named = "rank " + std::to_string(n - 1) + " holds another";

    NoisePlan louder = plan;
    louder.scale *= 1.5;
    expect_same_refusal(*network,
                        refusal(*network, common, last ? louder : plan, protection),
                        ExitCode::network,
                        named);

    const Topography lazy{common.graph,
                          MixingMatrix::from_rule(common.graph, MixingRule::lazy_metropolis)};
    expect_same_refusal(*network,
                        refusal(*network, last ? lazy : common, plan, protection),
                        ExitCode::network,
                        named);

    if (n > 2) {
        const Topography complete = test::topography_of(Topology::complete, n);
        expect_same_refusal(*network,
                            refusal(*network, last ? complete : common, plan, protection),
                            ExitCode::network,
                            named);
    }
    EXPECT_FALSE(refusal(*network, common, plan, protection));
}

TEST(ProtectionAgreement, RefusesAPlanForAnotherNumberOfAgents) {
    const auto network = mpi_network();
    const int n = network->agents();
    const Protection protection = protection_of(n + 1);
    const NoisePlan plan = test::plan_of(
        {"Ldp", "ldp", {Utility::Kind::horizon, 20}}, named_path(n + 1), protection.kappa);
    expect_same_refusal(*network,
                        refusal(*network, named_path(n), plan, protection),
                        ExitCode::usage,
                        "made for " + std::to_string(n + 1) + " agents");
}

}  // namespace
}  // namespace sotto
