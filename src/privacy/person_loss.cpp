#include "privacy/person_loss.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/unit_form.hpp"
#include "privacy/dropouts.hpp"
#include "privacy/large_plans.hpp"
#include "privacy/message_noise.hpp"
#include "privacy/person_sums.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Sets whose vectors at angles are sought; of the others the sum of absolute values counts.
constexpr int most_tight_sets = 20'000;
constexpr double tight_gap_of_persons = 1e-6;
/// Figures that differ by rounding count as equal, and the bound is raised by as much.
constexpr double person_rounding = 1e-12;
/// Multiplications of all inversions, above which only diagonals are computed.
constexpr double most_person_work = 3e11;
/// From so many agents on an inverse is taken where the largest variance times the largest
/// precision is below this: rounding is then about 1e-9 of a precision.
constexpr Index many_person_agents = 64;
constexpr double most_condition = 1e7;

/// All agents outside a coalition, ascending.
std::vector<int> outside_of(int agents, std::span<const int> coalition) {
    std::vector<int> outside;
    for (int u = 0; u < agents; ++u)
        if (!std::binary_search(coalition.begin(), coalition.end(), u)) outside.push_back(u);
    return outside;
}

VectorXd allowed_of(const PersonQuery& query) {
    return query.allowed.size() > 0 ? query.allowed : VectorXd::Ones(query.reach.size());
}

/// Inverse of a covariance on its range; see observed_precision_matrix.
MatrixXd pseudo_inverse(const MatrixXd& covariance) {
    const Index n = covariance.rows();
    const auto without_noise = [&](MatrixXd inverse, const std::vector<Index>& agents) {
        for (const Index u : agents) {
            inverse.row(u).setZero();
            inverse.col(u).setZero();
            inverse(u, u) = infinity;
        }
        return inverse;
    };
    std::vector<Index> silent;
    if (n == 0 || !(covariance.diagonal().maxCoeff() > 0)) {
        silent.resize(static_cast<std::size_t>(n));
        std::iota(silent.begin(), silent.end(), Index{0});
        return without_noise(MatrixXd::Zero(n, n), silent);
    }
    if (n >= many_person_agents || covariance.isDiagonal(0)) {
        const double loudest = covariance.diagonal().maxCoeff();
        if (MatrixXd inverse = covariance; invert_positive_definite(inverse) &&
                                           inverse.diagonal().maxCoeff() * loudest < most_condition)
            return inverse;
    }
    const SymmetricEigen eigen = symmetric_eigen(covariance);
    const double cut_off = rank_cut_off * eigen.values(n - 1);
    const Index null = std::count_if(
        eigen.values.begin(), eigen.values.end(), [&](double v) { return v <= cut_off; });
    const MatrixXd kept = eigen.vectors.rightCols(n - null);
    for (Index u = 0; u < n; ++u)
        if (eigen.vectors.row(u).head(null).squaredNorm() > outside_range * outside_range)
            silent.push_back(u);
    const VectorXd inverse = eigen.values.tail(n - null).cwiseInverse();
    return without_noise(multiply(kept * inverse.asDiagonal(), kept.transpose()), silent);
}

/// The worst set of agents of one matrix.
class PersonSearch {
  public:
    /// @param gram [R^-1]_uv s_u s_v.  @param allowed of its rows.
    PersonSearch(const MatrixXd& gram, const VectorXd& allowed, int size)
        : gram_(gram),
          absolute_(gram.cwiseAbs()),
          allowed_(allowed),
          size_(std::min<Index>(size, gram.rows())) {}

    struct Found {
        std::vector<Index> places;
        double reached = 0, upper = 0;
        bool exhaustive = true;
    };
    Found run() {
        if (size_ == 0 || gram_.rows() == 0) return std::move(found_);
        if (!unprotected()) {
            if (size_ <= 2 || count_coalitions(static_cast<int>(gram_.rows()),
                                               static_cast<int>(size_)) <= most_person_sets)
                try_every_set();
            else
                bound_every_set();
            found_.upper *= 1 + person_rounding;
        }
        return std::move(found_);
    }

