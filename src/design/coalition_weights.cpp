#include "design/coalition_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/pair_distances.hpp"
#include "core/parallel.hpp"
#include "design/coalition_newton.hpp"
#include "design/coalition_point.hpp"
#include "design/descent.hpp"
#include "design/seed_group_design.hpp"
#include "design/solver_input.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::Map;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Up to this many multiplications a pass, all coalitions are included from the start.
constexpr double most_for_all = 5e9;
/// Limit of one pass over all coalitions, some minutes.
constexpr double most_multiplications = 1e12;
/// Limit of all passes, some minutes; then the best result so far is returned, with its gap.
constexpr double most_in_all = 2e12;
/// Larger powers are faster until prices oscillate; then they are reduced.
constexpr double first_power = 3, least_power = 1;
/// Constraints with a price below this share of a typical one are left out of an iteration and its
/// certificate.
constexpr double negligible_price = 1e-3;

class Weights {
  public:
    Weights(const GroupLayout& layout,
            const MatrixXd& utility,
            const VectorXd& kappa,
            const CoalitionOptions& options)
        : layout_(layout),
          kappa_(kappa),
          options_(options),
          cost_(layout.along(utility)),
          cap_(options.variance_cap * kappa.cwiseInverse()),
          aim_(cap_ - 0.02 * (cap_ - kappa.cwiseInverse())),
          all_(options.coalition_size < 2 || multiplications_for_all() <= most_for_all),
          prices_(layout, kappa),
          smoothed_(layout) {
        if (is_uneven(layout)) power_ = least_power;
        require_possible_size();
        if (layout.shape() == GroupNoise::difference)
            for (const SeedGroup& group : layout.groups())
                pairs_.push_back({group.members[0], group.members[1]});
        add_first_coalitions();
        start();
    }

    LayoutSolution solve();

  private:
    /// Result of one pass over the coalitions, at X of the present values.
    struct Pass {
        VectorXd gain;  ///< G of every part
        LimitPrices::Far far;
        double reward = 0, limit = 0, excess = 0;
        explicit Pass(const GroupLayout& layout)
            : gain(VectorXd::Zero(layout.size())), far(layout.agents()) {}
        void add(const Pass& other) {
            gain += other.gain;
            far.merge(other.far);
            reward += other.reward;
            limit += other.limit;
            excess = std::max(excess, other.excess);
        }
    };

    [[nodiscard]] double multiplications_a_coalition() const;
    [[nodiscard]] double multiplications_for_all() const {
        return count_coalitions(layout_.agents(), options_.coalition_size) *
               multiplications_a_coalition();
    }
    void require_possible_size() const;
    void add_first_coalitions();
    void add(Coalition coalition, double typical);
    void start();
    void try_values(VectorXd values, double excess);
    [[nodiscard]] LimitPrices::Step price_step() const {
        return {power_, mean_excess_, negligible_price * typical_price_};
    }
    void pass_over(std::size_t c, const InvertedCovariance& inverse, Pass& pass);
    void add_gain(const Coalition& coalition, const MatrixXd& rows, VectorXd& gain) const;
    [[nodiscard]] double certificate(const Pass& pass, const VectorXd& costs) const;
    void buy(const Pass& pass, const VectorXd& costs);
    void add_violated();
    [[nodiscard]] Pass pass();
    enum class Next { buy, look_again, stop };
    Next calm(double value);
    bool stalled();
    [[nodiscard]] double smaller_power() const { return std::max(least_power, 0.7 * power_); }
    void price_cap(double excess, double value);
    void average(const Pass& pass);

    const GroupLayout& layout_;
    std::vector<ColumnPair> pairs_;  // if groups are pairs with differences
    const VectorXd& kappa_;
    const CoalitionOptions& options_;
    VectorXd cost_, cap_;
    VectorXd aim_;  // slightly below the cap, so that it is met before convergence
    bool all_;
    std::vector<Coalition> coalitions_;
    LimitPrices prices_;
    double last_gap_ = infinity;
    int last_progress_ = 0;
    double typical_price_ = 1, mean_excess_ = 1, power_ = first_power;
    VectorXd cap_price_;
    VectorXd values_;
    Pass smoothed_;
    NumberSteps steps_;
    LayoutSolution best_;
    /// The best state for the included coalitions, to which oscillations return.
    struct Calm {
        double value = infinity;
        VectorXd values;
        std::optional<LimitPrices> prices;
        double typical_price = 1, mean_excess = 1;
        int since = 0;
    } calm_;
};

