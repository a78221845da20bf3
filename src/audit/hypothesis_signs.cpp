#include "audit/hypothesis_signs.hpp"

#include <algorithm>

#include "sotto/core/seeded_random.hpp"
#include "sotto/views/view_innovations.hpp"
#include "sotto/views/worst_signs.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rounds of the participation pattern that starts in round `first`.
VectorXd pattern_from(Index rounds, long cycle, Index first) {
    VectorXd signs = VectorXd::Zero(rounds);
    for (Index t = first; t < rounds; t += cycle) signs(t) = 1;
    return signs;
}

VectorXd constant_signs(const std::optional<MatrixXd>& gram, Index rounds, Index cycle) {
    VectorXd best = pattern_from(rounds, cycle, 0);
    if (!gram) return best;
    const auto squared = [&](const VectorXd& signs) { return signs.dot(*gram * signs); };
    for (Index first = 1; first < cycle; ++first) {
        VectorXd other = pattern_from(rounds, cycle, first);
        // Where all tell the same, rounding must not choose: it differs between machines.
        if (squared(other) > squared(best) * (1 + 1e-9)) best = std::move(other);
    }
    return best;
}

VectorXd with_random_signs(VectorXd signs, std::uint64_t seed) {
    SeededRandom random(seed, "audit hypothesis");
    for (double& sign : signs)
        if (sign != 0 && random.below(2) == 0) sign = -1;
    return signs;
}

}  // namespace

std::vector<SignPattern> parse_hypothesis(const std::string& text) {
    if (text == "all") return {SignPattern::constant, SignPattern::random, SignPattern::worst};
    std::vector<std::string> allowed = sign_patterns.names();
    allowed.insert(allowed.begin(), "all");
    if (std::ranges::find(allowed, text) == allowed.end())
        throw unknown_name_error("--hypothesis", text, allowed);
    return {sign_patterns.parse("--hypothesis", text)};
}

VectorXd make_signs(SignPattern pattern,
                    const std::optional<MatrixXd>& gram,
                    Index rounds,
                    const Participation& participation,
                    std::uint64_t seed) {
    if (pattern == SignPattern::worst && gram) return worst_signs(*gram, participation);
    VectorXd signs = constant_signs(gram, rounds, std::min<Index>(participation.cycle, rounds));
    return pattern == SignPattern::constant ? signs : with_random_signs(std::move(signs), seed);
}

}  // namespace sotto