  private:
    /// Whether an agent has no noise and contributes; it exposes whoever else is in its set.
    bool unprotected() {
        const bool limited = size_ > 1 && allowed_.minCoeff() < infinity;
        for (Index u = 0; u < gram_.rows(); ++u)
            if (std::isinf(gram_(u, u)) && (limited || std::isfinite(allowed_(u)))) {
                found_.places = {u};
                found_.reached = found_.upper = infinity;
                return true;
            }
        return false;
    }

    [[nodiscard]] double allowed(const std::vector<Index>& places) const {
        double least = infinity;
        for (const Index u : places) least = std::min(least, allowed_(u));
        return least;
    }

    [[nodiscard]] double absolute_share(const std::vector<Index>& places) const {
        double sum = 0;
        for (std::size_t i = 0; i < places.size(); ++i) {
            sum += absolute_(places[i], places[i]);
            for (std::size_t j = 0; j < i; ++j) sum += 2 * absolute_(places[i], places[j]);
        }
        return sum / allowed(places);
    }

    /// Bounds of the form itself.
    TightBounds bounds(const std::vector<Index>& places) {
        const MatrixXd part = gram_(places, places);
        const double most = part.cwiseAbs().sum();
        // Signs by which everything adds up, if there are such.
        VectorXd signs =
            part.row(0).transpose().unaryExpr([](double value) { return value < 0 ? -1.0 : 1.0; });
        const double signed_sum = signs.dot(part * signs);
        if (places.size() <= 2 || signed_sum >= most * (1 - 1e-14)) return {most, most};
        if (++tight_sets_ > most_tight_sets) return {std::max(signed_sum, part.trace()), most};
        TightBounds tight = tight_bounds(part, tight_gap_of_persons, most);
        tight.lower = std::max(tight.lower, signed_sum);
        return tight;
    }

    void consider(const std::vector<Index>& places) {
        if (!(absolute_share(places) > found_.upper * (1 + person_rounding))) return;
        const double least = allowed(places);
        const TightBounds form = bounds(places);
        found_.upper = std::max(found_.upper, form.upper / least);
        if (form.lower / least > found_.reached) {
            found_.reached = form.lower / least;
            found_.places = places;
        }
    }

    /// Of exactly K agents: more agents have a larger form, and no larger limit.
    void try_every_set() {
        std::vector<int> chosen = first_coalition(static_cast<int>(size_));
        std::vector<Index> places;
        do {
            places.assign(chosen.begin(), chosen.end());
            consider(places);
        } while (next_coalition(chosen, static_cast<int>(gram_.rows())));
    }

    /// Sum of the K largest rows among these agents.
    [[nodiscard]] double row_bound(const std::vector<Index>& agents) const {
        const auto size = static_cast<std::size_t>(size_);
        std::vector<double> rows, others;
        for (const Index u : agents) {
            others.clear();
            for (const Index v : agents)
                if (v != u) others.push_back(absolute_(u, v));
            const std::size_t most = std::min(size - 1, others.size());
            std::ranges::partial_sort(
                others, others.begin() + static_cast<std::ptrdiff_t>(most), std::greater{});
            rows.push_back(std::accumulate(others.begin(),
                                           others.begin() + static_cast<std::ptrdiff_t>(most),
                                           absolute_(u, u)));
        }
        const std::size_t most = std::min(size, rows.size());
        std::ranges::partial_sort(
            rows, rows.begin() + static_cast<std::ptrdiff_t>(most), std::greater{});
        return std::accumulate(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(most), 0.0);
    }

    void bound_every_set() {
        found_.exhaustive = false;
        consider(best_by_exchange());
        // A set's least limit is that of one of its agents; all others have at least as much.
        std::vector<double> limits(allowed_.begin(), allowed_.end());
        std::ranges::sort(limits);
        limits.erase(std::ranges::unique(limits).begin(), limits.end());
        for (const double limit : limits) {
            if (std::isinf(limit)) break;
            std::vector<Index> agents;
            for (Index u = 0; u < gram_.rows(); ++u)
                if (allowed_(u) >= limit) agents.push_back(u);
            found_.upper = std::max(found_.upper, row_bound(agents) / limit);
        }
    }

