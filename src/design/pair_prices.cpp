#include "design/pair_prices.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
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
constexpr std::size_t most_coalitions = 40;

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
    void visit(int agent, LocalFlow& flow, const LocalFlow::Options& options, bool first, Found& found);
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
    double mean_excess_ = 1, power_ = 1;
    PairSolution best_;
};

void PairPrices::start() {
    values_.resize(costs_.size());
    const Index n = agents();
    for (int u = 0; u < n; ++u) values_(u) = (noise_.links(u).empty() ? 1.0 : 0.2) / kappa_(u);
    for (std::size_t k = 0; k < problem_.pairs.size(); ++k) {
        const auto [u, v] = problem_.pairs[k];
        const auto most = std::max(noise_.links(u).size(), noise_.links(v).size());
        values_(n + static_cast<Index>(k)) = 1 / (std::min(kappa_(u), kappa_(v)) * static_cast<double>(1 + most));
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
            found.gain_pairs(link.pair) +=
                *changed++ +
                (flow.is_inside(*end++) ? 0.5 : 1) * gain.weight * difference * difference;
        }
    }
}

void PairPrices::visit(
    int agent, LocalFlow& flow, const LocalFlow::Options& options, bool first, Found& found) {
    constexpr double most_change = 10;
    const auto followed = [&](double price, double precision) {
        const double excess = precision / kappa_(agent) / mean_excess_;
        return price * std::clamp(std::pow(excess, power_), 1 / most_change, most_change);
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
        const bool solve = i < most_coalitions && (prices[k] > 1e-3 * all || bound > 0.98 * reached);
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
    const GroundCosts costs(noise_, problem_.coalition_size);
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

/// Scales the values and adds private noise where a limit is still exceeded, whichever costs least.
void PairPrices::keep_feasible() {
    const Index n = agents();
    const double cost = costs_.dot(values_);
    // costs + sum of cost_u max(0, 1 / kappa_u - scale / reached_u): convex in the scale.
    std::vector<std::pair<double, double>> bends;  // scale from which an agent lacks nothing; slope
    double slope = cost;
    for (Index u = 0; u < n; ++u) {
        const double each = costs_(u) / reached_(u);
        bends.emplace_back(reached_(u) / kappa_(u), each);
        slope -= each;
    }
    std::ranges::sort(bends);
    double scale = bends.back().first;
    for (const auto& [at, each] : bends) {
        scale = at;
        slope += each;
        if (slope >= 0) break;
    }
    VectorXd values = scale * values_;
    for (Index u = 0; u < n; ++u)
        values(u) += std::max(0.0, 1 / kappa_(u) - scale / reached_(u));
    const double value = costs_.dot(values);
    if (!(value < best_.value)) return;
    best_.value = value;
    best_.private_variance = values.head(n);
    best_.pair_variance = values.tail(std::ssize(problem_.pairs));
}

PairSolution PairPrices::solve() {
    LocalFlow::Options options;
    const auto env = [](const char* name, double other) { const char* v = getenv(name); return v ? atof(v) : other; };
    options.tolerance = env("TOL", 0.03);
    options.most_agents = env("MOSTA", 300);
    options.most_steps = env("STEPS", 12);
    options.most_rounds = env("ROUNDS", 2);
    const int passes = env("PASSES", 12);
    power_ = env("POWER", 1);
    const double haste = env("HASTE", 0.3), avg = env("AVG", 0.3);
    NumberSteps steps;
    VectorXd gain = VectorXd::Zero(costs_.size()), mean = gain;
    double mean_reward = 0;
    for (best_.passes = 0; best_.passes < passes; ++best_.passes) {
        const Found found = pass(options, best_.passes == 0);
        keep_feasible();
        gain.head(agents()) = found.gain_agents;
        gain.tail(found.gain_pairs.size()) = found.gain_pairs;
        const double share = best_.passes == 0 ? 1 : avg;
        mean = (1 - share) * mean + share / found.limit * gain;
        mean_reward = (1 - share) * mean_reward + share * found.potential / found.limit;
        const auto bound = [&](const VectorXd& g, double reward, double limit) {
            return reward * reward / (limit * g.cwiseQuotient(costs_).maxCoeff());
        };
        const double now = bound(gain, found.potential, found.limit), averaged = bound(mean, mean_reward, 1);
        best_.lower_bound = std::max({best_.lower_bound, now, averaged});
        mean_excess_ = found.reward / found.limit;
        const double unit = costs_.dot(values_) / gain.dot(values_);
        if (getenv("SHOW")) {
            const VectorXd e = unit * gain.cwiseQuotient(costs_);
            fprintf(stderr, "pass %d value %.5g best %.5g bound now %.5g averaged %.5g  best bound %.5g gap %.3f  excess max %.3f mean %.3f earn max %.3f agents %.3f\n", best_.passes, costs_.dot(values_), best_.value, now, averaged, best_.lower_bound, 1 - best_.lower_bound / best_.value, reached_.cwiseQuotient(kappa_).maxCoeff(), mean_excess_, e.maxCoeff(), e.head(agents()).maxCoeff());
        }
        steps.take(unit * gain.cwiseQuotient(costs_), haste, values_);
        const double least = 1e-4 * values_.head(agents()).mean();
        values_ = values_.cwiseMax(least);
    }
    return std::move(best_);
}

}  // namespace

PairSolution solve_pair_prices(const PairProblem& problem) { return PairPrices(problem).solve(); }

}  // namespace sotto
