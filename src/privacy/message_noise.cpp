#include "privacy/message_noise.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/numbers.hpp"
#include "privacy/dropouts.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// The noise of one agent's messages of one round.
struct OwnNoise {
    Eigen::MatrixXd others;  // receivers other than itself x streams, without the plan's scale
    Eigen::RowVectorXd own;  // of the copy it keeps
};

std::vector<OwnNoise> own_noises(const NoisePlan& plan) {
    std::vector<std::vector<const NoiseRow*>> rows(static_cast<std::size_t>(plan.agents));
    for (const auto& row : plan.rows) rows[static_cast<std::size_t>(row.sender)].push_back(&row);
    std::vector<OwnNoise> result;
    for (const auto& of_sender : rows) {
        std::map<int, Eigen::Index> column;
        for (const NoiseRow* row : of_sender)
            for (const int stream : row->streams) {
                const auto group =
                    static_cast<std::size_t>(plan.streams[static_cast<std::size_t>(stream)].group);
                if (plan.groups[group].members.size() > 1)
                    refuse_noise("depends on the receiver (or is Laplace) and is shared by agents");
                column.try_emplace(stream, static_cast<Eigen::Index>(column.size()));
            }
        OwnNoise noise;
        const auto streams = static_cast<Eigen::Index>(column.size());
        noise.others.resize(0, streams);
        noise.own = Eigen::RowVectorXd::Zero(streams);
        for (const NoiseRow* row : of_sender) {
            Eigen::RowVectorXd coefficients = Eigen::RowVectorXd::Zero(streams);
            for (std::size_t j = 0; j < row->streams.size(); ++j)
                coefficients(column[row->streams[j]]) = row->coefficients[j];
            const bool to_all = row->receiver == NoiseRow::all_receivers;
            if (to_all || row->receiver == row->sender) noise.own = coefficients;
            if (to_all || row->receiver != row->sender) {
                noise.others.conservativeResize(noise.others.rows() + 1, streams);
                noise.others.bottomRows(1) = coefficients;
            }
        }
        result.push_back(std::move(noise));
    }
    return result;
}

/// Solves others^T beta = target by least squares; nothing if the target is outside the range.
std::optional<Eigen::VectorXd> combination(const Eigen::MatrixXd& factor,
                                           const Eigen::VectorXd& target) {
    if (!(target.squaredNorm() > 0)) return Eigen::VectorXd::Zero(factor.cols());
    if (factor.size() == 0) return std::nullopt;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(rank_cut_off);
    decomposition.compute(factor);
    Eigen::VectorXd solution = decomposition.solve(target);
    if (!((factor * solution - target).norm() <= outside_range * target.norm()))
        return std::nullopt;
    return solution;
}

double precision_of(const NoisePlan& plan, const OwnNoise& noise) {
    if (noise.others.rows() == 0) return 0;  // it sends nothing
    const Eigen::MatrixXd q = plan.scale * noise.others;
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(q.rows());
    if (plan.distribution() == StreamDistribution::laplace) {
        // One Laplace stream, the same in all messages; nothing else has a known bound.
        for (Eigen::Index v = 0; v < q.rows(); ++v)
            if (q.cols() != 1 || q(v, 0) != q(0, 0))
                refuse_noise("is Laplace and not one stream per agent");
        return q(0, 0) != 0 ? 1 / (q(0, 0) * q(0, 0)) : infinity;
    }
    // |z|^2 for the shortest z with Q z = 1.
    const auto shortest = combination(q, ones);
    return shortest ? shortest->squaredNorm() : infinity;
}

}  // namespace

void refuse_noise(const std::string& what) {
    throw PrivacyError("noise plan: no bound is known here for noise that " + what);
}

bool is_spatial(const NoisePlan& plan) {
    return plan.same_message_to_all() && plan.distribution() == StreamDistribution::gaussian;
}

Eigen::VectorXd message_precision(const NoisePlan& plan, std::span<const int> coalition) {
    const auto noises = own_noises(plan);
    Eigen::VectorXd precision(plan.agents);
    for (int u = 0; u < plan.agents; ++u)
        precision(u) = std::binary_search(coalition.begin(), coalition.end(), u)
                           ? infinity
                           : precision_of(plan, noises[static_cast<std::size_t>(u)]);
    return precision;
}

Eigen::VectorXd own_copy_weight(const NoisePlan& plan) {
    if (plan.same_message_to_all()) return Eigen::VectorXd::Ones(plan.agents);
    const auto noises = own_noises(plan);
    Eigen::VectorXd weight(plan.agents);
    for (int u = 0; u < plan.agents; ++u) {
        const OwnNoise& noise = noises[static_cast<std::size_t>(u)];
        const auto beta = combination(noise.others.transpose(), noise.own.transpose());
        if (!beta) refuse_noise("an agent adds to its own copy only");
        weight(u) = beta->sum();
    }
    return weight;
}

}  // namespace sotto