double Weights::multiplications_a_coalition() const {
    const double agents = layout_.agents();
    double squares = 0;  // of the number of agents that an agent shares seeds with
    for (int u = 0; u < layout_.agents(); ++u)
        squares += std::pow(std::min(agents, options_.coalition_size * layout_.partners_of(u)), 2);
    return 2 * squares;
}

void Weights::require_possible_size() const {
    const double all = multiplications_for_all();
    if (all > most_multiplications)
        throw ConfigError(fmt::format(
            "seed-groups: {} groups among {} agents are too many to optimise against coalitions of "
            "{} ({:.0e} multiplications a step, at most {:.0e}); choose fewer (--seed-groups "
            "nearest:10){}",
            layout_.groups().size(),
            layout_.agents(),
            options_.coalition_size,
            all,
            most_multiplications,
            options_.instead));
}

void Weights::add(Coalition coalition, double typical) {
    prices_.add(coalition, typical);
    coalitions_.push_back(std::move(coalition));
}

void Weights::add_first_coalitions() {
    const int agents = layout_.agents(), size = options_.coalition_size;
    if (all_) {
        for_each_coalition(agents, size, [&](const Coalition& coalition) { add(coalition, 1); });
        return;
    }
    for (int u = 0; u < agents; ++u) {  // neighbours by number
        Coalition coalition;
        for (int i = 0; i < size; ++i) coalition.push_back((u + i) % agents);
        std::ranges::sort(coalition);
        add(std::move(coalition), 1);
    }
}

/// Keeps values that are better than the best, scaled to be feasible.
void Weights::try_values(VectorXd values, double excess) {
    if (!std::isfinite(excess)) return;
    values *= excess;
    const double value = cost_.dot(values);
    if (!(value < best_.value) ||
        ((layout_.diagonal(values) - cap_).array() > 1e-9 * cap_.array()).any())
        return;
    best_.values = std::move(values);
    best_.value = value;
}

void Weights::start() {
    best_.value = infinity;
    values_ = first_values(layout_, cost_, cap_, kappa_, coalitions_);
    try_values(private_values(layout_, kappa_), 1);
    if (all_) try_values(values_, 1);
    cap_price_ = VectorXd::Zero(layout_.agents());
    if (!all_) add_violated();
}

void Weights::add_gain(const Coalition& coalition, const MatrixXd& rows, VectorXd& gain) const {
    const VectorXd own = rows.colwise().squaredNorm();
    for (int u = 0; u < layout_.agents(); ++u) gain(layout_.variance_of(u)) += own(u);
    const auto groups = layout_.groups();
    if (layout_.shape() == GroupNoise::difference) {
        const Index first = layout_.variances();
        add_pair_distances(rows, pairs_, {gain.data() + first, pairs_.size()});
        // Columns of members are 0: subtract what was added for their groups.
        for (const int member : coalition)
            for (const int k : layout_.groups_of(member)) {
                const auto& members = groups[static_cast<std::size_t>(k)].members;
                const int other = members[0] == member ? members[1] : members[0];
                gain(first + k) -= own(other);
            }
        return;
    }
    for (std::size_t k = 0; k < groups.size(); ++k) {
        if (meets(groups[k], coalition)) continue;
        const MatrixXd block = rows(Eigen::all, groups[k].members);
        Map<MatrixXd>(gain.data() + layout_.first(k), layout_.rank(k), layout_.rank(k)).noalias() +=
            block.transpose() * block;
    }
}

void Weights::pass_over(std::size_t c, const InvertedCovariance& inverse, Pass& pass) {
    const UnknownPrecision unknown(
        layout_, values_, inverse.covariance, inverse.precision, coalitions_[c]);
    if (!unknown.positive()) {
        pass.excess = infinity;
        return;
    }
    const VectorXd diagonal = unknown.diagonal();
    const VectorXd excess = diagonal.cwiseQuotient(kappa_);
    pass.excess = std::max(pass.excess, excess.maxCoeff());
    const auto [priced, price] = prices_.follow(c, excess, price_step(), pass.far);
    if (priced.empty()) return;
    constexpr Index lanes = pair_distance_lanes;
    const Index count = std::ssize(priced);
    MatrixXd rows = MatrixXd::Zero((count + lanes - 1) / lanes * lanes, layout_.agents());
    rows.topRows(count) = (unknown.columns(priced) * price.cwiseSqrt().asDiagonal()).transpose();
    pass.reward += price.dot(diagonal(priced));
    pass.limit += price.dot(kappa_(priced));
    add_gain(coalitions_[c], rows, pass.gain);
}

