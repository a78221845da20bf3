#include "views/bounded_gram_sensitivity.hpp"

#include <algorithm>
#include <vector>

#include "sotto/core/numbers.hpp"
#include "views/participation_patterns.hpp"
#include "views/tight_sensitivity.hpp"

namespace sotto {

namespace {

using Eigen::MatrixXd;

constexpr double nothing_negative = 1e-13;  // of the sum of absolute values

}  // namespace

SquaredSensitivity bounded_gram_sensitivity(const MatrixXd& gram,
                                            std::span<const long> training_rounds,
                                            const Participation& participation,
                                            double tight_gap,
                                            double known_upper) {
    SquaredSensitivity result;
    result.trivial = infinity;
    struct Pattern {
        MatrixXd gram;
        double sum, abs_sum;
    };
    std::vector<Pattern> patterns;
    for (const auto& chosen : participation_patterns(training_rounds, participation)) {
        Pattern pattern{
            std::ssize(chosen) == gram.rows() ? gram : MatrixXd(gram(chosen, chosen)), 0, 0};
        pattern.sum = pattern.gram.sum();
        pattern.abs_sum = pattern.gram.cwiseAbs().sum();
        result.constant_sign = std::max(result.constant_sign, pattern.sum);
        result.abs_sum = std::max(result.abs_sum, pattern.abs_sum);
        patterns.push_back(std::move(pattern));
    }
    // Patterns that cannot exceed what another one attains need no search.
    std::sort(patterns.begin(), patterns.end(), [](const Pattern& a, const Pattern& b) {
        return a.abs_sum > b.abs_sum;
    });
    for (const Pattern& pattern : patterns) {
        const double most = std::min(known_upper, pattern.abs_sum);
        if (most <= result.tight_lower) continue;
        TightBounds bounds{pattern.sum, most};
        if (pattern.abs_sum - pattern.sum > nothing_negative * pattern.abs_sum)
            bounds = tight_bounds(pattern.gram, tight_gap, most);
        result.tight_lower = std::max(result.tight_lower, bounds.lower);
        result.tight_upper = std::max(result.tight_upper, bounds.upper);
    }
    return result;
}

}  // namespace sotto
