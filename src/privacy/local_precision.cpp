#include "privacy/local_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/numbers.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

using Eigen::VectorXd;

namespace {

constexpr double rounding = std::numeric_limits<double>::epsilon();
/// Relative, of sums over what flows through one agent.
constexpr double far_rounding = 1e-9;

/// Terms own y_u - |cross| y_v above 0 that a coalition of some size would take away, largest
/// first.
class LargestTerms {
  public:
    explicit LargestTerms(int size) : size_(static_cast<std::size_t>(size)) {}
    void clear() { terms_.clear(); }
    void add(double term, std::size_t link) {
        if (size_ == 0 || !(term > 0) || (terms_.size() == size_ && !(term > terms_.back().first)))
            return;
        if (terms_.size() == size_) terms_.pop_back();
        auto place = terms_.end();
        while (place != terms_.begin() && std::prev(place)->first < term) --place;
        terms_.insert(place, {term, link});
    }
    [[nodiscard]] std::span<const std::pair<double, std::size_t>> terms() const { return terms_; }

  private:
    std::size_t size_;
    std::vector<std::pair<double, std::size_t>> terms_;
};

/// One pass of y_u <- max over I of (1 + sum |cross| y_v) / (s2_u + sum own), sums outside I.
/// @return the smallest g_u = (C^(I) y)_u before it, at most 1.
double approach_walk_lengths(const PairwiseNoise& noise, LargestTerms& taken, VectorXd& y) {
    double least = 1;
    for (int u = 0; u < noise.agents(); ++u) {
        const auto links = noise.links(u);
        double above = 1, below = noise.private_variance(u);
        taken.clear();
        for (std::size_t k = 0; k < links.size(); ++k) {
            const double cross = std::abs(links[k].cross) * y(links[k].other);
            above += cross;
            below += links[k].own;
            taken.add(links[k].own * y(u) - cross, k);
        }
        for (const auto& [term, k] : taken.terms()) {
            if (!(below - links[k].own > 1e-9 * noise.variance(u))) break;
            above -= std::abs(links[k].cross) * y(links[k].other);
            below -= links[k].own;
        }
        if (!(below > 0)) continue;
        least = std::min(least, 1 + below * y(u) - above);
        y(u) = std::max(y(u), above / below);
    }
    return least;
}

/// y / g, or infinite.
double cost_of(double length, double margin) {
    return margin > 0 ? (1 + 4 * rounding) * length / margin : infinity;
}

}  // namespace

GroundCosts::GroundCosts(const PairwiseNoise& noise, int coalition_size)
    : margin_(noise.agents()), against_all_(noise.agents()) {
    constexpr int most_passes = 500;
    constexpr double near_enough = 0.9;
    LargestTerms taken(coalition_size);
    length_.resize(noise.agents());
    for (int u = 0; u < noise.agents(); ++u)
        length_(u) = noise.variance(u) > 0 ? 1 / noise.variance(u) : 1;
    for (int pass = 0; pass < most_passes; ++pass)
        if (approach_walk_lengths(noise, taken, length_) >= near_enough) break;
    for (int u = 0; u < noise.agents(); ++u) {
        const auto links = noise.links(u);
        double sum = noise.private_variance(u) * length_(u), size = sum;
        taken.clear();
        for (std::size_t k = 0; k < links.size(); ++k) {
            const double own = links[k].own * length_(u);
            const double cross = std::abs(links[k].cross) * length_(links[k].other);
            sum += own - cross;
            size += own + cross;
            taken.add(own - cross, k);
        }
        const double error = (8 + 4 * static_cast<double>(links.size())) * rounding * size;
        margin_(u) = sum - error;
        for (const auto& [term, k] : taken.terms()) sum -= term;
        against_all_(u) = cost_of(length_(u), sum - error);
    }
}

LocalFlow::LocalFlow(const PairwiseNoise& noise, const GroundCosts& costs)
    : noise_(noise), costs_(costs), place_(static_cast<std::size_t>(noise.agents()), -1) {}

int LocalFlow::place_of(int agent) {
    int& place = place_[at(agent)];
    if (place < 0) {
        place = static_cast<int>(near_.size());
        near_.push_back(agent);
    }
    return place;
}

