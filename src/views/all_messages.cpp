#include "views/all_messages.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "privacy/dropouts.hpp"
#include "views/tight_sensitivity.hpp"

namespace sotto {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

AllMessages::AllMessages(const MessageProcess& process,
                         const ProcessRounds& where,
                         const View& view,
                         const Participation& participation)
    : process_(process), where_(where) {
    const auto patterns = participation_patterns(where.training, participation);
    time_sums_.resize(patterns.size());
    for (const NoiseStretch& stretch : where.stretches) {
        precisions_.push_back(unknown_precision(*stretch.plan, view.members));
        const MatrixXd gram = time_gram(stretch);
        for (std::size_t p = 0; p < patterns.size(); ++p)
            time_sums_[p].push_back(pair_sums(stretch, gram, patterns[p]));
    }
}

double AllMessages::squared_sensitivity(int target) const {
    double largest = 0;
    for (const auto& stretches : time_sums_) {
        double sum = 0;
        for (std::size_t i = 0; i < stretches.size(); ++i) {
            double mine = 0;
            for (const PairSum& pair : stretches[i])
                if (is_there(pair.first, target) && is_there(pair.second, target))
                    mine += pair.value;
            if (mine > 0) sum += precisions_[i](target) * mine;
        }
        largest = std::max(largest, sum);
    }
    return largest;
}

TargetGram AllMessages::gram(int target) const {
    const auto rounds = static_cast<Index>(where_.phase.size());
    TargetGram result;
    VectorXd there(rounds);
    for (Index t = 0; t < rounds; ++t)
        there(t) = is_there(where_.phase[static_cast<std::size_t>(t)], target) ? 1.0 : 0.0;
    result.gram = MatrixXd::Zero(rounds, rounds);
    for (std::size_t i = 0; i < where_.stretches.size(); ++i) {
        const NoiseStretch& stretch = where_.stretches[i];
        const auto mine = there.segment(stretch.begin, stretch.rounds);
        if (mine.isZero(0)) continue;
        const double precision = precisions_[i](target);
        if (!std::isfinite(precision)) return {true, {}};
        result.gram.block(stretch.begin, stretch.begin, stretch.rounds, stretch.rounds) =
            precision * mine.asDiagonal() * time_gram(stretch) * mine.asDiagonal();
    }
    return result;
}

bool AllMessages::is_there(int phase, int agent) const {
    return !process_.phases[static_cast<std::size_t>(phase)].has_departed(agent);
}

/// One round's noise in units of the target's input: the step size if noise does not scale with it.
VectorXd AllMessages::input_scale(const NoiseStretch& stretch) const {
    if (process_.plan->entry != NoiseEntry::message || process_.step_sizes.empty())
        return VectorXd::Ones(stretch.rounds);
    return Eigen::Map<const VectorXd>(process_.step_sizes.data() + stretch.begin, stretch.rounds);
}

/// C_time^T C_time of a stretch.
MatrixXd AllMessages::time_gram(const NoiseStretch& stretch) const {
    MatrixXd gram = time_factor(stretch);
    if (stretch.plan->temporal.kind != TemporalFactor::Kind::identity)
        gram = MatrixXd(gram.transpose() * gram);
    const VectorXd scale = input_scale(stretch);
    return scale.asDiagonal() * gram * scale.asDiagonal();
}

/// Sums of |C_time^T C_time| over the rounds of a pattern, by pairs of phases.
std::vector<AllMessages::PairSum> AllMessages::pair_sums(const NoiseStretch& stretch,
                                                         const MatrixXd& gram,
                                                         const std::vector<Index>& pattern) const {
    std::map<int, std::vector<Index>> rounds;  // of the stretch, by phase
    for (const Index t : pattern)
        if (t >= stretch.begin && t < stretch.begin + stretch.rounds)
            rounds[where_.phase[static_cast<std::size_t>(t)]].push_back(t - stretch.begin);
    std::vector<PairSum> sums;
    for (const auto& [first, rows] : rounds)
        for (const auto& [second, columns] : rounds)
            sums.push_back({first,
                            second,
                            std::ssize(rows) == gram.rows()
                                ? gram.cwiseAbs().sum()
                                : MatrixXd(gram(rows, columns)).cwiseAbs().sum()});
    return sums;
}

}  // namespace sotto