    /// The best of `places` and one more agent.
    [[nodiscard]] std::vector<Index> best_with_another(std::vector<Index> places) const {
        double best = -1;
        Index chosen = 0;
        places.push_back(0);
        for (Index v = 0; v < gram_.rows(); ++v) {
            if (std::find(places.begin(), places.end() - 1, v) != places.end() - 1) continue;
            places.back() = v;
            if (const double share = absolute_share(places); share > best) {
                best = share;
                chosen = v;
            }
        }
        places.back() = chosen;
        return places;
    }

    [[nodiscard]] std::vector<Index> best_by_exchange() const {
        std::vector<Index> places;
        while (std::ssize(places) < size_) places = best_with_another(std::move(places));
        double share = absolute_share(places);
        for (bool better = true; better;) {
            better = false;
            for (std::size_t i = 0; i < places.size() && !better; ++i) {
                std::vector<Index> others = places;
                others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
                others = best_with_another(std::move(others));
                const double found = absolute_share(others);
                if (!(found > share * (1 + 1e-9))) continue;
                places = std::move(others);
                share = found;
                better = true;
            }
        }
        std::ranges::sort(places);
        return places;
    }

    const MatrixXd& gram_;
    MatrixXd absolute_;
    const VectorXd& allowed_;
    Index size_;
    int tight_sets_ = 0;
    Found found_;
};

/// mu of a set is at most the sum of its agents' mu. @param precision of all agents; 0 or any value
/// where `reach` is 0.
WorstPerson bounded_by_single_agents(const VectorXd& precision, const PersonQuery& query) {
    const VectorXd allowed = allowed_of(query);
    VectorXd single = VectorXd::Zero(precision.size());
    for (Index u = 0; u < precision.size(); ++u)
        if (query.reach(u) > 0) single(u) = query.reach(u) * std::sqrt(precision(u));
    WorstSum sum = worst_sum(single, allowed, query.agents, 2);
    WorstPerson worst;
    worst.agents = std::move(sum.agents);
    worst.upper = sum.share;
    worst.reached = worst_sum(single, allowed, 1, 2).share;
    worst.exhaustive = query.agents == 1;
    return worst;
}

void keep_worse(WorstPerson& worst, WorstPerson found, std::span<const int> coalition) {
    const double upper = std::max(worst.upper, found.upper);
    const bool exhaustive = worst.exhaustive && found.exhaustive;
    if (found.reached > worst.reached || worst.agents.empty()) {
        worst = std::move(found);
        worst.coalition.assign(coalition.begin(), coalition.end());
    }
    worst.upper = upper;
    worst.exhaustive = exhaustive;
}

bool inverts_all(const NoisePlan& plan, double coalitions) {
    return plan.agents <= most_dense_agents &&
           coalitions * std::pow(static_cast<double>(plan.agents), 3) <= most_person_work;
}

}  // namespace

WorstPerson worst_person(const MatrixXd& precision,
                         std::span<const int> outside,
                         const PersonQuery& query) {
    const auto n = static_cast<Index>(outside.size());
    const VectorXd everybody = allowed_of(query);
    MatrixXd gram(n, n);
    VectorXd allowed(n);
    for (Index i = 0; i < n; ++i) {
        const int u = outside[static_cast<std::size_t>(i)];
        allowed(i) = everybody(u);
        for (Index j = 0; j < n; ++j) {
            const double reach = query.reach(u) * query.reach(outside[static_cast<std::size_t>(j)]);
            gram(i, j) = reach > 0 ? precision(i, j) * reach : 0;  // not infinity times 0
        }
    }
    const PersonSearch::Found found = PersonSearch(gram, allowed, query.agents).run();
    WorstPerson worst;
    for (const Index place : found.places)
        worst.agents.push_back(outside[static_cast<std::size_t>(place)]);
    worst.reached = found.reached;
    worst.upper = found.upper;
    worst.exhaustive = found.exhaustive;
    return worst;
}

MatrixXd observed_precision_matrix(const NoisePlan& plan, std::span<const int> coalition) {
    const std::vector<int> outside = outside_of(plan.agents, coalition);
    const bool apart = plan.noiseless() || !is_spatial(plan);
    if (!apart && plan.aggregation == Aggregation::gossip) {
        const MatrixXd covariance = outer_product(unknown_coefficients(plan, coalition));
        return pseudo_inverse(covariance(outside, outside));
    }
    const VectorXd precision =
        observed_precision(plan, {std::vector<int>(coalition.begin(), coalition.end())});
    MatrixXd matrix = MatrixXd(VectorXd(precision(outside)).asDiagonal());
    if (apart || outside.empty() || std::isinf(matrix(0, 0))) return matrix;
    matrix.setConstant(matrix(0, 0));  // one mean shows the sum of all that its agents contribute
    return matrix;
}