/// One call for many new places: each of the vectors is looked at once.
void LocalFlow::make_room() {
    const std::size_t before = cost_.size(), size = near_.size();
    if (size == before) return;
    for (auto* marks : {&entered_, &out_, &in_core_, &is_touched_}) marks->resize(size, false);
    ranges_.resize(size);
    for (auto* values : {&x_, &residual_, &diagonal_, &direction_, &product_, &solving_})
        values->resize(size, 0);
    for (auto* values : {&change_, &step_, &present_diagonal_, &present_residual_})
        values->resize(size, 0);
    for (std::size_t place = before; place < size; ++place)
        cost_.push_back(costs_.against_all(near_[place]));
    present_cost_.insert(
        present_cost_.end(), cost_.begin() + std::ssize(present_cost_), cost_.end());
}

void LocalFlow::enter(int place) {
    if (entered_[at(place)]) return;
    entered_[at(place)] = true;
    inside_.push_back(place);
    const int agent = near_[at(place)];
    const auto links = noise_.links(agent);
    diagonal_[at(place)] = present_diagonal_[at(place)] = noise_.variance(agent);
    cost_[at(place)] = present_cost_[at(place)] =
        cost_of(costs_.length(agent), costs_.margin(agent));
    const std::size_t first = ends_.size();
    ranges_[at(place)] = {first, links.size()};
    for (const NoiseLink& link : links) ends_.push_back(place_of(link.other));
    make_room();
    most_links_ = std::max(most_links_, static_cast<double>(links.size()));
}

void LocalFlow::forget() {
    for (const int agent : near_) place_[at(agent)] = -1;
    for (auto* places : {&near_, &inside_, &ends_, &left_out_, &core_, &touched_}) places->clear();
    for (auto* marks : {&entered_, &out_, &in_core_, &is_touched_}) marks->clear();
    ranges_.clear();
    for (auto* values : {&x_, &residual_, &diagonal_, &cost_, &direction_, &product_, &solving_})
        values->clear();
    for (auto* values : {&change_, &step_, &present_diagonal_, &present_cost_, &present_residual_})
        values->clear();
    multiple_ = 1;
    most_links_ = 0;
}

/// (R x)_u without the diagonal.
double LocalFlow::row_times(int place, const std::vector<double>& x) const {
    const int* end = ends_.data() + ranges_[at(place)].first;
    double sum = 0;
    for (const NoiseLink& link : noise_.links(near_[at(place)])) sum += link.cross * x[at(*end++)];
    return sum;
}

/// Conjugate gradients on some places for x, from x = 0 and the residual `solving_` there, until w
/// r^2 there is at most `tolerance`. `direction_` is 0 everywhere before and after.
void LocalFlow::descend(std::span<const int> places,
                        std::vector<double>& x,
                        const std::vector<double>& diagonal,
                        const std::vector<double>& cost,
                        double tolerance,
                        int most_steps) {
    double product = 0;
    for (const int place : places) {
        const auto p = at(place);
        direction_[p] = diagonal[p] > 0 && !out_[p] ? solving_[p] / diagonal[p] : 0;
        product += solving_[p] * direction_[p];
    }
    for (int step = 0; step < most_steps && product > 0; ++step) {
        double curvature = 0;
        for (const int place : places) {
            const auto p = at(place);
            product_[p] = out_[p] ? 0 : diagonal[p] * direction_[p] + row_times(place, direction_);
            curvature += direction_[p] * product_[p];
        }
        if (!(curvature > 0)) break;
        const double length = product / curvature;
        double left = 0, next = 0;
        for (const int place : places) {
            const auto p = at(place);
            if (!(diagonal[p] > 0) || out_[p]) continue;
            x[p] += length * direction_[p];
            solving_[p] -= length * product_[p];
            const double squared = solving_[p] * solving_[p];
            left += cost[p] * squared;
            next += squared / diagonal[p];
        }
        if (left <= tolerance || !(next < infinity)) break;
        const double kept = next / product;
        product = next;
        for (const int place : places) {
            const auto p = at(place);
            if (!(diagonal[p] > 0) || out_[p]) continue;
            direction_[p] = solving_[p] / diagonal[p] + kept * direction_[p];
        }
    }
    for (const int place : places) direction_[at(place)] = 0;
}

