#include "sotto/views/gram_sensitivity.hpp"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/numbers.hpp"
#include "views/bounded_gram_sensitivity.hpp"

namespace sotto {

SquaredSensitivity gram_sensitivity(const Eigen::MatrixXd& gram,
                                    const Participation& participation,
                                    double tight_gap,
                                    std::span<const long> training_rounds) {
    if (gram.rows() != gram.cols())
        throw ConfigError(fmt::format(
            "Gram matrix: {} x {} is not allowed (must be square)", gram.rows(), gram.cols()));
    if (participation.cycle < 1)
        throw ConfigError(fmt::format(
            "participation: a cycle of {} rounds is not allowed (1 or more)", participation.cycle));
    if (!gram.allFinite()) throw DataError("Gram matrix: a value is not finite");
    std::vector<long> numbers(training_rounds.begin(), training_rounds.end());
    if (numbers.empty()) {
        numbers.resize(static_cast<std::size_t>(gram.rows()));
        std::iota(numbers.begin(), numbers.end(), 0);
    }
    if (std::ssize(numbers) != gram.rows())
        throw ConfigError(fmt::format("Gram matrix: {} training rounds are given, it has {} rows",
                                      numbers.size(),
                                      gram.rows()));
    for (const long round : numbers)
        if (round < 0)
            throw ConfigError(
                fmt::format("Gram matrix: training round {} is not allowed (0 or more)", round));
    return bounded_gram_sensitivity(gram, numbers, participation, tight_gap, infinity);
}

}  // namespace sotto
