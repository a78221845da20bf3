#include "audit/known_coins.hpp"

#include <fmt/format.h>

#include "sotto/agent/recording/recorded_view.hpp"
#include "sotto/core/error.hpp"
#include "training/local_agents.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

KnownCoins coins_of_batches(std::string whose,
                            BatchSampler batches,
                            const CanaryRecords& canaries,
                            long rounds) {
    KnownCoins coins{std::move(whose), MatrixXd::Zero(rounds, canaries.trials)};
    for (Index t = 0; t < rounds; ++t)
        for (const Index row : batches.rows(static_cast<std::uint64_t>(t)))
            if (row < canaries.trials) coins.drawn(t, row) = 1;
    return coins;
}

KnownCoins coins_of_member(int member,
                           const CanaryRecords& canaries,
                           const std::filesystem::path& file,
                           long rounds) {
    RecordedViewReader reader(file);
    KnownCoins coins{fmt::format("coins of agent {}", member),
                     MatrixXd::Zero(rounds, canaries.trials)};
    for (RecordedRound record; reader.next(record);) {
        if (record.gossip_step > 0) continue;
        if (record.round >= rounds || record.gradient.size() != canaries.dimension())
            throw DataError(fmt::format("{}: not a recording of this run", file.string()));
        coins.drawn.row(record.round) =
            (record.gradient.head(canaries.trials).array() > 0).cast<double>().transpose();
    }
    return coins;
}

}  // namespace

std::vector<KnownCoins> public_coins(const CanaryRecords& canaries,
                                     std::uint64_t seed,
                                     double probability,
                                     Index batch_size,
                                     long rounds) {
    const Index records = canaries.records();
    return {coins_of_batches(
                "coins from --seed",
                sampled_batches(records, probability, reproducible_coins(seed, 0, canaries.target)),
                canaries,
                rounds),
            coins_of_batches("batches from --seed",
                             BatchSampler::uniform(records, batch_size, seed, canaries.target),
                             canaries,
                             rounds)};
}

std::vector<KnownCoins> member_coins(const CanaryRecords& canaries,
                                     const std::filesystem::path& views,
                                     long rounds) {
    std::vector<KnownCoins> coins;
    for (const int member : canaries.members)
        coins.push_back(
            coins_of_member(member, canaries, views / std::to_string(member) / "view.bin", rounds));
    return coins;
}

}  // namespace sotto