WorstPerson worst_person(const NoisePlan& plan,
                         std::span<const std::vector<int>> coalitions,
                         const PersonQuery& query) {
    WorstPerson worst;
    const bool inverts = inverts_all(plan, static_cast<double>(coalitions.size()));
    const ObservedPrecisions precisions(plan);
    for (const std::vector<int>& coalition : coalitions) {
        if (inverts) {
            keep_worse(worst,
                       worst_person(observed_precision_matrix(plan, coalition),
                                    outside_of(plan.agents, coalition),
                                    query),
                       coalition);
            continue;
        }
        PersonQuery others = query;
        for (const int member : coalition) others.reach(member) = 0;
        keep_worse(worst, bounded_by_single_agents(precisions.of({coalition}), others), coalition);
    }
    return worst;
}

WorstPerson worst_person(const NoisePlan& plan, int size, const PersonQuery& query) {
    check_coalition_size(plan.agents, size);
    if (!inverts_all(plan, count_coalitions(plan.agents, size)))
        return bounded_by_single_agents(coalition_precision(plan, size), query);
    // Nobody of a coalition is among a person's agents: where both together are more than there
    // are, larger sets stand against smaller coalitions.
    const int fewest = std::clamp(plan.agents - query.agents, 0, size);
    std::vector<std::vector<int>> coalitions;
    for (int members = fewest; members <= size; ++members)
        for_each_coalition(plan.agents, members, [&](const std::vector<int>& coalition) {
            coalitions.push_back(coalition);
        });
    return worst_person(plan, coalitions, query);
}

VectorXd reach_of(std::span<const Exposure> exposures) {
    VectorXd reach(std::ssize(exposures));
    for (std::size_t u = 0; u < exposures.size(); ++u)
        reach(static_cast<Index>(u)) =
            exposures[u].sensitivity * std::sqrt(exposures[u].sensitivity_squared_over_rounds);
    return reach;
}

double joint_probability(std::span<const Exposure> exposures, int agents) {
    std::vector<double> probabilities;
    for (const Exposure& exposure : exposures)
        probabilities.push_back(exposure.sampling_probability);
    std::ranges::sort(probabilities, std::greater{});
    probabilities.resize(std::min(probabilities.size(), static_cast<std::size_t>(agents)));
    if (probabilities.empty() || probabilities.front() >= 1) return 1;
    if (probabilities.size() == 1) return probabilities.front();
    double none = 0;  // its logarithm
    for (const double probability : probabilities) none += std::log1p(-probability);
    constexpr double rounded_up = 1 + 1e-14;
    return std::min(1.0, -std::expm1(none) * rounded_up);
}

PrivacyLoss loss_of_person(const NoisePlan& plan,
                           std::span<const Exposure> exposures,
                           int agents,
                           double squared) {
    const double probability = joint_probability(exposures, agents);
    double rounds = 0;
    for (const Exposure& exposure : exposures) {
        rounds = std::max(rounds, exposure.sensitivity_squared_over_rounds);
        if (!exposure.levels.empty())
            return loss_of_rounds(plan.distribution(), squared, probability, exposure.levels);
    }
    return loss_of_rounds(plan.distribution(), squared, probability, std::lround(rounds));
}

Guarantee guarantee_of_person(const NoisePlan& plan,
                              std::span<const Exposure> exposures,
                              int agents,
                              double squared,
                              double delta) {
    return guarantee_of(loss_of_person(plan, exposures, agents, squared),
                        stated_delta(plan.distribution(), delta));
}

