#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "mpi/trainer_fixtures.hpp"
#include "sotto/privacy/budget.hpp"
#include "trust/secret_coins.hpp"

namespace sotto::test {

/// Federated averaging whose agents make three local steps, and take part by coins.
struct FederatedRun {
    explicit FederatedRun(int agents) {
        run.rounds = 200;
        run.dimension = 100;
        run.adjacency = Adjacency::agent_zero_out;
        run.local_steps = 3;
        run.client_probability = probability;
        run.agent = [dimension = run.dimension](int id) { return client(id, dimension); };
        exposure = agent_exposure(run.adjacency,
                                  {.cycle = 1, .poisson = true},
                                  run.clip_norm,
                                  run.rounds,
                                  1,
                                  1,
                                  probability);
        const PrivacyBudget budget = sampled_budget(
            make_budget(StreamDistribution::gaussian, epsilon, delta, Calibration::exact),
            exposure.sampling_probability,
            run.rounds);
        kappa = Eigen::VectorXd::Constant(agents, precision_limit(budget, exposure));
    }

    static SecretCoins coins_of(int agent) {
        return {SecretKey::from_noise_seed(7, "sotto.coins", static_cast<std::uint64_t>(agent)),
                probability};
    }
    static LocalAgent client(int id, Eigen::Index dimension) {
        return {id,
                std::make_unique<PatternObjective>(pattern_gradient(id, dimension)),
                BatchSampler::drawn(
                    1,
                    [coins = std::make_shared<const SecretCoins>(coins_of(id))](
                        std::uint64_t batch, Eigen::Index count, std::vector<Eigen::Index>& rows) {
                        coins->draw(batch / 3, count, rows);
                    }),
                1};
    }

    static constexpr double probability = 0.25, epsilon = 2, delta = 1e-5;
    NoiseRun run;
    Exposure exposure;
    Eigen::VectorXd kappa;
};

/// What is wrong with contributions: each is three times the agent's gradient over q, clipped to
/// C / q, in the rounds that its coin chooses, and zero in the others.
inline std::string contributions_mismatch(const Recording& all, const FederatedRun& federated) {
    std::ostringstream wrong;
    const double q = FederatedRun::probability;
    for (int u = 0; u < all.last.cols(); ++u) {
        const Eigen::VectorXd sum = 3 * pattern_gradient(u, federated.run.dimension);
        const Eigen::VectorXd clipped =
            sum * std::min(1.0, federated.run.clip_norm / sum.norm()) / q;
        std::vector<Eigen::Index> heads;
        for (std::size_t t = 0; t < all.gradients.size(); ++t) {
            FederatedRun::coins_of(u).draw(t, 1, heads);
            const auto sent = all.gradients[t].col(u);
            const bool is_right = heads.empty() ? (sent.array() == 0).all()
                                                : (sent - clipped).norm() < 1e-3 * clipped.norm();
            if (!is_right || sent.norm() > federated.exposure.sensitivity)
                wrong << "round " << t << ", agent " << u << "; ";
        }
    }
    return wrong.str();
}

/// The epsilon of what was really added to the sum of the contributions: noise as loud as measured,
/// in units of the largest contribution, and agents that take part as often as they did.
inline double measured_epsilon(const Recording& all, const FederatedRun& federated) {
    double squares = 0, values = 0, largest = 0, there = 0, all_there = 0;
    const auto noise = all.noise(federated.run.step_size);
    for (std::size_t t = 0; t < noise.size(); ++t) {
        const Eigen::VectorXd sum = noise[t].rowwise().sum();
        squares += sum.squaredNorm();
        values += static_cast<double>(sum.size());
        for (Eigen::Index u = 0; u < noise[t].cols(); ++u) {
            const double norm = all.gradients[t].col(u).norm();
            largest = std::max(largest, norm);
            there += norm > 0 ? 1 : 0;
            all_there += 1;
        }
    }
    const SampledRounds rounds{
        std::sqrt(squares / values) / largest, there / all_there, federated.run.rounds};
    return PrivacyLoss::sampled({&rounds, 1}).epsilon(FederatedRun::delta).upper;
}

}  // namespace sotto::test
