#include "privacy/pairwise_noise.hpp"

#include <algorithm>
#include <numeric>

#include "privacy/message_noise.hpp"

namespace sotto {

using Eigen::VectorXd;

namespace {

/// The agents that add a stream, and their coefficients.
struct StreamUse {
    int count = 0;
    int agents[2] = {-1, -1};
    double coefficients[2] = {0, 0};
};

/// Nothing if a stream has more than two agents.
std::optional<std::vector<StreamUse>> uses_of_streams(const NoisePlan& plan) {
    std::vector<StreamUse> uses(plan.streams.size());
    for (const NoiseRow& row : plan.rows)
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            if (row.coefficients[j] == 0) continue;
            StreamUse& use = uses[static_cast<std::size_t>(row.streams[j])];
            if (use.count == 2) return std::nullopt;
            use.agents[use.count] = row.sender;
            use.coefficients[use.count++] = row.coefficients[j];
        }
    return uses;
}

}  // namespace

std::optional<PairwiseNoise> PairwiseNoise::of(const NoisePlan& plan) {
    if (!is_spatial(plan) || plan.aggregation != Aggregation::gossip) return std::nullopt;
    const auto uses = uses_of_streams(plan);
    if (!uses) return std::nullopt;
    PairwiseNoise noise(plan.agents, {});
    std::vector<Block> blocks;
    for (std::size_t k = 0; k < uses->size(); ++k) {
        const StreamUse& use = (*uses)[k];
        const auto& holders = plan.groups[static_cast<std::size_t>(plan.streams[k].group)].members;
        if (use.count == 0) continue;
        if (holders.size() == 1) {
            noise.private_(use.agents[0]) += use.coefficients[0] * use.coefficients[0];
            continue;
        }
        if (holders.size() != 2) return std::nullopt;
        // A stream that one of two holders adds: the other knows it.
        Block block{holders[0], holders[1]};
        for (int i = 0; i < use.count; ++i)
            (use.agents[i] == holders[0] ? block.first_variance : block.second_variance) +=
                use.coefficients[i] * use.coefficients[i];
        if (use.count == 2) block.covariance = use.coefficients[0] * use.coefficients[1];
        blocks.push_back(block);
    }
    noise.set_links(merged(std::move(blocks)));
    return noise;
}

/// One block a pair, ascending.
std::vector<PairwiseNoise::Block> PairwiseNoise::merged(std::vector<Block> blocks) {
    std::ranges::stable_sort(
        blocks, {}, [](const Block& block) { return std::pair(block.first, block.second); });
    std::vector<Block> sums;
    for (const Block& block : blocks) {
        if (sums.empty() || sums.back().first != block.first ||
            sums.back().second != block.second) {
            sums.push_back(block);
            continue;
        }
        sums.back().first_variance += block.first_variance;
        sums.back().second_variance += block.second_variance;
        sums.back().covariance += block.covariance;
    }
    return sums;
}

PairwiseNoise::PairwiseNoise(int agents, std::span<const std::pair<int, int>> pairs)
    : private_(VectorXd::Zero(agents)), variance_(VectorXd::Zero(agents)) {
    std::vector<Block> blocks;
    blocks.reserve(pairs.size());
    for (const auto& [u, v] : pairs) blocks.push_back({u, v});
    set_links(blocks);
}

void PairwiseNoise::set_links(std::span<const Block> blocks) {
    starts_.assign(static_cast<std::size_t>(agents()) + 1, 0);
    for (const Block& block : blocks) {
        ++starts_[static_cast<std::size_t>(block.first) + 1];
        ++starts_[static_cast<std::size_t>(block.second) + 1];
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    links_.resize(starts_.back());
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        const Block& block = blocks[k];
        const int pair = static_cast<int>(k);
        links_[next[static_cast<std::size_t>(block.first)]++] = {
            block.second, pair, block.first_variance, block.covariance};
        links_[next[static_cast<std::size_t>(block.second)]++] = {
            block.first, pair, block.second_variance, block.covariance};
    }
    sum_variances();
}

void PairwiseNoise::add_to(Hasher& hasher) const {
    std::vector<double> values(private_.begin(), private_.end());
    for (int u = 0; u < agents(); ++u)
        for (const NoiseLink& link : links(u))
            values.insert(values.end(), {static_cast<double>(link.other), link.own, link.cross});
    hasher.add(std::int64_t{agents()}).add(std::span<const double>(values));
    for (const std::size_t start : starts_) hasher.add(static_cast<std::int64_t>(start));
}

void PairwiseNoise::sum_variances() {
    variance_ = private_;
    for (int u = 0; u < agents(); ++u)
        for (const NoiseLink& link : links(u)) variance_(u) += link.own;
}

void PairwiseNoise::set_values(const VectorXd& private_variance, const VectorXd& pair_variance) {
    private_ = private_variance;
    for (NoiseLink& link : links_) {
        link.own = pair_variance(link.pair);
        link.cross = -link.own;
    }
    sum_variances();
}

PairwiseNoise PairwiseNoise::without(std::span<const int> coalition) const {
    PairwiseNoise left = *this;
    for (const int member : coalition) {
        left.private_(member) = 0;
        for (const NoiseLink& link : links(member)) {
            for (std::size_t k = starts_[static_cast<std::size_t>(link.other)];
                 k < starts_[static_cast<std::size_t>(link.other) + 1];
                 ++k)
                if (links_[k].other == member) left.links_[k].own = left.links_[k].cross = 0;
        }
        for (std::size_t k = starts_[static_cast<std::size_t>(member)];
             k < starts_[static_cast<std::size_t>(member) + 1];
             ++k)
            left.links_[k].own = left.links_[k].cross = 0;
    }
    left.sum_variances();
    return left;
}

}  // namespace sotto
