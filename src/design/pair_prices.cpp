#include "design/pair_prices.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "design/descent.hpp"
#include "privacy/local_precision.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// Parts into which agents are split for threads, whatever their number.
constexpr int price_parts = 8;
/// Coalitions of an agent that are solved in a pass.
constexpr std::size_t most_coalitions = 16;
/// Above so many agents there are fewer passes.
constexpr int many_agents = 20000;

/// What one pass over some agents finds.
struct Found {
    VectorXd gain_agents, gain_pairs;
    double reward = 0, limit = 0, potential = 0;
};

/// Of one agent's flows: what differs from `weight` times that of the flow without a coalition.
struct LocalGain {
    std::vector<double> agents, ends;
    double weight = 0;
};

/// Lower bounds from the prices of several passes. For every x and prices with sum 1 of price times
/// kappa, noise that keeps the limits has gain . values >= A^2, A = sum of price x_u; so it costs
/// at least A^2 / max(gain / costs). Gains and A of mixtures of prices are the mixtures of theirs.
class PriceBound {
  public:
    /// @param ratio gain / costs.   @param reward A.
    void add(const VectorXd& ratio, double reward) {
        constexpr std::size_t most = 10;
        if (ratios_.size() == most) {
            ratios_.erase(ratios_.begin());
            rewards_.erase(rewards_.begin());
        }
        ratios_.push_back(ratio.cast<float>());
        rewards_.push_back(reward);
    }
    /// The largest of mixtures that are found step by step.
    [[nodiscard]] double largest() const {
        constexpr int most_steps = 30;
        Eigen::VectorXf ratio;
        double reward = 0, bound = 0;
        for (int step = 0; step < most_steps; ++step) {
            const double before = bound;
            double best_share = 0;
            std::size_t best = 0;
            for (std::size_t t = 0; t < ratios_.size(); ++t)
                for (const double share : {1.0, 0.5, 0.25, 0.1, 0.04}) {
                    if (step == 0 && share < 1) continue;
                    const double largest = share == 1 ? ratios_[t].maxCoeff()
                                                      : (static_cast<float>(1 - share) * ratio +
                                                         static_cast<float>(share) * ratios_[t])
                                                            .maxCoeff();
                    const double mixed = (1 - share) * reward + share * rewards_[t];
                    if (!(mixed * mixed > bound * largest)) continue;
                    bound = mixed * mixed / largest;
                    best = t;
                    best_share = share;
                }
            if (!(bound > before)) break;
            if (step == 0) ratio = Eigen::VectorXf::Zero(ratios_[best].size());
            ratio = static_cast<float>(1 - best_share) * ratio +
                    static_cast<float>(best_share) * ratios_[best];
            reward = (1 - best_share) * reward + best_share * rewards_[best];
        }
        constexpr double single_precision = 1e-6;
        return (1 - single_precision) * bound;
    }

  private:
    std::vector<Eigen::VectorXf> ratios_;
    std::vector<double> rewards_;
};

class PairPrices {
  public:
    explicit PairPrices(const PairProblem& problem)
        : problem_(problem),
          kappa_(*problem.kappa),
          noise_(static_cast<int>(kappa_.size()), problem.pairs),
          costs_(std::max<Index>(1, kappa_.size() + std::ssize(problem.pairs))) {
        costs_.head(kappa_.size()) = problem.costs->agents;
        costs_.tail(std::ssize(problem.pairs)) = problem.costs->pairs;
        first_link_.push_back(0);
        for (int u = 0; u < agents(); ++u)
            first_link_.push_back(first_link_.back() + noise_.links(u).size());
        prices_.assign(first_link_.back(), 0.0);
        own_price_ = VectorXd::Zero(agents());
        reached_ = VectorXd::Zero(agents());
        start();
    }

    PairSolution solve();

  private:
    [[nodiscard]] int agents() const { return static_cast<int>(kappa_.size()); }
    void start();
    [[nodiscard]] Found pass(const LocalFlow::Options& options, bool first);
    void visit(
        int agent, LocalFlow& flow, const LocalFlow::Options& options, bool first, Found& found);
    static void add_gain(const LocalFlow& flow, double price, LocalGain& gain);
    void scatter(const LocalFlow& flow, const LocalGain& gain, Found& found) const;
    void keep_feasible();

    const PairProblem& problem_;
    const VectorXd& kappa_;
    PairwiseNoise noise_;
    VectorXd costs_, values_;
    std::vector<std::size_t> first_link_;
    std::vector<double> prices_;  // of coalitions of one neighbour, by link
    VectorXd own_price_;          // of the eavesdropper, for agents without others
    VectorXd reached_;            // the largest precision of every agent
    VectorXd most_;               // within the variance cap
    double mean_excess_ = 1;
    PriceBound bound_;
    PairSolution best_;
};

