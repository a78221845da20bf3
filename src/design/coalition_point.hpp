#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "core/linear_algebra.hpp"
#include "design/coalition_solver.hpp"
#include "privacy/protection.hpp"

namespace sotto {

/// Multipliers of the constraints of a CoalitionProblem.
struct CoalitionPrices {
    Eigen::MatrixXd limit;  ///< of 1/f >= 1/kappa_u, agents x coalitions; 0 for members
    Eigen::VectorXd cap;    ///< of R_uu <= cap
    Eigen::VectorXd zero;   ///< of phi >= 0, for unknowns of fixed sign
};

/// A strictly feasible point with derived values and multipliers.
struct CoalitionPoint {
    Eigen::VectorXd phi;
    std::vector<Eigen::MatrixXd> precision;  ///< (R^(I))^-1 of every coalition
    /// 1/f - 1/kappa_u, f = [(R^(I))^-1]_uu, agents x coalitions; 1 for members.
    Eigen::MatrixXd slack;
    Eigen::VectorXd room;  ///< cap - R_uu
    CoalitionPrices price;
};

/// The point of phi, without multipliers; nothing unless phi is strictly feasible. Cost: O(n^3) a
/// coalition.
[[nodiscard]] std::optional<CoalitionPoint> feasible_point(const CoalitionProblem& problem,
                                                           Eigen::VectorXd phi);

/// Multipliers with slack times multiplier = `target`.
[[nodiscard]] CoalitionPrices balanced_prices(const CoalitionProblem& problem,
                                              const CoalitionPoint& point,
                                              double target);

/// Mean product of slacks and multipliers.
[[nodiscard]] double complementarity(const CoalitionProblem& problem, const CoalitionPoint& point);

/// max over the included coalitions of [(R^(I))^-1]_uu / kappa_u.
[[nodiscard]] double excess(const CoalitionProblem& problem, const CoalitionPoint& point);

/// (R^(I))^-1 of one coalition. If it shares seeds with few agents S, an InverseChange of R^-1 of
/// rank |I| + |S|. Cost: n |S|^2; n^3 if S is most of the agents.
class UnknownPrecision {
  public:
    /// @param covariance  R.  @param precision  R^-1; both must outlive this.
    UnknownPrecision(const GroupLayout& layout,
                     const Eigen::VectorXd& values,
                     const Eigen::MatrixXd& covariance,
                     const Eigen::MatrixXd& precision,
                     const Coalition& coalition);

    /// False if R^(I) is not positive definite; the other functions must then not be called.
    [[nodiscard]] bool positive() const { return positive_; }
    /// [(R^(I))^-1]_uu, n; 0 for members. Cost: n |S|.
    [[nodiscard]] Eigen::VectorXd diagonal() const;
    /// Columns for agents outside the coalition, n x agents; rows of members are 0. Cost: n |S| a
    /// column.
    [[nodiscard]] Eigen::MatrixXd columns(std::span<const int> agents) const;

  private:
    bool invert(const Eigen::MatrixXd& covariance, const Eigen::MatrixXd& known);
    bool change(const Eigen::MatrixXd& precision, const Eigen::MatrixXd& known);

    const Coalition& coalition_;
    std::vector<int> support_;  // S
    bool positive_ = false;
    Eigen::MatrixXd whole_;  // the inverse itself, or
    std::optional<InverseChange> change_;
};

/// R and R^-1.
struct InvertedCovariance {
    Eigen::MatrixXd covariance, precision;
};

/// R and R^-1 of values; nothing unless R is positive definite. Cost: O(n^3).
[[nodiscard]] std::optional<InvertedCovariance> inverse_of(const GroupLayout& layout,
                                                           const Eigen::VectorXd& values);

/// max_u [(R^(I))^-1]_uu / kappa_u of every coalition; infinite if R^(I) is singular. Cost: an
/// UnknownPrecision each, on all threads.
[[nodiscard]] std::vector<double> excesses(const GroupLayout& layout,
                                           const Eigen::VectorXd& values,
                                           const Eigen::VectorXd& kappa,
                                           const std::vector<Coalition>& coalitions);

/// For every agent, the max over the coalitions of [(R^(I))^-1]_uu / kappa_u. Same cost.
[[nodiscard]] Eigen::VectorXd excess_of_agents(const GroupLayout& layout,
                                               const Eigen::VectorXd& values,
                                               const Eigen::VectorXd& kappa,
                                               const std::vector<Coalition>& coalitions);

/// Calls f(list) for all coalitions of a size, in lists that fit into memory.
template <class Function>
void for_each_part_of_coalitions(int agents, int size, Function&& f) {
    constexpr std::size_t most = 4096;
    std::vector<Coalition> part;
    for_each_coalition(agents, size, [&](const Coalition& coalition) {
        part.push_back(coalition);
        if (part.size() < most) return;
        f(part);
        part.clear();
    });
    if (!part.empty()) f(part);
}

/// The largest of `excesses` over all coalitions of a size. Cost: an UnknownPrecision each.
[[nodiscard]] double largest_excess(const GroupLayout& layout,
                                    const Eigen::VectorXd& values,
                                    const Eigen::VectorXd& kappa,
                                    int coalition_size);

}  // namespace sotto
