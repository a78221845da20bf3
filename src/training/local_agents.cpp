#include "training/local_agents.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <memory>
#include <utility>

#include "sotto/trust/secret_coins.hpp"

namespace sotto {

SecretKey reproducible_coins(std::uint64_t noise_seed, std::uint32_t key_epoch, int number) {
    return SecretKey::from_noise_seed(
        noise_seed,
        "sotto.coins",
        (std::uint64_t{key_epoch} << 32) + static_cast<std::uint64_t>(number));
}

DealtRecords dealt_records(const Run& run, int number) {
    return {run.config.plan.participation.cycle, run.config.task.seed, number};
}

BatchSampler sampled_batches(Eigen::Index records,
                             double probability,
                             SecretKey key,
                             const DealtRecords& dealt) {
    // Shared: std::function copies what it holds.
    const auto coins = std::make_shared<const SecretCoins>(std::move(key), probability);
    const auto draw = [coins](std::uint64_t round,
                              Eigen::Index count,
                              std::vector<Eigen::Index>& rows) { coins->draw(round, count, rows); };
    return dealt.parts == 1 ? BatchSampler::drawn(records, draw)
                            : BatchSampler::drawn_from_parts(
                                  records, dealt.parts, dealt.seed, dealt.number, draw);
}

Eigen::Index padded_batch(Eigen::Index records, double probability) {
    constexpr double too_small = 0x1p-40;
    const boost::math::binomial_distribution<double> drawn(static_cast<double>(records),
                                                           probability);
    const double most = boost::math::quantile(boost::math::complement(drawn, too_small));
    return std::min(records, static_cast<Eigen::Index>(std::ceil(most)));
}

namespace {

BatchSampler batches_of(
    Eigen::Index records, Eigen::Index batch_size, long cycle, std::uint64_t seed, int number) {
    // Adjacency agent does not depend on the batch, so a small shard may use all it has.
    const Eigen::Index batch = std::min(records, batch_size);
    return cycle > 1 || batch == records  // all records: a cycle of one batch
               ? BatchSampler::cyclic(records, cycle, seed, number)
               : BatchSampler::uniform(records, batch, seed, number);
}

/// What batches_of_client shares.
struct ClientCoins {
    SecretCoins coins;
    BatchSampler batches;
    std::vector<Eigen::Index> heads{};
};

}  // namespace

BatchSampler batches_of_client(Eigen::Index records,
                               BatchSampler batches,
                               double probability,
                               SecretKey key,
                               int local_steps) {
    const auto client =
        std::make_shared<ClientCoins>(SecretCoins(std::move(key), probability), std::move(batches));
    const auto draw = [client, local_steps](
                          std::uint64_t batch, Eigen::Index, std::vector<Eigen::Index>& rows) {
        rows.clear();
        client->coins.draw(batch / static_cast<std::uint64_t>(local_steps), 1, client->heads);
        if (client->heads.empty()) return;
        const auto chosen = client->batches.rows(batch);
        rows.assign(chosen.begin(), chosen.end());
        std::ranges::sort(rows);
    };
    return BatchSampler::drawn(records, draw);
}

BatchSampler drawn_batches(const Run& run,
                           int number,
                           Eigen::Index records,
                           Eigen::Index batch_size,
                           double probability,
                           SecretKey key) {
    const PlanConfig& plan = run.config.plan;
    if (!plan.client_probability)
        return sampled_batches(records, probability, std::move(key), dealt_records(run, number));
    return batches_of_client(records,
                             batches_of(records, batch_size, 1, run.config.task.seed, number),
                             probability,
                             std::move(key),
                             plan.local_steps);
}

std::vector<LocalAgent> build_agents(const Run& run,
                                     std::vector<std::unique_ptr<Objective>> objectives,
                                     bool rows_are_rounds,
                                     const std::vector<Exposure>& exposures) {
    std::vector<LocalAgent> agents;
    const auto local = run.network.local_agents();
    const long cycle = run.config.plan.participation.cycle;
    for (std::size_t a = 0; a < local.size(); ++a) {
        const int id = local[a];
        const int number = run.members.number(id);
        const Eigen::Index records = objectives[a]->records();
        const Eigen::Index batch_size = exposures[static_cast<std::size_t>(id)].batch_size;
        BatchSampler batches =
            rows_are_rounds ? BatchSampler::in_order(records)
            : run.config.plan.participation.poisson
                // Of a run that opens: replaced by those of the agent's key (take_coins).
                ? drawn_batches(run,
                                number,
                                records,
                                batch_size,
                                exposures[static_cast<std::size_t>(id)].sampling_probability,
                                SecretKey::random())
                : batches_of(records, batch_size, cycle, run.config.task.seed, number);
        LocalAgent& agent = agents.emplace_back(
            id, std::move(objectives[a]), std::move(batches), batch_size, number);
        if (run.config.pad_rounds)
            agent.padding = BatchPadding(
                padded_batch(agent.batches.largest_batch(),
                             exposures[static_cast<std::size_t>(id)].sampling_probability));
    }
    return agents;
}

}  // namespace sotto
