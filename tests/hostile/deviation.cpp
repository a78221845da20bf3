#include "hostile/deviation.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "hostile/deviations.hpp"

namespace sotto::test {

const Deviation& deviation_named(const std::string& name) {
    static const std::vector<Deviation> all = [] {
        std::vector<Deviation> list = deviations_in_rounds();
        for (const auto& more : {deviations_on_the_wire(), deviations_in_bootstrap()})
            list.insert(list.end(), more.begin(), more.end());
        return list;
    }();
    for (const Deviation& deviation : all)
        if (deviation.name == name) return deviation;
    throw std::out_of_range("no deviation is called " + name);
}

const Deviation*& own_deviation() {
    static const Deviation* own = nullptr;
    return own;
}

}  // namespace sotto::test
