#include "sotto/privacy/accountant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "privacy/dropouts.hpp"
#include "privacy/message_noise.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/budget.hpp"

namespace sotto {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd spatial_covariance(const NoisePlan& plan) {
    return outer_product(unknown_coefficients(plan, {}));
}

namespace {

bool known_agents(const NoisePlan& plan, const Observer& observer) {
    return std::ranges::all_of(observer.coalition,
                               [&](int member) { return member >= 0 && member < plan.agents; });
}

}  // namespace

VectorXd observed_precision(const NoisePlan& plan, const Observer& observer) {
    if (!known_agents(plan, observer))
        throw ConfigError(fmt::format(
            "coalition: agent {} does not exist (allowed: 0 to {})",
            *std::ranges::find_if(observer.coalition,
                                  [&](int member) { return member < 0 || member >= plan.agents; }),
            plan.agents - 1));
    return is_spatial(plan) ? unknown_precision(plan, observer.coalition)
                            : message_precision(plan, observer.coalition);
}

namespace {

/// Below this eigendecompositions take no time and handle a singular R.
constexpr int many_agents = 64;
/// R^-1 is updated while the largest variance times the largest precision, divided by what a
/// coalition leaves, is at most this: rounding is then about 1e-9 of a precision.
constexpr double largest_loss_of_digits = 1e7;

}  // namespace

ObservedPrecisions::ObservedPrecisions(const NoisePlan& plan) : plan_(plan) {
    if (plan.agents < many_agents || !is_spatial(plan) || plan.noiseless() ||
        plan.aggregation != Aggregation::gossip ||
        (plan.agents > most_dense_private && noise_is_private(plan)))
        return;
    coefficients_ = unknown_coefficients(plan, {});
    MatrixXd covariance = outer_product(coefficients_);
    const double loudest = covariance.diagonal().maxCoeff();
    if (!invert_positive_definite(covariance)) return;
    condition_ = covariance.diagonal().maxCoeff() * loudest;
    if (!(condition_ < largest_loss_of_digits)) return;
    inverse_ = std::move(covariance);
    std::vector<std::vector<int>> streams_of_group(plan.groups.size());
    for (std::size_t k = 0; k < plan.streams.size(); ++k)
        streams_of_group[static_cast<std::size_t>(plan.streams[k].group)].push_back(
            static_cast<int>(k));
    streams_of_.resize(static_cast<std::size_t>(plan.agents));
    for (std::size_t group = 0; group < plan.groups.size(); ++group)
        for (const int member : plan.groups[group].members) {
            auto& streams = streams_of_[static_cast<std::size_t>(member)];
            streams.insert(
                streams.end(), streams_of_group[group].begin(), streams_of_group[group].end());
        }
}

std::optional<VectorXd> ObservedPrecisions::by_change(const Observer& observer) const {
    const std::vector<int>& coalition = observer.coalition;
    std::vector<int> known;
    for (const int member : coalition) {
        const auto& streams = streams_of_[static_cast<std::size_t>(member)];
        known.insert(known.end(), streams.begin(), streams.end());
    }
    std::ranges::sort(known);
    known.erase(std::ranges::unique(known).begin(), known.end());
    if (2 * std::ssize(known) > plan_.agents) return std::nullopt;
    std::vector<int> support, place(static_cast<std::size_t>(plan_.agents), -1);
    std::vector<Eigen::Triplet<double>> entries;
    int columns = 0;
    for (const int stream : known) {
        bool used = false;
        for (Eigen::SparseMatrix<double>::InnerIterator entry(coefficients_, stream); entry;
             ++entry) {
            const auto agent = static_cast<int>(entry.row());
            if (std::ranges::binary_search(coalition, agent)) continue;
            int& at = place[static_cast<std::size_t>(agent)];
            if (at < 0) {
                at = static_cast<int>(support.size());
                support.push_back(agent);
            }
            entries.emplace_back(at, columns, entry.value());
            used = true;
        }
        columns += used ? 1 : 0;
    }
    Eigen::SparseMatrix<double> factor(std::ssize(support), columns);
    factor.setFromTriplets(entries.begin(), entries.end());
    const InverseChange change(inverse_, coalition, support, factor);
    if (!(change.left() * largest_loss_of_digits > condition_)) return std::nullopt;
    VectorXd precision = change.diagonal();
    for (const int member : coalition) precision(member) = infinity;
    return precision;
}

VectorXd ObservedPrecisions::of(const Observer& observer) const {
    if (inverse_.size() > 0 && known_agents(plan_, observer))
        if (std::optional<VectorXd> precision = by_change(observer)) return *std::move(precision);
    return observed_precision(plan_, observer);
}

VectorXd coalition_precision(const NoisePlan& plan, int size) {
    check_coalition_size(plan.agents, size);
    // Coalitions know nothing of private noise.
    if (plan.agents > most_dense_private && is_spatial(plan) && noise_is_private(plan))
        return observed_precision(plan, {});
    constexpr std::size_t most_at_once = 256;
    const ObservedPrecisions precisions(plan);
    VectorXd largest = VectorXd::Zero(plan.agents);
    std::vector<std::vector<int>> coalitions;
    std::vector<VectorXd> found;
    const auto take = [&] {
        found.resize(coalitions.size());
        parallel_for(std::ssize(coalitions), linear_algebra_threads(), [&](long c) {
            const auto place = static_cast<std::size_t>(c);
            found[place] = precisions.of({coalitions[place]});
        });
        for (std::size_t c = 0; c < coalitions.size(); ++c) {
            for (const int member : coalitions[c]) found[c](member) = 0;
            largest = largest.cwiseMax(found[c]);
        }
        coalitions.clear();
    };
    for_each_coalition(plan.agents, size, [&](const std::vector<int>& coalition) {
        coalitions.push_back(coalition);
        if (coalitions.size() == most_at_once) take();
    });
    take();
    return largest;
}

namespace {

std::vector<Guarantee> guarantees_of(const NoisePlan& plan,
                                     const Eigen::VectorXd& precision,
                                     std::span<const Exposure> exposures,
                                     double delta) {
    std::vector<Guarantee> result(exposures.size());
    for (std::size_t u = 0; u < exposures.size(); ++u) {
        const StreamDistribution noise = plan.distribution();
        result[u] =
            guarantee_of(loss_of(noise, exposures[u], precision(static_cast<Eigen::Index>(u))),
                         stated_delta(noise, delta));
    }
    return result;
}

}  // namespace

std::vector<Guarantee> guarantees(const NoisePlan& plan,
                                  const Observer& observer,
                                  std::span<const Exposure> exposures,
                                  double delta) {
    return guarantees_of(plan, observed_precision(plan, observer), exposures, delta);
}

std::vector<Guarantee> coalition_guarantees(const NoisePlan& plan,
                                            int size,
                                            std::span<const Exposure> exposures,
                                            double delta) {
    return guarantees_of(plan, coalition_precision(plan, size), exposures, delta);
}

std::optional<CuriousAgent> worst_curious_agent(const NoisePlan& plan,
                                                std::span<const Exposure> exposures,
                                                double delta) {
    // A target loses most to the agent that knows its noise best.
    Eigen::VectorXd largest = Eigen::VectorXd::Constant(plan.agents, -1);
    std::vector<int> observers(static_cast<std::size_t>(plan.agents), -1);
    const ObservedPrecisions precisions(plan);
    for (int observer = 0; observer < plan.agents; ++observer) {
        const VectorXd precision = precisions.of({{observer}});
        for (int target = 0; target < plan.agents; ++target)
            if (target != observer && precision(target) > largest(target)) {
                largest(target) = precision(target);
                observers[static_cast<std::size_t>(target)] = observer;
            }
    }
    if (plan.agents < 2) return std::nullopt;
    const std::vector<Guarantee> against = guarantees_of(plan, largest, exposures, delta);
    const auto target = std::ranges::max_element(against, std::less()) - against.begin();
    return CuriousAgent{observers[static_cast<std::size_t>(target)],
                        static_cast<int>(target),
                        against[static_cast<std::size_t>(target)]};
}

}  // namespace sotto