/// Bounds with what rounding may have changed: every residual is a sum of at most most_links_ + 2
/// terms, which all together are at most `reach`.
LocalFlow::Bounds LocalFlow::rounded(
    double potential, double along, double left_over, double reach, double largest_cost) const {
    if (!(potential > 0 && left_over >= 0 && reach < infinity)) return {0, infinity};
    const double terms = 64 + 4 * static_cast<double>(near_.size()) + 4 * most_links_;
    const double of_residual = (32 + 4 * most_links_) * rounding * reach;
    const double left = std::sqrt(left_over) + of_residual * std::sqrt(largest_cost);
    const double error = terms * rounding * (2 * potential * (1 + reach) + left_over) +
                         of_residual * (2 + 2 * potential);
    return {std::max(0.0, potential + along - error), potential + along + left * left + error};
}

/// Residuals and bounds of the flow of `start`.
LocalFlow::Bounds LocalFlow::measure() {
    std::ranges::fill(residual_, 0.0);
    along_ = left_over_ = largest_cost_ = 0;
    reach_ = 1;
    for (const int place : inside_) {
        const auto p = at(place);
        const int* end = ends_.data() + ranges_[p].first;
        double sum = diagonal_[p] * x_[p], size = std::abs(sum);
        for (const NoiseLink& link : noise_.links(near_[p])) {
            const auto e = at(*end++);
            sum += link.cross * x_[e];
            size += std::abs(link.cross * x_[p]);
            if (!entered_[e]) residual_[e] -= link.cross * x_[p];
        }
        residual_[p] = (place == 0 ? 1 : 0) - sum;
        along_ += x_[p] * residual_[p];
        reach_ += size;
    }
    for (std::size_t p = 0; p < near_.size(); ++p) {
        const double r = residual_[p];
        if (r == 0 && !entered_[p]) continue;
        if (diagonal_[p] == 0 && entered_[p]) continue;
        left_over_ += cost_[p] * r * r;
        largest_cost_ = std::max(largest_cost_, cost_[p]);
    }
    return rounded(x_[0], along_, left_over_, reach_, largest_cost_);
}

/// Adds the agents at which most is left over.
void LocalFlow::grow(double tolerance, int most_agents) {
    std::vector<std::pair<double, int>> added;
    const double enough = tolerance / static_cast<double>(near_.size());
    for (std::size_t p = 0; p < near_.size(); ++p) {
        if (entered_[p] || residual_[p] == 0) continue;
        const double left = cost_[p] * residual_[p] * residual_[p];
        if (left > enough) added.emplace_back(left, static_cast<int>(p));
    }
    const std::size_t room = static_cast<std::size_t>(most_agents) -
                             std::min(inside_.size(), static_cast<std::size_t>(most_agents));
    if (added.size() > room) {
        std::ranges::nth_element(
            added, added.begin() + static_cast<std::ptrdiff_t>(room), std::greater<>());
        added.resize(room);
        std::ranges::sort(added, {}, &std::pair<double, int>::second);
    }
    for (const auto& [left, place] : added) enter(place);
}

LocalFlow::Bounds LocalFlow::start(int agent, const Options& options) {
    forget();
    const int own = place_of(agent);
    make_room();
    enter(own);
    if (!(noise_.variance(agent) > 0)) return {infinity, infinity};
    x_[0] = 1 / noise_.variance(agent);
    Bounds found = measure();
    for (int round = 0; round < 30; ++round) {
        const double aim = 0.5 * options.tolerance * found.lower;
        if (found.upper - found.lower <= aim) break;
        const std::size_t before = inside_.size();
        grow(round < 1 ? 0 : 0.5 * aim, options.most_agents);
        solving_ = residual_;
        descend(inside_, x_, diagonal_, cost_, 0.3 * aim, options.most_steps);
        found = measure();
        if (inside_.size() == before && round > 2) break;
    }
    return found;
}

/// R^(I)_uu for the coalition that is left out.
double LocalFlow::unknown_variance(int agent) const {
    double variance = noise_.private_variance(agent);
    for (const NoiseLink& link : noise_.links(agent)) {
        const int end = place_[at(link.other)];
        if (end < 0 || !out_[at(end)]) variance += link.own;
    }
    return variance;
}

