#include "design/pair_prices.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
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

/// What the flows of some agents gain, agent by agent, in the last pass.
struct Gains {
    /// A value (those of agents, then those of pairs), and gain / cost.
    std::vector<std::pair<std::int32_t, float>> entries;
    std::vector<std::size_t> first{0};     // entry of every agent
    std::vector<double> potential, limit;  // by agent: price times x_u, price times kappa
};

/// What one pass over some agents finds.
struct Found {
    VectorXd gain_agents, gain_pairs;
    double reward = 0, limit = 0, potential = 0;
    Gains gains;
};

/// Of one agent's flows: what differs from `weight` times that of the flow without a coalition.
struct LocalGain {
    std::vector<double> agents, ends;
    double weight = 0;
};

/// A lower bound on the cost from flows x of all agents. For every x and prices with sum 1 of price
/// times kappa, noise that keeps the limits has gain . values >= A^2, A = sum of price x_u; so it
/// costs at least A^2 / max(gain / costs). Every agent's prices get a factor: step by step it
/// follows what the agent adds to A^2 over what it adds to the sum and to the largest ratio, in
/// whose place stands a mean with weights ratio^power.
class PriceBound {
  public:
    /// @param left_out  largest entry that is not among them; each counts as so much.
    PriceBound(std::vector<Gains> parts, Index values, double left_out)
        : parts_(std::move(parts)), values_(values), left_out_(left_out) {
        for (const Gains& part : parts_) factors_.push_back(VectorXd::Ones(std::ssize(part.limit)));
    }
    /// Cost: O(entries) a step.
    [[nodiscard]] double largest() {
        constexpr int most_steps = 60;
        constexpr double single_precision = 1e-6;
        double bound = 0;
        for (int step = 0; step < most_steps; ++step) {
            measure();
            if (!(limit_ > 0)) break;
            const double most = ratio_.maxCoeff() + rest_;
            bound = std::max(bound, potential_ * potential_ / (limit_ * most));
            change(20 * std::pow(10, static_cast<double>(step) / most_steps));
        }
        return (1 - single_precision) * bound;
    }

  private:
    template <class Use>
    void for_each_part(Use&& use) {
        parallel_for(std::ssize(parts_), linear_algebra_threads(), [&](long part) {
            use(parts_[static_cast<std::size_t>(part)],
                factors_[static_cast<std::size_t>(part)],
                part);
        });
    }
    void measure() {
        std::vector<VectorXd> ratios(parts_.size(), VectorXd::Zero(values_));
        for_each_part([&](const Gains& part, const VectorXd& factors, long p) {
            VectorXd& ratio = ratios[static_cast<std::size_t>(p)];
            for (Index u = 0; u < factors.size(); ++u)
                for (const auto& [value, gain] : entries_of(part, u))
                    ratio(value) += factors(u) * static_cast<double>(gain);
        });
        ratio_ = VectorXd::Zero(values_);
        potential_ = limit_ = rest_ = 0;
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            ratio_ += ratios[p];
            const auto count = factors_[p].size();
            potential_ +=
                factors_[p].dot(Eigen::Map<const VectorXd>(parts_[p].potential.data(), count));
            limit_ += factors_[p].dot(Eigen::Map<const VectorXd>(parts_[p].limit.data(), count));
            // A pair is met from both of its ends.
            rest_ += 2 * left_out_ * factors_[p].sum();
        }
    }
    void change(double power) {
        VectorXd weights = (ratio_ / ratio_.maxCoeff()).array().pow(power);
        weights /= weights.dot(ratio_);
        for_each_part([&](const Gains& part, VectorXd& factors, long) {
            constexpr double most_change = 10, haste = 2;
            for (Index u = 0; u < factors.size(); ++u) {
                const auto agent = static_cast<std::size_t>(u);
                double taken = part.limit[agent] / limit_;
                for (const auto& [value, gain] : entries_of(part, u))
                    taken += weights(value) * static_cast<double>(gain);
                const double earned = 2 * part.potential[agent] / potential_;
                factors(u) *= std::pow(std::clamp(earned / taken, 1 / most_change, most_change),
                                       haste / power);
            }
        });
    }
    static std::span<const std::pair<std::int32_t, float>> entries_of(const Gains& part, Index u) {
        const auto agent = static_cast<std::size_t>(u);
        return {part.entries.data() + part.first[agent], part.first[agent + 1] - part.first[agent]};
    }

    std::vector<Gains> parts_;
    Index values_;
    double left_out_;
    std::vector<VectorXd> factors_;
    VectorXd ratio_;
    double potential_ = 0, limit_ = 0, rest_ = 0;
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
    enum class Pass { first, middle, last };
    [[nodiscard]] Found pass(const LocalFlow::Options& options, Pass which);
    void visit(
        int agent, LocalFlow& flow, const LocalFlow::Options& options, Pass which, Found& found);
    static void add_gain(const LocalFlow& flow, double price, LocalGain& gain);
    void scatter(const LocalFlow& flow, const LocalGain& gain, Pass which, Found& found) const;
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
    std::vector<Gains> gains_;  // of the last pass
    double least_entry_ = 0;    // that is kept among them
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
void PairPrices::scatter(const LocalFlow& flow,
                         const LocalGain& gain,
                         Pass which,
                         Found& found) const {
    const auto add = [&](VectorXd& gains, int index, Index value, double gained) {
        gains(index) += gained;
        const double ratio = which == Pass::last ? gained / costs_(value) : 0;
        if (ratio > least_entry_)
            found.gains.entries.emplace_back(value, static_cast<float>(ratio));
    };
    for (const int place : flow.inside()) {
        const auto p = static_cast<std::size_t>(place);
        const int agent = flow.near()[p];
        const double x = flow.base(place);
        add(found.gain_agents, agent, agent, gain.agents[p] + gain.weight * x * x);
        const double* changed = gain.ends.data() + flow.first_end(place);
        const int* end = flow.ends(place).data();
        for (const NoiseLink& link : noise_.links(agent)) {
            const double difference = x - flow.base(*end);
            const double share = flow.is_inside(*end++) ? 0.5 : 1;
            add(found.gain_pairs,
                link.pair,
                agents() + link.pair,
                *changed++ + share * gain.weight * difference * difference);
        }
    }
}