void PairPrices::start() {
    values_.resize(costs_.size());
    const Index n = agents();
    for (int u = 0; u < n; ++u) values_(u) = (noise_.links(u).empty() ? 1.0 : 0.2) / kappa_(u);
    for (std::size_t k = 0; k < problem_.pairs.size(); ++k) {
        const auto [u, v] = problem_.pairs[k];
        const auto most = std::max(noise_.links(u).size(), noise_.links(v).size());
        values_(n + static_cast<Index>(k)) =
            1 / (std::min(kappa_(u), kappa_(v)) * static_cast<double>(1 + most));
    }
    most_ = VectorXd::Constant(costs_.size(), infinity);
    for (std::size_t k = 0; k < problem_.pairs.size(); ++k) {
        const auto [u, v] = problem_.pairs[k];
        const auto most = std::max(noise_.links(u).size(), noise_.links(v).size());
        most_(n + static_cast<Index>(k)) =
            0.5 * problem_.variance_cap /
            (std::max(kappa_(u), kappa_(v)) * static_cast<double>(most));
        // Noise that costs nothing would grow without end.
        double& cost = costs_(n + static_cast<Index>(k));
        cost = std::max(cost, 1e-9 * (costs_(u) + costs_(v)));
    }
    best_.value = infinity;
}

void PairPrices::add_gain(const LocalFlow& flow, double price, LocalGain& gain) {
    gain.agents.resize(flow.near().size(), 0);
    gain.ends.resize(flow.all_ends(), 0);
    const double square = flow.multiple() * flow.multiple();
    gain.weight += price * square;
    for (const int place : flow.changed()) {
        const double x = flow.potential(place), before = flow.base(place);
        gain.agents[static_cast<std::size_t>(place)] += price * (x * x - square * before * before);
        double* changed = gain.ends.data() + flow.first_end(place);
        for (const int end : flow.ends(place)) {
            const double old = before - flow.base(end);
            double difference = -square * old * old;
            if (!flow.out(place) && !flow.out(end))
                difference += std::pow(x - flow.potential(end), 2);
            *changed++ += (flow.is_changed(end) ? 0.5 : 1) * price * difference;
        }
    }
}

/// A pair with both ends inside is met twice.
void PairPrices::scatter(const LocalFlow& flow, const LocalGain& gain, Found& found) const {
    for (const int place : flow.inside()) {
        const auto p = static_cast<std::size_t>(place);
        const int agent = flow.near()[p];
        const double x = flow.base(place);
        found.gain_agents(agent) += gain.agents[p] + gain.weight * x * x;
        const double* changed = gain.ends.data() + flow.first_end(place);
        const int* end = flow.ends(place).data();
        for (const NoiseLink& link : noise_.links(agent)) {
            const double difference = x - flow.base(*end);
            found.gain_pairs(link.pair) += *changed++ + (flow.is_inside(*end++) ? 0.5 : 1) *
                                                            gain.weight * difference * difference;
        }
    }
}

void PairPrices::visit(
    int agent, LocalFlow& flow, const LocalFlow::Options& options, bool first, Found& found) {
    constexpr double most_change = 10, power = 1.5;
    const auto followed = [&](double price, double precision) {
        const double excess = precision / kappa_(agent) / mean_excess_;
        return price * std::clamp(std::pow(excess, power), 1 / most_change, most_change);
    };
    const auto count = noise_.links(agent).size();
    LocalGain gain;
    const auto base = flow.start(agent, options);
    double& reached = reached_(agent);
    reached = base.upper;
    if (problem_.coalition_size == 0 || count == 0) {
        double& price = own_price_(agent);
        price = first ? 1 / kappa_(agent) : followed(price, base.upper);
        found.reward += price * base.upper;
        found.potential += price * flow.potential(0);
        found.limit += price * kappa_(agent);
        add_gain(flow, price, gain);
        scatter(flow, gain, found);
        return;
    }
    // Coalitions of one neighbour.
    double* prices = prices_.data() + first_link_[static_cast<std::size_t>(agent)];
    const auto links = noise_.links(agent);
    const std::vector<double> bounds = flow.bounds_without_one();
    std::vector<std::pair<double, std::size_t>> order;
    double all = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const int place = flow.place(links[k].other);
        const double bound = place < 0 ? base.upper : bounds[static_cast<std::size_t>(place)];
        order.emplace_back(bound, k);
        if (first) prices[k] = 1 / (kappa_(agent) * static_cast<double>(count));
        all += prices[k];
    }
    std::ranges::sort(order, std::greater<>());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto [bound, k] = order[i];
        double precision = bound;
        const bool solve =
            i < most_coalitions && (prices[k] > 1e-3 * all || bound > 0.98 * reached);
        if (solve) {
            precision = flow.without(std::span(&links[k].other, 1), options).upper;
            reached = std::max(reached, precision);
        }
        if (!first && std::isfinite(precision)) prices[k] = followed(prices[k], precision);
        if (!solve || !std::isfinite(precision)) continue;
        found.reward += prices[k] * precision;
        found.potential += prices[k] * flow.potential(0);
        found.limit += prices[k] * kappa_(agent);
        add_gain(flow, prices[k], gain);
    }
    scatter(flow, gain, found);
}