/// w of an agent inside for the coalition that is left out.
double LocalFlow::cost_of_place(int place) const {
    const int agent = near_[at(place)];
    double taken = 0, size = std::abs(costs_.margin(agent));
    for (const NoiseLink& link : noise_.links(agent)) {
        const int end = place_[at(link.other)];
        if (end < 0 || !out_[at(end)]) continue;
        const double own = link.own * costs_.length(agent);
        const double cross = std::abs(link.cross) * costs_.length(link.other);
        taken += own - cross;
        size += own + cross;
    }
    return cost_of(costs_.length(agent), costs_.margin(agent) - taken - 64 * rounding * size);
}

void LocalFlow::take_back() {
    for (const int place : touched_) {
        const auto p = at(place);
        is_touched_[p] = false;
        present_diagonal_[p] = diagonal_[p];
        present_cost_[p] = cost_[p];
    }
    for (const int place : core_) {
        in_core_[at(place)] = false;
        change_[at(place)] = 0;
    }
    for (const int place : left_out_) out_[at(place)] = false;
    touched_.clear();
    core_.clear();
    left_out_.clear();
    multiple_ = 1;
}

/// The residual of a place that the coalition or a change concerns.
void LocalFlow::touch(int place) {
    if (is_touched_[at(place)]) return;
    is_touched_[at(place)] = true;
    touched_.push_back(place);
    present_residual_[at(place)] = multiple_ * residual_[at(place)];
}

void LocalFlow::add_to_core(int place) {
    if (in_core_[at(place)] || !entered_[at(place)]) return;
    in_core_[at(place)] = true;
    core_.push_back(place);
    touch(place);
}

/// Without the coalition: residuals of the flow of `start`, and its multiple that leaves nothing
/// over at the agent.
void LocalFlow::leave_out(std::span<const int> coalition) {
    for (const int member : coalition) {
        const int place = place_of(member);
        make_room();
        left_out_.push_back(place);
        out_[at(place)] = true;
        touch(place);
    }
    touch(0);
    for (std::size_t m = 0; m < coalition.size(); ++m) {
        const double x = x_[at(left_out_[m])];
        for (const NoiseLink& link : noise_.links(coalition[m])) {
            const int place = place_[at(link.other)];
            if (place < 0 || out_[at(place)]) continue;
            touch(place);
            if (entered_[at(place)]) {
                for (const NoiseLink& back : noise_.links(link.other))
                    if (back.pair == link.pair)
                        present_residual_[at(place)] += back.own * x_[at(place)];
                present_diagonal_[at(place)] = unknown_variance(link.other);
                present_cost_[at(place)] = cost_of_place(place);
            }
            present_residual_[at(place)] += link.cross * x;
        }
    }
    const double kept = 1 - present_residual_[0];
    multiple_ = kept > 0 ? 1 / kept : 1;
    for (const int place : touched_) {
        present_residual_[at(place)] *= multiple_;
        if (place == 0) present_residual_[0] += 1 - multiple_;
        if (out_[at(place)]) present_residual_[at(place)] = 0;
    }
}

/// Bounds of the present flow from those of `start` and what differs at touched places.
LocalFlow::Bounds LocalFlow::measure_present() {
    double along = along_, left_over = left_over_, here_along = 0, here_left_over = 0;
    double reach = multiple_ * reach_, largest_cost = largest_cost_;
    for (const int place : touched_) {
        const auto p = at(place);
        const double before = residual_[p], r = present_residual_[p];
        if (entered_[p]) along -= x_[p] * before;
        if (before != 0) left_over -= cost_[p] * before * before;
        if (out_[p]) continue;
        if (entered_[p]) here_along += potential(place) * r;
        const bool noiseless = entered_[p] && present_diagonal_[p] == 0;
        if (r != 0 && !noiseless) here_left_over += present_cost_[p] * r * r;
        if (!noiseless && r != 0) largest_cost = std::max(largest_cost, present_cost_[p]);
        if (change_[p] != 0)
            reach += 2 * static_cast<double>(noise_.links(near_[p]).size() + 1) *
                     noise_.variance(near_[p]) * std::abs(change_[p]);
    }
    const double square = multiple_ * multiple_;
    left_over =
        std::max(0.0, left_over) + 64 * rounding * static_cast<double>(near_.size()) * left_over_;
    return rounded(potential(0),
                   square * along + here_along,
                   square * left_over + here_left_over,
                   reach,
                   largest_cost);
}

