// Under mpiexec, any number of ranks: one agent a rank. With secretly sampled batches a message is
// the model less step size times (clipped records that the coins chose / B + accounted noise),
// whatever is drawn. Every rank calls every collective: EXPECT only.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learn/record_objective.hpp"
#include "mpi/federated_fixtures.hpp"
#include "mpi/mpi_main.hpp"
#include "mpi/trainer_fixtures.hpp"
#include "net/network_fixtures.hpp"
#include "trust/secret_coins.hpp"

namespace sotto {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::MechanismCase;
using test::NoiseRun;
using test::Recording;

constexpr Index batch_size = 2;  // expected: one batch in eight is empty

/// Records of agent u: as many as its number says.
Index records_of(int agent) { return 20 + 5 * (agent % 4); }

/// Row r is the gradient of record r, whatever the model: some within the clip norm, some beyond.
RealRows gradients_of(int agent, Index dimension) {
    RealRows rows(records_of(agent), dimension);
    for (Index r = 0; r < rows.rows(); ++r)
        rows.row(r) = test::pattern_gradient(agent, dimension).transpose() *
                      (0.05 * static_cast<double>(1 + r % 7)) * (r % 2 == 0 ? 1 : -1);
    return rows;
}

/// Its data are its gradients.
class GivenGradients final : public RecordObjective {
  public:
    explicit GivenGradients(Dataset shard) : RecordObjective(std::move(shard), nullptr) {}
    Index dimension() const override { return shard().feature_count(); }