Found PairPrices::pass(const LocalFlow::Options& options, bool first) {
    noise_.set_values(values_.head(agents()), values_.tail(std::ssize(problem_.pairs)));
    const GroundCosts costs(noise_, std::min(problem_.coalition_size, 1));
    std::vector<Found> parts(price_parts);
    parallel_for(price_parts, linear_algebra_threads(), [&](long part) {
        Found& found = parts[static_cast<std::size_t>(part)];
        found.gain_agents = VectorXd::Zero(agents());
        found.gain_pairs = VectorXd::Zero(std::ssize(problem_.pairs));
        LocalFlow flow(noise_, costs);
        for (auto u = static_cast<int>(part); u < agents(); u += price_parts)
            visit(u, flow, options, first, found);
    });
    for (int part = 1; part < price_parts; ++part) {
        const Found& found = parts[static_cast<std::size_t>(part)];
        parts[0].gain_agents += found.gain_agents;
        parts[0].gain_pairs += found.gain_pairs;
        parts[0].reward += found.reward;
        parts[0].limit += found.limit;
        parts[0].potential += found.potential;
    }
    return std::move(parts[0]);
}

/// Keeps the values if they are the best that keep all limits.
void PairPrices::keep_feasible() {
    if (!reached_.allFinite()) return;
    VectorXd own = values_.head(agents());
    VectorXd shared = values_.tail(std::ssize(problem_.pairs));
    const double value = keep_limits(reached_, problem_, own, shared);
    if (!(value < best_.value)) return;
    best_.value = value;
    best_.private_variance = std::move(own);
    best_.pair_variance = std::move(shared);
}

PairSolution PairPrices::solve() {
    constexpr double haste = 0, least_share = 1e-4;
    LocalFlow::Options options;
    options.tolerance = 0.05;
    options.most_agents = 600;
    options.most_steps = 12;
    options.most_rounds = 2;
    const int passes = agents() > many_agents ? 8 : 12;
    NumberSteps steps;
    VectorXd gain(costs_.size());
    for (best_.passes = 0; best_.passes < passes; ++best_.passes) {
        const Found found = pass(options, best_.passes == 0);
        keep_feasible();
        gain << found.gain_agents, found.gain_pairs;
        if (!(found.limit > 0)) break;
        bound_.add(gain.cwiseQuotient(costs_) / found.limit, found.potential / found.limit);
        mean_excess_ = found.reward / found.limit;
        const double unit = costs_.dot(values_) / gain.dot(values_);
        steps.take(unit * gain.cwiseQuotient(costs_), haste, values_);
        const double least = least_share * values_.head(agents()).mean();
        values_ = values_.cwiseMax(least).cwiseMin(most_);
    }
    best_.lower_bound = bound_.largest();
    return std::move(best_);
}

}  // namespace

double keep_limits(const VectorXd& reached,
                   const PairProblem& problem,
                   VectorXd& private_variance,
                   VectorXd& pair_variance) {
    const VectorXd& kappa = *problem.kappa;
    const VectorXd& each = problem.costs->agents;
    // scale cost + sum of cost_u max(0, 1 / kappa_u - scale / reached_u) is convex in the scale.
    std::vector<std::pair<double, double>> bends;  // from where an agent lacks nothing; slope
    double slope = each.dot(private_variance) + problem.costs->pairs.dot(pair_variance);
    for (Index u = 0; u < kappa.size(); ++u) {
        bends.emplace_back(reached(u) / kappa(u), each(u) / reached(u));
        slope -= each(u) / reached(u);
    }
    std::ranges::sort(bends);
    double scale = bends.back().first;
    for (const auto& [at, gained] : bends) {
        scale = at;
        slope += gained;
        if (slope >= 0) break;
    }
    private_variance *= scale;
    pair_variance *= scale;
    for (Index u = 0; u < kappa.size(); ++u)
        private_variance(u) += std::max(0.0, 1 / kappa(u) - scale / reached(u));
    return each.dot(private_variance) + problem.costs->pairs.dot(pair_variance);
}

PairSolution solve_pair_prices(const PairProblem& problem) { return PairPrices(problem).solve(); }

}  // namespace sotto
