#include "agent/bootstrap/protection_agreement.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/test_support.hpp"
#include "mpi/trainer_fixtures.hpp"

namespace sotto {
namespace {

using test::contains;
using test::message_of;

const Topography ring = test::topography_of(Topology::ring, 6);

std::string difference(const Topography& own) {
    return message_of<NetworkError>([&] { require_same(2, own, ring); });
}

TEST(RequireSame, OfTopographiesNamesRankAndQuantity) {
    EXPECT_NO_THROW(require_same(2, ring, ring));
    const std::string start = "rank 2 found another ";
    EXPECT_TRUE(contains(difference(test::topography_of(Topology::path, 6)), start + "graph"));
    EXPECT_TRUE(contains(
        difference({ring.graph, MixingMatrix::from_rule(ring.graph, MixingRule::lazy_metropolis)}),
        start + "mixing matrix (relative difference 0.5,"));
    Topography changing = ring;
    changing.later_mixing.push_back(ring.mixing);
    EXPECT_TRUE(contains(difference(changing), start + "mixing schedule"));
}

TEST(RequireSame, OfTopographiesForgivesAnotherMachinesRounding) {
    const auto tilted = [&](double by) {
        Eigen::MatrixXd dense = ring.mixing.dense();
        dense(1, 0) += by;
        dense(1, 1) -= by;
        return Topography{ring.graph, MixingMatrix::from_dense(ring.graph, dense)};
    };
    EXPECT_NO_THROW(require_same(2, tilted(1e-14), ring));
    EXPECT_TRUE(contains(difference(tilted(1e-11)), "mixing matrix"));
}

TEST(RequireSame, OfPlansNamesWhatDiffers) {
    const NoisePlan plan = test::plan_of(
        {"AntiPgd", "anti-pgd", {Utility::Kind::one_step, 1}}, ring, test::uneven_limits(6));
    const auto differs = [&](const std::function<void(NoisePlan&)>& change) {
        NoisePlan own = plan;
        change(own);
        return message_of<NetworkError>([&] { require_same(4, own, plan); });
    };
    const std::string start = "rank 4 found another noise plan (";
    EXPECT_TRUE(contains(differs([](auto& own) { own.scale *= 1 + 1e-11; }), start + "scale"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.rows[3].coefficients[0] *= 1 + 1e-9; }),
                         start + "coefficients"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.temporal.lower(0, 0) *= 1 + 1e-9; }),
                         start + "temporal factor"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.grid_step_log2 -= 2; }), start + "grid step"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.mechanism = "ldp"; }), start + "mechanism"));
    EXPECT_TRUE(contains(differs([](auto& own) { own.rows.pop_back(); }), start + "mechanism"));
}

TEST(RequireSame, OfPlansForgivesAnotherMachinesRounding) {
    const NoisePlan plan = test::plan_of(
        {"AntiPgd", "anti-pgd", {Utility::Kind::one_step, 1}}, ring, test::uneven_limits(6));
    NoisePlan own = plan;
    own.scale *= 1 + 1e-14;
    own.temporal.lower *= 1 - 1e-14;
    own.grid_step_log2 += 1;
    for (auto& row : own.rows)
        for (double& coefficient : row.coefficients) coefficient *= 1 + 1e-14;
    EXPECT_NO_THROW(require_same(4, own, plan));
}

}  // namespace
}  // namespace sotto
