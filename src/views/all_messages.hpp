#pragma once

#include <Eigen/Dense>
#include <vector>

#include "sotto/privacy/budget.hpp"
#include "sotto/views/view_record.hpp"
#include "views/view_filter.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

/// Closed form for views of every message, if every receiver gets the same one.
class AllMessages {
  public:
    /// @param process, where must outlive the object.
    AllMessages(const MessageProcess& process,
                const ProcessRounds& where,
                const View& view,
                const Participation& participation);

    /// The largest over participation patterns of the sum over stretches of [(R^(I))^-1]_uu sum
    /// |C_time^T C_time|, without rounds where u is absent.
    [[nodiscard]] double squared_sensitivity(int target) const;

    /// Block diagonal by stretch, without rounds where the target is absent.
    [[nodiscard]] TargetGram gram(int target) const;

  private:
    /// Sum over the rounds of a pattern in two phases of one stretch.
    struct PairSum {
        int first = 0, second = 0;
        double value = 0;
    };
    [[nodiscard]] bool is_there(int phase, int agent) const;
    [[nodiscard]] Eigen::VectorXd input_scale(const NoiseStretch& stretch) const;
    [[nodiscard]] Eigen::MatrixXd time_gram(const NoiseStretch& stretch) const;
    [[nodiscard]] std::vector<PairSum> pair_sums(const NoiseStretch& stretch,
                                                 const Eigen::MatrixXd& gram,
                                                 const std::vector<Eigen::Index>& pattern) const;

    const MessageProcess& process_;
    const ProcessRounds& where_;
    std::vector<Eigen::VectorXd> precisions_;                   // of every stretch
    std::vector<std::vector<std::vector<PairSum>>> time_sums_;  // pattern, stretch
};

}  // namespace sotto