void PairPrices::visit(
    int agent, LocalFlow& flow, const LocalFlow::Options& options, Pass which, Found& found) {
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
        price = which == Pass::first ? 1 / kappa_(agent) : followed(price, base.upper);
        found.reward += price * base.upper;
        found.potential += price * flow.potential(0);
        found.limit += price * kappa_(agent);
        add_gain(flow, price, gain);
        scatter(flow, gain, which, found);
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
        if (which == Pass::first) prices[k] = 1 / (kappa_(agent) * static_cast<double>(count));
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
        if (which != Pass::first && std::isfinite(precision))
            prices[k] = followed(prices[k], precision);
        if (!solve || !std::isfinite(precision)) continue;
        found.reward += prices[k] * precision;
        found.potential += prices[k] * flow.potential(0);
        found.limit += prices[k] * kappa_(agent);
        add_gain(flow, prices[k], gain);
    }
    scatter(flow, gain, which, found);
}

Found PairPrices::pass(const LocalFlow::Options& options, Pass which) {
    noise_.set_values(values_.head(agents()), values_.tail(std::ssize(problem_.pairs)));
    const GroundCosts costs(noise_, std::min(problem_.coalition_size, 1));
    std::vector<Found> parts(price_parts);
    parallel_for(price_parts, linear_algebra_threads(), [&](long part) {
        Found& found = parts[static_cast<std::size_t>(part)];
        found.gain_agents = VectorXd::Zero(agents());
        found.gain_pairs = VectorXd::Zero(std::ssize(problem_.pairs));
        LocalFlow flow(noise_, costs);
        Gains& gains = found.gains;
        for (auto u = static_cast<int>(part); u < agents(); u += price_parts) {
            const double potential = found.potential, limit = found.limit;
            visit(u, flow, options, which, found);
            gains.first.push_back(gains.entries.size());
            gains.potential.push_back(found.potential - potential);
            gains.limit.push_back(found.limit - limit);
        }
    });
    gains_.clear();
    for (Found& found : parts) gains_.push_back(std::move(found.gains));
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
    const int passes = agents() > many_agents ? 8 : 10;
    NumberSteps steps;
    VectorXd gain(costs_.size());
    for (best_.passes = 0; best_.passes < passes; ++best_.passes) {
        const Found found = pass(options,
                                 best_.passes == 0            ? Pass::first
                                 : best_.passes + 1 == passes ? Pass::last
                                                              : Pass::middle);
        keep_feasible();
        gain << found.gain_agents, found.gain_pairs;
        if (!(found.limit > 0)) break;
        constexpr double negligible = 1e-3;
        if (best_.passes + 1 < passes)
            least_entry_ = negligible * gain.cwiseQuotient(costs_).maxCoeff() / agents();
        mean_excess_ = found.reward / found.limit;
        const double unit = costs_.dot(values_) / gain.dot(values_);
        steps.take(unit * gain.cwiseQuotient(costs_), haste, values_);
        const double least = least_share * values_.head(agents()).mean();
        values_ = values_.cwiseMax(least).cwiseMin(most_);
    }
    best_.lower_bound = PriceBound(std::move(gains_), costs_.size(), least_entry_).largest();
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
