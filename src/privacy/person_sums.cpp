#include "privacy/person_sums.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace sotto {

WorstSum worst_sum(const Eigen::VectorXd& figures,
                   const Eigen::VectorXd& allowed,
                   int agents,
                   int power) {
    std::vector<std::pair<double, int>> by_figure;
    for (int u = 0; u < figures.size(); ++u) by_figure.emplace_back(figures(u), u);
    std::ranges::stable_sort(by_figure, std::greater{}, [](const auto& one) { return one.first; });
    std::vector<double> limits(allowed.begin(), allowed.end());
    std::ranges::sort(limits);
    limits.erase(std::ranges::unique(limits).begin(), limits.end());
    WorstSum worst;
    for (const double limit : limits) {
        if (std::isinf(limit)) break;
        // Its smallest limit is that of the agent with the largest figure of those who have it.
        const auto first = std::ranges::find_if(
            by_figure, [&](const auto& one) { return allowed(one.second) == limit; });
        std::vector<int> set{first->second};
        double sum = first->first;
        for (const auto& [figure, u] : by_figure) {
            if (std::cmp_equal(set.size(), agents)) break;
            if (u == first->second || allowed(u) < limit) continue;
            set.push_back(u);
            sum += figure;
        }
        const double share = (power == 2 ? sum * sum : sum) / limit;
        if (share > worst.share || worst.agents.empty()) worst = {std::move(set), share};
    }
    std::ranges::sort(worst.agents);
    return worst;
}

}  // namespace sotto