/// Conjugate gradients on the core, and what they leave over there and beside it.
void LocalFlow::change_core(double tolerance, int most_steps) {
    for (const int place : core_) {
        solving_[at(place)] = out_[at(place)] ? 0 : present_residual_[at(place)];
        step_[at(place)] = 0;
    }
    descend(core_, step_, present_diagonal_, present_cost_, tolerance, most_steps);
    for (const int place : core_) {
        const auto p = at(place);
        const double step = std::exchange(step_[p], 0);
        if (step == 0) continue;
        change_[p] += step;
        present_residual_[p] -= present_diagonal_[p] * step;
        const int* end = ends_.data() + ranges_[p].first;
        for (const NoiseLink& link : noise_.links(near_[p])) {
            const int other = *end++;
            if (out_[at(other)]) continue;
            touch(other);
            present_residual_[at(other)] -= link.cross * step;
        }
    }
}

/// Adds the touched places at which much is left over to the core.
void LocalFlow::add_unbalanced(double tolerance) {
    const double enough = 0.1 * tolerance / static_cast<double>(touched_.size());
    const std::size_t count = touched_.size();
    for (std::size_t i = 0; i < count; ++i) {
        const double r = present_residual_[at(touched_[i])];
        if (present_cost_[at(touched_[i])] * r * r > enough) add_to_core(touched_[i]);
    }
}

LocalFlow::Bounds LocalFlow::without(std::span<const int> coalition, const Options& options) {
    take_back();
    if (!(noise_.variance(near_[0]) > 0)) return {infinity, infinity};
    leave_out(coalition);
    present_diagonal_[0] = unknown_variance(near_[0]);
    if (!(present_diagonal_[0] > 0)) return {infinity, infinity};
    add_to_core(0);
    for (const int place : left_out_) add_to_core(place);
    add_unbalanced(options.tolerance * x_[0]);
    Bounds found;
    for (int round = 0; round < options.most_rounds; ++round) {
        change_core(0.2 * options.tolerance * x_[0], options.most_steps);
        found = measure_present();
        if (found.upper - found.lower <= options.tolerance * found.lower ||
            core_.size() == inside_.size())
            break;
        if (round % 2 == 0) add_unbalanced(options.tolerance * found.lower);
    }
    return found;
}

/// The present flow in full.
void LocalFlow::show_present() {
    const std::size_t count = near_.size();
    for (auto* values : {&shown_x_, &shown_residual_, &shown_cost_}) values->resize(count);
    shown_along_ = shown_left_over_ = 0;
    for (std::size_t p = 0; p < count; ++p) {
        shown_x_[p] = potential(static_cast<int>(p));
        shown_residual_[p] = is_touched_[p] ? present_residual_[p] : multiple_ * residual_[p];
        shown_cost_[p] = is_touched_[p] ? present_cost_[p] : cost_[p];
        const double r = shown_residual_[p];
        shown_along_ += shown_x_[p] * r;
        if (r != 0 && !out_[p]) shown_left_over_ += shown_cost_[p] * r * r;
    }
}