  private:
    Loss record_loss(const Eigen::Ref<const VectorXd>&, const Dataset&, Index) override {
        return {};
    }
    void record_gradient(const Eigen::Ref<const VectorXd>&,
                         const Dataset& data,
                         Index row,
                         Eigen::Ref<VectorXd> gradient) override {
        gradient = std::get<RealRows>(*data.dense).row(row).transpose();
    }
};

SecretCoins coins_of(int agent) {
    return {SecretKey::from_noise_seed(7, "sotto.coins", static_cast<std::uint64_t>(agent)),
            static_cast<double>(batch_size) / static_cast<double>(records_of(agent))};
}

LocalAgent sampled_agent(int id, Index dimension) {
    Dataset shard;
    shard.dense = gradients_of(id, dimension);
    shard.labels = VectorXd::Ones(records_of(id));
    return {id,
            std::make_unique<GivenGradients>(std::move(shard)),
            BatchSampler::drawn(records_of(id),
                                [coins = std::make_shared<const SecretCoins>(coins_of(id))](
                                    std::uint64_t round, Index count, std::vector<Index>& rows) {
                                    coins->draw(round, count, rows);
                                }),
            batch_size};
}

NoiseRun sampled_run() {
    NoiseRun run;
    run.clip_norm = 3;
    run.adjacency = Adjacency::record_add_remove;
    run.agent = [dimension = run.dimension](int id) { return sampled_agent(id, dimension); };
    return run;
}

/// Batches that were empty, and what is wrong with gradients if anything is: each is the sum of the
/// clipped records that the coins choose, over the fixed divisor.
struct Gradients {
    long empty = 0;
    std::string wrong;
};
Gradients compared(const Recording& all, const NoisePlan& plan, const NoiseRun& run) {
    Gradients result;
    std::ostringstream text;
    for (Index u = 0; u < all.last.cols(); ++u) {
        const int agent = static_cast<int>(u);
        const RealRows given = gradients_of(agent, run.dimension);
        const SecretCoins coins = coins_of(agent);
        std::vector<Index> chosen(static_cast<std::size_t>(given.rows()));
        for (std::size_t t = 0; t < all.gradients.size(); ++t) {
            coins.draw(t, given.rows(), chosen);
            VectorXd wanted = VectorXd::Zero(run.dimension);
            for (const Index r : chosen)
                wanted +=
                    given.row(r).transpose() * std::min(1.0, run.clip_norm / given.row(r).norm());
            wanted /= static_cast<double>(batch_size);
            result.empty += chosen.empty() ? 1 : 0;
            const double error = (all.gradients[t].col(u) - wanted).cwiseAbs().maxCoeff();
            // Every record is rounded toward zero to batch_size grid steps.
            if (!(error <= plan.grid_step() * (static_cast<double>(chosen.size()) + 1e-6)))
                text << "round " << t << ", agent " << u << ": off by " << error << "; ";
        }
    }
    result.wrong = text.str();
    return result;
}

Recording record(const Topography& topography, const NoisePlan& plan, const NoiseRun& run) {
    const auto network = test::mpi_network();
    return test::gather_recording(*network, test::record_rounds(*network, topography, plan, run));
}

Topography topography() {
    const int ranks = test::mpi_session().ranks();
    return ranks > 4 ? test::topography_of(Topology::erdos_renyi, ranks, 0.4)
                     : test::topography_of(Topology::complete, ranks);
}

std::vector<MechanismCase> independent_cases() {
    std::vector<MechanismCase> cases = test::mechanism_cases();
    std::erase_if(cases, [](const MechanismCase& entry) {
        return !find_mechanism("mechanism", entry.mechanism).independent_rounds();
    });
    return cases;
}

TEST(SampledBatches, HaveTheAccountedNoiseForEveryMechanism) {
    const NoiseRun run = sampled_run();
    const Topography on = topography();
    for (const MechanismCase& entry : independent_cases()) {
        const NoisePlan plan = test::shared_plan_of(
            *test::mpi_network(), entry, on, test::uneven_limits(on.graph.agents()));
        const Recording recorded = record(on, plan, run);
        if (test::mpi_session().rank() != 0) continue;
        EXPECT_EQ(test::noise_is_not_accounted(recorded, on, plan, run), "") << entry.label;
        const auto [empty, wrong] = compared(recorded, plan, run);
        EXPECT_EQ(wrong, "") << entry.label;
        EXPECT_GT(empty, 0) << "no batch was empty: this run shows nothing about those";
    }
}

TEST(SampledClients, OfFederatedAveragingSpendTheBudgetThatIsAccounted) {
    const Topography on = topography();
    const test::FederatedRun federated(on.graph.agents());
    const NoisePlan plan = test::shared_plan_of(
        *test::mpi_network(), {"DpFedavg", "dp-fedavg", {}}, on, federated.kappa);
    const Recording recorded = record(on, plan, federated.run);
    if (test::mpi_session().rank() != 0) return;
    EXPECT_EQ(test::contributions_mismatch(recorded, federated), "");
    for (Index u = 1; u < recorded.last.cols(); ++u)
        EXPECT_TRUE(recorded.last.col(u) == recorded.last.col(0)) << "agent " << u;
}

TEST(SampledBatches, HaveTheAccountedNoiseBehindSumsAndCiphersAndInGossip) {
    const Topography on = topography();
    if (on.graph.agents() < 3) return;
    for (const bool secure_sum : {false, true}) {
        NoiseRun run = sampled_run();
        run.encrypted = true;
        run.secure_sum = secure_sum;
        run.gossip = secure_sum ? 1 : 3;
        const NoisePlan plan =
            test::shared_plan_of(*test::mpi_network(),
                                 {"Pairs", "pairs", {Utility::Kind::horizon, 20}},
                                 on,
                                 test::uneven_limits(on.graph.agents()));
        const Recording recorded = record(on, plan, run);
        if (test::mpi_session().rank() != 0) continue;
        const Eigen::MatrixXd accounted = spatial_covariance(plan);
        const auto noise = recorded.fresh_noise(run.step_size, plan);
        EXPECT_EQ(test::covariance_mismatch(noise, accounted), "") << secure_sum;
        EXPECT_EQ(test::round_dependence(noise, accounted), "") << secure_sum;
        EXPECT_EQ(compared(recorded, plan, run).wrong, "") << secure_sum;
    }
}

// What an agent that divides by the batch it drew would send.
TEST(SampledBatches, DividedByWhatWasDrawnWouldBeNoticed) {
    const NoiseRun run = sampled_run();
    const Topography on = topography();
    const NoisePlan plan = test::shared_plan_of(*test::mpi_network(),
                                                {"Ldp", "ldp", {Utility::Kind::horizon, 20}},
                                                on,
                                                test::uneven_limits(on.graph.agents()));
    Recording recorded = record(on, plan, run);
    if (test::mpi_session().rank() != 0) return;
    const SecretCoins coins = coins_of(0);
    std::vector<Index> chosen(static_cast<std::size_t>(records_of(0)));
    for (std::size_t t = 0; t < recorded.gradients.size(); ++t) {
        coins.draw(t, records_of(0), chosen);
        if (!chosen.empty())
            recorded.gradients[t].col(0) *=
                static_cast<double>(batch_size) / static_cast<double>(chosen.size());
    }
    EXPECT_NE(compared(recorded, plan, run).wrong, "");
}

}  // namespace
}  // namespace sotto
