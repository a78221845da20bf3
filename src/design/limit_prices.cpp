#include "design/limit_prices.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace sotto {

using Eigen::Index;
using Eigen::VectorXd;

namespace {

/// Of a price at once, however far a first guess is off.
constexpr double most_change = 10;
/// What a new limit costs, beside one that is left out: little, or the others would swing.
constexpr double beginning = 30;

}  // namespace

LimitPrices::Far::Far(int agents)
    : excess(VectorXd::Zero(agents)), coalition(static_cast<std::size_t>(agents), -1) {}

void LimitPrices::Far::merge(const Far& other) {
    for (Index u = 0; u < excess.size(); ++u) {
        if (!(other.excess(u) > excess(u))) continue;
        excess(u) = other.excess(u);
        coalition[static_cast<std::size_t>(u)] = other.coalition[static_cast<std::size_t>(u)];
    }
}

LimitPrices::LimitPrices(const GroupLayout& layout, VectorXd kappa)
    : layout_(&layout), kappa_(std::move(kappa)) {}

void LimitPrices::add(const std::vector<int>& coalition, double typical) {
    std::vector<int> agents;
    for (const int member : coalition)
        for (const int k : layout_->groups_of(member))
            std::ranges::copy(layout_->groups()[static_cast<std::size_t>(k)].members,
                              std::back_inserter(agents));
    for (int u = 0; u < layout_->agents(); ++u)
        if (coalition.empty() || layout_->groups_of(u).empty()) agents.push_back(u);
    std::ranges::sort(agents);
    agents.erase(std::ranges::unique(agents).begin(), agents.end());
    std::erase_if(agents, [&](int u) { return std::ranges::binary_search(coalition, u); });
    Limits limits;
    for (const int u : agents)
        limits.prices.push_back(typical / (kappa_(u) * static_cast<double>(std::max<std::size_t>(
                                                           1, layout_->groups_of(u).size()))));
    limits.agents = std::move(agents);
    limits_.push_back(std::move(limits));
}

LimitPrices::Priced LimitPrices::follow(std::size_t c,
                                        const VectorXd& excess,
                                        const Step& step,
                                        Far& far) {
    Limits& limits = limits_[c];
    Priced priced;
    std::vector<double> prices;
    std::size_t next = 0;
    for (int u = 0; u < layout_->agents(); ++u) {
        if (next == limits.agents.size() || limits.agents[next] != u) {
            if (!(excess(u) > far.excess(u))) continue;
            far.excess(u) = excess(u);
            far.coalition[static_cast<std::size_t>(u)] = static_cast<int>(c);
            continue;
        }
        double& price = limits.prices[next++];
        price *=
            std::clamp(std::pow(excess(u) / step.mean, step.power), 1 / most_change, most_change);
        if (!(price * kappa_(u) > step.negligible)) continue;
        priced.agents.push_back(u);
        prices.push_back(price);
    }
    priced.prices = Eigen::Map<const VectorXd>(prices.data(), std::ssize(prices));
    return priced;
}

void LimitPrices::settle(const Far& far, const Step& step) {
    for (int u = 0; u < layout_->agents(); ++u) {
        if (!(far.excess(u) > step.mean)) continue;
        Limits& limits =
            limits_[static_cast<std::size_t>(far.coalition[static_cast<std::size_t>(u)])];
        const auto place = std::ranges::lower_bound(limits.agents, u) - limits.agents.begin();
        limits.agents.insert(limits.agents.begin() + place, u);
        limits.prices.insert(limits.prices.begin() + place,
                             beginning * step.negligible / kappa_(u));
    }
}

}  // namespace sotto