/// What goes through every v: what x^T R x loses without v, x_v (R x)_v + sum_i x_i (r'_i - r_i);
/// the change r' - r = own x_i + cross x_v at its neighbours i; and what the residual costs more.
void LocalFlow::measure_through() {
    show_present();
    const std::size_t count = near_.size();
    for (auto* values : {&sent_, &flow_change_, &flow_square_, &lost_}) values->assign(count, 0.0);
    for (const int place : inside_) {
        const auto p = static_cast<std::size_t>(place);
        if (out_[p]) continue;
        const int agent = near_[p];
        const double margin = costs_.length(agent) / shown_cost_[p], length = costs_.length(agent);
        const double robust = costs_.against_all(agent), r = shown_residual_[p];
        const int* end = ends_.data() + ranges_[p].first;
        for (const NoiseLink& link : noise_.links(agent)) {
            const auto e = static_cast<std::size_t>(*end++);
            if (out_[e]) continue;
            const double sent = link.own * shown_x_[p] + link.cross * shown_x_[e];
            lost_[e] += shown_x_[p] * sent;
            if (sent != 0) flow_square_[e] += robust * sent * sent;
            const double taken = link.own * length - std::abs(link.cross) * costs_.length(near_[e]);
            const double cost = cost_of(length, margin - taken - far_rounding * margin);
            if (p == 0)
                sent_[e] = sent;
            else if (r != 0 || sent != 0)
                flow_change_[e] += cost * (r + sent) * (r + sent) - shown_cost_[p] * r * r;
            if (entered_[e]) continue;
            const double got = link.cross * shown_x_[p];  // from v = p
            if (got != 0) {
                flow_square_[p] += shown_cost_[e] * got * got;
                flow_change_[p] += shown_cost_[e] * got * (2 * shown_residual_[e] + got);
            }
        }
    }
    for (std::size_t v = 1; v < count; ++v) lost_[v] -= shown_x_[v] * shown_residual_[v];
}

std::vector<double> LocalFlow::bounds_without_one() {
    measure_through();
    const double at_agent = shown_cost_[0] * shown_residual_[0] * shown_residual_[0];
    const double energy = shown_x_[0] - shown_along_;  // x^T R x
    std::vector<double> bounds(near_.size(), 0.0);
    for (std::size_t v = 1; v < near_.size(); ++v) {
        if (out_[v]) continue;
        const double multiple = 1 / (1 - shown_residual_[0] - sent_[v]);
        const double at_v = shown_cost_[v] * shown_residual_[v] * shown_residual_[v];
        const double left = std::max(shown_left_over_ - at_agent - at_v + flow_change_[v], 0.0);
        const double rest = energy - lost_[v];
        bounds[v] = multiple > 0 ? (1 + far_rounding) * (2 * multiple * shown_x_[0] +
                                                         multiple * multiple * (left - rest))
                                 : infinity;
        if (std::isnan(bounds[v])) bounds[v] = infinity;
    }
    return bounds;
}

double LocalFlow::far_bound(int size, const std::function<bool(int agent)>& far) {
    measure_through();
    double lost = 0, square = 0, left_over = 0;
    bool any = false;
    for (std::size_t v = 0; v < near_.size(); ++v) {
        const double r = shown_residual_[v];
        if (!out_[v] && r != 0) left_over += costs_.against_all(near_[v]) * r * r;
        if (v == 0 || out_[v] || !far(near_[v])) continue;
        any = true;
        lost = std::max(lost, lost_[v]);
        square = std::max(square, flow_square_[v]);
    }
    if (!any) return (1 + far_rounding) * (shown_x_[0] + shown_along_ + shown_left_over_);
    const double left = std::sqrt(left_over) + size * std::sqrt(square);
    const double bound = shown_x_[0] + shown_along_ + size * lost + left * left;
    return std::isfinite(bound) ? (1 + far_rounding) * bound : infinity;
}

std::vector<int> LocalFlow::most_through(const std::function<bool(int agent)>& far) {
    constexpr double share = 0.3;
    constexpr std::size_t few = 300;
    measure_through();
    const auto weight = [&](std::size_t v) {
        const double w =
            lost_[v] + flow_square_[v] + 2 * std::sqrt(shown_left_over_ * flow_square_[v]);
        return std::isfinite(w) ? w : infinity;
    };
    double most = 0;
    for (std::size_t v = 1; v < near_.size(); ++v)
        if (!out_[v] && far(near_[v])) most = std::max(most, weight(v));
    std::vector<int> found;
    for (std::size_t v = 1; v < near_.size() && most > 0; ++v)
        if (!out_[v] && far(near_[v]) &&
            (weight(v) >= share * most || (most == infinity && near_.size() <= few)))
            found.push_back(near_[v]);
    return found;
}

namespace {

/// Searches the coalitions of which all but one are candidates, and bounds all others.
class WorstCoalition {
  public:
    WorstCoalition(const PairwiseNoise& noise,
                   LocalFlow& flow,
                   int agent,
                   int size,
                   const LocalFlow::Options& options)
        : flow_(flow), agent_(agent), size_(std::min(size, noise.agents() - 1)), options_(options) {
        for (const NoiseLink& link : noise.links(agent)) candidates_.push_back(link.other);
    }