double Weights::certificate(const Pass& pass, const VectorXd& costs) const {
    const Index own = layout_.variances();
    double largest = pass.gain.head(own).cwiseQuotient(costs.head(own)).maxCoeff();
    if (layout_.shape() == GroupNoise::difference) {
        largest = std::max(largest, pass.gain.cwiseQuotient(costs).maxCoeff());
    } else {
        for (std::size_t k = 0; k < layout_.groups().size(); ++k) {
            const Index at = layout_.first(k), rank = layout_.rank(k);
            largest = std::max(largest,
                               largest_ratio(Map<const MatrixXd>(pass.gain.data() + at, rank, rank),
                                             Map<const MatrixXd>(costs.data() + at, rank, rank)));
        }
    }
    return pass.reward * pass.reward / (largest * pass.limit) - cap_price_.dot(cap_);
}

void Weights::buy(const Pass& pass, const VectorXd& costs) {
    // At the optimal noise for given prices G = C reward / Tr(C S).
    const double unit = costs.dot(values_) / pass.reward;
    if (layout_.shape() == GroupNoise::difference) {
        const double least = 1e-7 * values_.head(layout_.variances()).mean();
        // At the smallest power without haste: a step then never increases the priced sum.
        const double haste = (power_ - least_power) / (first_power - least_power);
        steps_.take(unit * pass.gain.cwiseQuotient(costs), haste, values_);
        values_ = values_.cwiseMax(least);
        return;
    }
    const double kept = std::max(1e-12, 1e-3 * std::pow(0.985, best_.iterations));
    const Index own = layout_.variances();
    values_.head(own) = values_.head(own).cwiseProduct(
        (unit * pass.gain.head(own).cwiseQuotient(costs.head(own))).cwiseSqrt());
    for (std::size_t k = 0; k < layout_.groups().size(); ++k) {
        const Index at = layout_.first(k), rank = layout_.rank(k);
        Map<MatrixXd> s(values_.data() + at, rank, rank);
        s = bought(s,
                   unit * Map<const MatrixXd>(pass.gain.data() + at, rank, rank),
                   Map<const MatrixXd>(costs.data() + at, rank, rank),
                   kept);
    }
}

/// Adds the coalitions that the present values violate most.
void Weights::add_violated() {
    constexpr std::size_t most = 200;
    constexpr double quiet = 0.02;  // otherwise the prices of the others would oscillate
    double worst = 0;
    std::vector<std::pair<double, Coalition>> violated;
    for_each_part_of_coalitions(
        layout_.agents(), options_.coalition_size, [&](const std::vector<Coalition>& part) {
            const std::vector<double> excess = excesses(layout_, values_, kappa_, part);
            for (std::size_t c = 0; c < part.size(); ++c) {
                worst = std::max(worst, excess[c]);
                violated.emplace_back(excess[c], part[c]);
            }
            std::ranges::sort(violated, std::greater<>());
            if (violated.size() > most) violated.resize(most);
        });
    try_values(values_, worst);
    bool added = false;
    for (auto& [excess, coalition] : violated) {
        if (excess < 0.9 * worst || std::ranges::find(coalitions_, coalition) != coalitions_.end())
            continue;
        add(std::move(coalition), best_.iterations == 0 ? 1 : quiet * typical_price_);
        added = true;
    }
    // The best state covered fewer coalitions.
    if (added) calm_ = {infinity, values_, prices_, typical_price_, mean_excess_, best_.iterations};
}

/// One pass over all included coalitions; not finite if the values protect nobody.
Weights::Pass Weights::pass() {
    Pass all(layout_);
    const std::optional<InvertedCovariance> inverse = inverse_of(layout_, values_);
    if (!inverse) {
        all.excess = infinity;
        return all;
    }
    std::vector<Pass> passes(coalition_parts, Pass(layout_));
    parallel_for(coalition_parts, linear_algebra_threads(), [&](long part) {
        Pass& pass = passes[static_cast<std::size_t>(part)];
        for (auto c = static_cast<std::size_t>(part); c < coalitions_.size(); c += coalition_parts)
            pass_over(c, *inverse, pass);
    });
    for (const Pass& pass : passes) all.add(pass);
    prices_.settle(all.far, price_step());
    return all;
}

