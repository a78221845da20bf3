#include "record_tiles.hpp"

#include <algorithm>
#include <optional>

#include "sotto/core/seeded_random.hpp"

namespace sotto {

namespace {

constexpr int probes = 4;
constexpr Eigen::Index smallest_tile = 8;

Eigen::VectorXd random_numbers(SeededRandom& random, Eigen::Index size) {
    Eigen::VectorXd numbers(size);
    for (double& number : numbers) number = random.normal();
    return numbers;
}

/// Whether a record comes to the same bits wherever it is in tiles of these sizes.
bool agree(LayerChain& chain, const std::vector<Eigen::Index>& tiles) {
    SeededRandom random(1, "places of records", 0);
    const Eigen::Index inputs = chain.layers().front()->inputs();
    for (int probe = 0; probe < probes; ++probe) {
        // Some features of real records are zero.
        const Eigen::VectorXd features = random_numbers(random, inputs).cwiseMax(-0.5);
        const Eigen::VectorXd slopes = random_numbers(random, chain.outputs());
        const Eigen::VectorXd model = random_numbers(random, chain.parameters());
        std::optional<Eigen::VectorXd> before;
        for (const Eigen::Index tile : tiles) {
            auto now = chain.same_in_every_place(tile, model, features, slopes);
            if (!now || (before && *before != *now)) return false;
            before = std::move(now);
        }
    }
    return true;
}

}  // namespace

std::vector<Eigen::Index> place_independent_tiles(LayerChain& chain) {
    const auto most = static_cast<Eigen::Index>(chain.chunk_records());
    std::vector<Eigen::Index> falling;
    for (Eigen::Index tile = most; tile >= std::min(smallest_tile, most);
         tile = tile / 4 / smallest_tile * smallest_tile)
        falling.push_back(tile);
    std::vector<std::vector<Eigen::Index>> choices{falling};
    for (const Eigen::Index tile : falling) choices.push_back({tile});
    for (const auto& tiles : choices)
        if (agree(chain, tiles)) return tiles;
    return {1};
}

}  // namespace sotto