    LocalPrecision find() {
        constexpr int most_rounds = 8;
        for (int round = 0; round < most_rounds; ++round) {
            bounded_ = 0;
            worst_ = {};
            open_.clear();
            look(flow_.start(agent_, options_), {}, 0);
            std::ranges::stable_sort(open_, std::greater<>(), &Open::bound);
            for (const Open& next : open_) {
                if (next.bound <= bounded_) break;
                take(flow_.without(next.coalition, options_), next.coalition);
            }
            if (bounded_ <= (1 + 2 * options_.tolerance) * worst_.lower || !add_candidates()) break;
        }
        worst_.upper = bounded_;
        fill();
        return worst_;
    }

  private:
    struct Open {
        double bound = 0;
        std::vector<int> coalition;
    };
    [[nodiscard]] bool far(int agent) const {
        return std::ranges::find(candidates_, agent) == candidates_.end();
    }
    /// The present flow is without `coalition`.
    void take(const LocalFlow::Bounds& bounds, const std::vector<int>& coalition) {
        bounded_ = std::max(bounded_, bounds.upper);
        if (bounds.lower > worst_.lower || worst_.coalition.empty()) {
            worst_.lower = std::max(worst_.lower, bounds.lower);
            worst_.coalition = coalition;
        }
    }
    /// Candidates from `first` on may join the coalition.
    void look(const LocalFlow::Bounds& bounds,
              const std::vector<int>& coalition,
              std::size_t first) {
        take(bounds, coalition);
        const int left = size_ - static_cast<int>(coalition.size());
        if (left == 0 || !std::isfinite(bounds.upper)) return;
        if (left == 1) return add_one(coalition, first);
        bounded_ = std::max(bounded_, flow_.far_bound(left, [&](int agent) { return far(agent); }));
        for (std::size_t c = first; c < candidates_.size(); ++c) {
            std::vector<int> larger = coalition;
            larger.push_back(candidates_[c]);
            look(flow_.without(larger, options_), larger, c + 1);
        }
    }
    /// Whoever is not near knows nothing that counts in the flow's bound.
    void add_one(const std::vector<int>& coalition, std::size_t first) {
        const std::vector<double> bounds = flow_.bounds_without_one();
        for (std::size_t v = 1; v < bounds.size(); ++v) {
            if (!(bounds[v] > bounded_)) continue;
            const int agent = flow_.near()[v];
            const auto place = std::ranges::find(candidates_, agent) - candidates_.begin();
            if (place < static_cast<std::ptrdiff_t>(first)) continue;  // has been looked at
            open_.push_back({bounds[v], coalition});
            open_.back().coalition.push_back(agent);
        }
    }
    /// Those through whom most flows. False if there are none.
    bool add_candidates() {
        if (size_ < 2 || !std::isfinite(flow_.start(agent_, options_).upper)) return false;
        const auto added = flow_.most_through([&](int agent) { return far(agent); });
        candidates_.insert(candidates_.end(), added.begin(), added.end());
        return !added.empty();
    }
    /// Any others, if fewer already learn as much.
    void fill() {
        auto& coalition = worst_.coalition;
        for (int v = 0; std::ssize(coalition) < size_; ++v)
            if (v != agent_ && std::ranges::find(coalition, v) == coalition.end())
                coalition.push_back(v);
        std::ranges::sort(coalition);
    }

    LocalFlow& flow_;
    int agent_, size_;
    const LocalFlow::Options& options_;
    std::vector<int> candidates_;
    std::vector<Open> open_;
    double bounded_ = 0;  // the largest upper bound so far
    LocalPrecision worst_;
};

}  // namespace

LocalPrecision local_precision(const PairwiseNoise& noise,
                               LocalFlow& flow,
                               int agent,
                               int size,
                               const LocalFlow::Options& options) {
    const LocalPrecision found = WorstCoalition(noise, flow, agent, size, options).find();
    if (!(found.lower <= found.upper))
        throw Error(ExitCode::other,
                    fmt::format("bounds on the precision of agent {} contradict each other: {} "
                                "and {}",
                                agent,
                                found.lower,
                                found.upper));
    return found;
}

}  // namespace sotto