std::vector<Exposure> exposures_of(const PrivacyPhase& phase, long rounds) {
    VectorXd squared = VectorXd::Zero(phase.plan.agents);
    if (rounds > 0) squared = run_sensitivity_squared(phase.plan, phase.use, rounds);
    const auto levels = round_levels(phase.plan.temporal, phase.use.participation, rounds);
    std::vector<Exposure> exposures(phase.sensitivity.size());
    for (std::size_t u = 0; u < exposures.size(); ++u) {
        exposures[u].sensitivity = phase.sensitivity[u];
        exposures[u].sensitivity_squared_over_rounds = squared(static_cast<Index>(u));
        exposures[u].sampling_probability = phase.probability(static_cast<int>(u));
        exposures[u].rounds_an_epoch = phase.use.participation.rounds_an_epoch;
        exposures[u].levels = levels;
    }
    return exposures;
}

VectorXd allowed_for_persons(std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int agents) {
    const double probability = joint_probability(exposures, agents);
    // Limits of single agents are for their own probabilities, or for rounds that all count.
    const bool sampled = std::ranges::any_of(
        exposures, [](const Exposure& exposure) { return exposure.sampling_probability < 1; });
    VectorXd allowed(std::ssize(budgets));
    std::map<double, double> known;  // by epsilon
    for (std::size_t u = 0; u < budgets.size(); ++u) {
        double& figure = allowed(static_cast<Index>(u));
        if (!sampled) {
            figure = largest_squared_distance(budgets[u].noise, budgets[u].limit);
            continue;
        }
        const auto [place, missing] = known.try_emplace(budgets[u].epsilon, 0);
        if (missing) {
            const Exposure& own = exposures[u];
            const PrivacyBudget joint =
                own.levels.empty()
                    ? sampled_budget(
                          budgets[u], probability, std::lround(own.sensitivity_squared_over_rounds))
                    : sampled_budget(budgets[u], probability, own.levels);
            place->second = largest_squared_distance(joint.noise, joint.limit);
        }
        figure = place->second;
    }
    return allowed;
}

WorstPerson share_of_persons(const NoisePlan& plan,
                             std::span<const Exposure> exposures,
                             std::span<const PrivacyBudget> budgets,
                             int size,
                             int agents) {
    return worst_person(
        plan, size, {agents, reach_of(exposures), allowed_for_persons(exposures, budgets, agents)});
}

void verify_persons_protected(const NoisePlan& plan,
                              std::span<const int> local,
                              std::span<const Exposure> exposures,
                              std::span<const PrivacyBudget> budgets,
                              int size,
                              int agents) {
    constexpr double tolerance = 1e-9;
    const VectorXd all = allowed_for_persons(exposures, budgets, agents);
    PersonQuery query{agents, reach_of(exposures), VectorXd::Constant(all.size(), infinity)};
    for (const int agent : local) query.allowed(agent) = all(agent);
    const WorstPerson worst = worst_person(plan, size, query);
    if (worst.upper <= 1 + tolerance) return;
    throw PrivacyError(fmt::format(
        "the plan ({}) does not protect persons with records at up to {} agents: {} may reveal "
        "{:.9g} times the squared loss that the budget allows; solve a plan for --unit-agents {}",
        plan.mechanism,
        agents,
        worst.agents.empty() ? std::string("one")
                             : fmt::format("one at agents {}", fmt::join(worst.agents, ", ")),
        worst.upper,
        agents));
}

void require_possible_persons(std::string_view option,
                              int unit_agents,
                              int agents,
                              StreamDistribution noise,
                              const Participation& participation) {
    if (unit_agents == 1) return;
    if (unit_agents < 1 || unit_agents > agents)
        throw ConfigError(fmt::format("{}: {} is not possible with {} agent{} (allowed: 1 to {})",
                                      option,
                                      unit_agents,
                                      agents,
                                      agents == 1 ? "" : "s",
                                      agents));
    if (noise == StreamDistribution::laplace)
        throw ConfigError(fmt::format(
            "{}: {} is not possible with Laplace noise (allowed: 1, or a mechanism with Gaussian "
            "noise)",
            option,
            unit_agents));
    if (participation.is_allocated() || (participation.poisson && participation.cycle > 1))
        throw ConfigError(fmt::format(
            "{}: {} is not possible with participation {}, since a person's rounds would differ "
            "between agents and no bound is known for that (allowed: 1, or participation every, "
            "cyclic:b, poisson)",
            option,
            unit_agents,
            name_of(participation)));
}

}  // namespace sotto
