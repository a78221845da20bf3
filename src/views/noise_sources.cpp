#include "views/noise_sources.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "privacy/unknown_noise.hpp"

namespace sotto {

namespace {

/// One source a stream.
NoiseSources sources_by_stream(const NoisePlan& plan, std::span<const int> members) {
    NoiseSources result;
    std::vector<int> chosen;
    const std::vector<bool> unknown = unknown_streams(plan, members);
    for (std::size_t k = 0; k < unknown.size(); ++k)
        if (unknown[k]) chosen.push_back(static_cast<int>(k));
    result.index = AgentIndex(static_cast<int>(unknown.size()), std::move(chosen));
    result.factor.resize(result.index.size(), result.index.size());
    result.factor.setIdentity();
    result.covariance = result.factor;
    return result;
}

/// One source an agent: its noise of one round.
NoiseSources sources_by_agent(const NoisePlan& plan, const View& view) {
    NoiseSources result;
    std::vector<int> chosen;
    for (int u = 0; u < plan.agents; ++u)
        if (!view.has_member(u)) chosen.push_back(u);
    result.index = AgentIndex(plan.agents, std::move(chosen));
    const Eigen::SparseMatrix<double> all = unknown_coefficients(plan, view.members);
    std::vector<Eigen::Triplet<double>> entries;
    std::vector<int> column(static_cast<std::size_t>(all.cols()), -1);
    int columns = 0;
    for (int k = 0; k < all.outerSize(); ++k)
        for (Eigen::SparseMatrix<double>::InnerIterator it(all, k); it; ++it) {
            auto& place = column[static_cast<std::size_t>(k)];
            if (place < 0) place = columns++;
            entries.emplace_back(result.index.of(static_cast<int>(it.row())), place, it.value());
        }
    result.factor.resize(result.index.size(), columns);
    result.factor.setFromTriplets(entries.begin(), entries.end());
    const Eigen::MatrixXd covariance = outer_product(result.factor);
    result.covariance = covariance.sparseView(0, 0);
    return result;
}

}  // namespace

NoiseSources noise_sources(const NoisePlan& plan, const View& view) {
    return plan.same_message_to_all() ? sources_by_agent(plan, view)
                                      : sources_by_stream(plan, view.members);
}

bool same_noise_to_all(const NoisePlan& plan, int sender) {
    return std::ranges::none_of(plan.rows, [&](const NoiseRow& row) {
        return row.sender == sender && row.receiver != NoiseRow::all_receivers;
    });
}

}  // namespace sotto