/// Keeps improvements. If prices oscillate and steps are large, returns to the best state with
/// smaller steps; `stop` if smaller steps cannot help.
Weights::Next Weights::calm(double value) {
    constexpr double swing = 1.3;
    constexpr int grace = 20;
    if (value < calm_.value) {
        calm_ = {value, values_, prices_, typical_price_, mean_excess_, best_.iterations};
        return Next::buy;
    }
    if (std::isfinite(value) && (best_.iterations < calm_.since + grace ||
                                 value < swing * calm_.value || power_ == least_power))
        return Next::buy;
    if (power_ == least_power || calm_.values.size() == 0) return Next::stop;
    power_ = smaller_power();
    values_ = calm_.values;
    prices_ = *calm_.prices;
    typical_price_ = calm_.typical_price;
    mean_excess_ = calm_.mean_excess;
    calm_.since = best_.iterations;
    return Next::look_again;
}

/// The gap has hardly changed for long, and smaller steps do not help.
bool Weights::stalled() {
    constexpr int patience = 200;
    constexpr double progress = 0.9;
    const double gap = best_.value - best_.lower_bound;
    if (gap < progress * last_gap_) {
        last_gap_ = gap;
        last_progress_ = best_.iterations;
    }
    if (best_.iterations - last_progress_ <= patience) return false;
    if (power_ == least_power) return true;
    power_ = smaller_power();
    last_progress_ = best_.iterations;
    return false;
}

/// Price of the variance cap; slightly positive everywhere, since noise without a cost would grow
/// forever.
void Weights::price_cap(double excess, double value) {
    const VectorXd filled = (excess * layout_.diagonal(values_)).cwiseQuotient(aim_);
    const double little = 0.02 * options_.relative_gap * value / layout_.agents();
    cap_price_ = cap_price_.cwiseProduct(filled.cwiseMin(2).cwiseMax(0.5))
                     .cwiseMax(little * cap_.cwiseInverse());
}

/// Running means of passes: gain, reward and limit enter the certificate linearly, so their means
/// certify too, and better if prices oscillate around the best ones.
void Weights::average(const Pass& pass) {
    constexpr double newest = 0.1;
    const double share = smoothed_.limit > 0 ? newest : 1;
    const double unit = share / pass.limit;
    smoothed_.gain = (1 - share) * smoothed_.gain + unit * pass.gain;
    smoothed_.reward = (1 - share) * smoothed_.reward + unit * pass.reward;
    smoothed_.limit = 1;
}

LayoutSolution Weights::solve() {
    constexpr int least_iterations = 10, most_iterations = 2000;
    const double inversion = std::pow(layout_.agents(), 3), each = multiplications_a_coalition();
    double spent = 0;
    int look = 25;
    const auto solved = [&](double value) {
        return value - best_.lower_bound <= options_.relative_gap * value;
    };
    while (++best_.iterations <= most_iterations &&
           (best_.iterations <= least_iterations || spent < most_in_all)) {
        spent += inversion + each * static_cast<double>(coalitions_.size());
        const Pass found = pass();
        const double value = found.excess * cost_.dot(values_);
        if (all_) try_values(values_, found.excess);
        const Next next = calm(std::isfinite(value) && found.limit > 0 ? value : infinity);
        if (next == Next::stop) break;
        if (next == Next::look_again) continue;
        price_cap(found.excess, value);
        const VectorXd costs = cost_ + layout_.along_diagonal(cap_price_);
        average(found);
        best_.lower_bound =
            std::max({best_.lower_bound, certificate(found, costs), certificate(smoothed_, costs)});
        if (!all_ && (solved(value) || best_.iterations >= look)) {
            add_violated();
            look = best_.iterations + std::max(25, best_.iterations / 2);
        }
        if (solved(best_.value) || stalled()) break;
        typical_price_ = found.limit / layout_.agents();
        mean_excess_ = found.reward / found.limit;
        buy(found, costs);
    }
    if (best_.values.size() == 0)
        throw_cap_too_small(options_.variance_cap, options_.common_variance);
    best_.coalitions = std::ssize(coalitions_);
    return std::move(best_);
}

}  // namespace

LayoutSolution solve_by_weights(const GroupLayout& layout,
                                const MatrixXd& utility,
                                const VectorXd& kappa,
                                const CoalitionOptions& options) {
    return Weights(layout, utility, kappa, options).solve();
}

}  // namespace sotto
