#include "sotto/plan/membership.hpp"

#include <algorithm>
#include <numeric>

namespace sotto {

Membership Membership::everybody(int agents) {
    Membership members{agents, std::vector<int>(static_cast<std::size_t>(agents))};
    std::iota(members.numbers.begin(), members.numbers.end(), 0);
    return members;
}

int Membership::place(int number) const {
    const auto found = std::ranges::lower_bound(numbers, number);
    return found != numbers.end() && *found == number ? static_cast<int>(found - numbers.begin())
                                                      : -1;
}

std::vector<int> Membership::gone() const {
    std::vector<int> result;
    for (int number = 0; number < all; ++number)
        if (place(number) < 0) result.push_back(number);
    return result;
}

std::vector<int> Membership::places(const std::vector<int>& numbers_wanted) const {
    std::vector<int> result;
    for (const int number : numbers_wanted)
        if (const int at = place(number); at >= 0) result.push_back(at);
    return result;
}

NoisePlan renumbered(NoisePlan plan, const Membership& members) {
    plan.agents = members.all;
    for (auto& group : plan.groups)
        for (int& member : group.members) member = members.number(member);
    for (auto& row : plan.rows) {
        row.sender = members.number(row.sender);
        if (row.receiver != NoiseRow::all_receivers) row.receiver = members.number(row.receiver);
    }
    return plan;
}

}  // namespace sotto
