#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "design/group_layout.hpp"

namespace sotto {

/// Multipliers lambda_Iu >= 0 of the limits [(R^(I))^-1]_uu <= kappa_u. Coalitions that share a
/// seed with u have one from the start. To all others u looks nearly as to an eavesdropper: of
/// those each pass gives one to the coalition that learns most of u, if it learns too much.
/// Memory: linear in pairs, not in coalitions x agents.
class LimitPrices {
  public:
    /// Agents whose limit costs something for a coalition, and their multipliers.
    struct Priced {
        std::vector<int> agents;
        Eigen::VectorXd prices;
    };
    /// For every agent, the coalition without a multiplier that learns most of it.
    struct Far {
        explicit Far(int agents);
        Eigen::VectorXd excess;      ///< [(R^(I))^-1]_uu / kappa_u; 0 where there is none
        std::vector<int> coalition;  ///< by number; -1 where there is none
        void merge(const Far& other);
    };
    /// How prices follow excesses: lambda <- lambda (excess / mean)^power.
    struct Step {
        double power = 1;
        double mean = 1;        ///< excess that leaves prices as they are
        double negligible = 0;  ///< lambda kappa at or below it is left out
    };

    LimitPrices(const GroupLayout& layout, Eigen::VectorXd kappa);

    /// @param typical  a price times kappa to begin with.
    void add(const std::vector<int>& coalition, double typical);

    /// Of coalition `c`: multiplies its prices, tells `far` what it learns, and returns what is
    /// priced. Different coalitions may be asked at once, with a `far` each.
    /// @param excess  n; of members 0.
    [[nodiscard]] Priced follow(std::size_t c,
                                const Eigen::VectorXd& excess,
                                const Step& step,
                                Far& far);
    /// After a pass over all: multipliers for those of `far` that learn more than the mean.
    void settle(const Far& far, const Step& step);

  private:
    /// Agents with a multiplier, ascending, and lambda.
    struct Limits {
        std::vector<int> agents;
        std::vector<double> prices;
    };

    const GroupLayout* layout_;
    Eigen::VectorXd kappa_;
    std::vector<Limits> limits_;  // of every coalition
};

}  // namespace sotto
