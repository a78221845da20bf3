#include "sotto/views/worst_signs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sotto/core/seeded_random.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Where signs tell the same, rounding must not choose: it differs between machines.
constexpr double sign_rounding = 1e-9;

/// Changes signs of `rounds`, one at a time, as long as s^T gram s grows.
double ascend(const MatrixXd& gram, const std::vector<Index>& rounds, VectorXd& signs) {
    VectorXd pull = gram * signs;
    for (bool changed = true; changed;) {
        changed = false;
        for (const Index t : rounds) {
            const double others = pull(t) - gram(t, t) * signs(t);
            const double better = others < 0 ? -1.0 : 1.0;
            if (better == signs(t) || std::abs(others) <= sign_rounding * gram(t, t)) continue;
            pull += (better - signs(t)) * gram.col(t);
            signs(t) = better;
            changed = true;
        }
    }
    return signs.dot(pull);
}

}  // namespace

VectorXd worst_signs(const MatrixXd& gram, const Participation& participation) {
    const Index rounds = gram.rows();
    VectorXd best = VectorXd::Zero(rounds);
    double most = -1;
    constexpr int random_starts = 8;
    for (Index first = 0; first < std::min<Index>(participation.cycle, rounds); ++first) {
        std::vector<Index> mine;
        for (Index t = first; t < rounds; t += participation.cycle) mine.push_back(t);
        SeededRandom random(0, "worst signs", static_cast<std::uint64_t>(first));
        for (int start = 0; start < 2 + random_starts; ++start) {
            VectorXd signs = VectorXd::Zero(rounds);
            for (std::size_t i = 0; i < mine.size(); ++i)
                signs(mine[i]) = start == 0   ? 1
                                 : start == 1 ? (i % 2 == 0 ? 1 : -1)
                                              : (random.below(2) == 0 ? 1 : -1);
            const double value = ascend(gram, mine, signs);
            if (value > most * (1 + sign_rounding)) {
                most = value;
                best = signs;
            }
        }
    }
    return best;
}

}  // namespace sotto
