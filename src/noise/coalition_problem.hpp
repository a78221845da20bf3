#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "sotto/noise/coalition_solver.hpp"

namespace sotto {

/// One term phi * b b^T of R: b = e_u, or e_u - e_v. Squares of such vectors span all symmetric
/// matrices, so a free block is a sum of them whose coefficients may be negative.
struct CoalitionTerm {
    int u = 0;
    int v = -1;      // -1: b = e_u
    int group = -1;  // -1: private noise of u
    int unknown = 0;
};

/// The convex problem of solve_coalition_covariance over the coalitions added so far, and one
/// primal-dual Newton step towards its solution. The unknowns phi are the coefficients of the
/// terms of R. Refers to what it is made from, which must outlive it.
class CoalitionProblem {
  public:
    using Coalition = std::vector<int>;

    CoalitionProblem(const Eigen::MatrixXd& utility,
                     const Eigen::VectorXd& kappa,
                     std::span<const SeedGroup> groups,
                     GroupNoise shape,
                     const CoalitionOptions& options);

    [[nodiscard]] int unknowns() const { return unknowns_; }
    [[nodiscard]] const Eigen::VectorXd& cost() const { return cost_; }
    [[nodiscard]] const std::vector<Coalition>& coalitions() const { return coalitions_; }
    void add(Coalition coalition) { coalitions_.push_back(std::move(coalition)); }
    /// Strictly feasible for every coalition, unless common noise needs more than a cap allows.
    [[nodiscard]] Eigen::VectorXd start() const;

    [[nodiscard]] Eigen::VectorXd variances(const Eigen::VectorXd& phi) const;

    [[nodiscard]] Eigen::MatrixXd group_matrix(const Eigen::VectorXd& phi, std::size_t group) const;

    /// max_u [(R^(I))^-1]_uu / kappa_u; infinite if R^(I) is singular.
    [[nodiscard]] double excess(const Eigen::VectorXd& phi, const Coalition& coalition) const;

    /// A feasible point with what follows from it, and the multipliers.
    struct Point {
        Eigen::VectorXd phi;
        std::vector<Eigen::MatrixXd> precision;  // (R^(I))^-1 of every coalition
        Eigen::MatrixXd slack;  // 1/f - 1/kappa_u, agents x coalitions; 1 for members
        Eigen::VectorXd room;   // cap - R_uu
        Eigen::MatrixXd price;  // of the constraints; 0 for members
        Eigen::VectorXd cap_price;
        Eigen::VectorXd zero_price;  // of phi >= 0
    };

    /// Fills in what follows from phi. False if phi is not strictly feasible.
    [[nodiscard]] bool complete(Point& point) const;

    /// Multipliers at which every product with its slack is `target`.
    void balance(Point& point, double target) const;

    /// Mean product of slacks and multipliers.
    [[nodiscard]] double complementarity(const Point& point) const;

    /// One primal-dual Newton step towards products of `target`. @return the share of the full step
    /// that was taken; 0 if none was possible.
    [[nodiscard]] double step(Point& point, double target) const;

    /// Certified lower bound from the multipliers.
    [[nodiscard]] double lower_bound(const Point& point) const;

    /// max over the coalitions so far of [(R^(I))^-1]_uu / kappa_u.
    [[nodiscard]] double excess(const Point& point) const;

  private:
    /// Threads that wait for each other cost more than small problems take.
    [[nodiscard]] int threads() const;

    static bool meets(const SeedGroup& group, const Coalition& coalition);
    [[nodiscard]] std::vector<char> unknown_groups(const Coalition& coalition) const;
    static bool is_unknown(const CoalitionTerm& term,
                           const Coalition& coalition,
                           const std::vector<char>& unknown);

    /// (R^(I))^-1, rows and columns of the coalition zero. False if it is not positive definite.
    [[nodiscard]] bool unknown_precision(const Eigen::VectorXd& phi,
                                         const Coalition& coalition,
                                         Eigen::MatrixXd& inverse) const;

    /// Slopes of the slacks S_u = 1/f, f = [Y]_uu, Y = (R^(I))^-1: (b^T Y e_u)^2 / f^2; and to the
    /// Hessian, 2 (b^T Q c)(b^T Y c) with Q = Y diag(price / f^2) Y. In this form the constraint
    /// S_u >= 1/kappa_u is concave and homogeneous of degree 1, nearly linear.
    void add_coalition(const Point& point,
                       Eigen::Index index,
                       Eigen::MatrixXd& hessian,
                       Eigen::MatrixXd& slopes,
                       Eigen::Index first_row) const;

    /// Smallest a with slope <= a priced, for private noise and on the block of every group.
    [[nodiscard]] double largest_slope(const Eigen::MatrixXd& priced,
                                       const Eigen::VectorXd& private_slope,
                                       const std::vector<Eigen::MatrixXd>& slope) const;

    [[nodiscard]] bool blocks_positive(const Eigen::VectorXd& phi) const;

    /// -target log det of every free block.
    void add_block_barrier(const Eigen::VectorXd& phi,
                           double target,
                           Eigen::VectorXd& gradient,
                           Eigen::MatrixXd& hessian) const;

    [[nodiscard]] Eigen::MatrixXd group_inverse(const Eigen::VectorXd& phi,
                                                std::size_t group) const;

    const Eigen::MatrixXd& utility_;
    const Eigen::VectorXd& kappa_;
    std::span<const SeedGroup> groups_;
    GroupNoise shape_;
    bool common_;
    int agents_;
    Eigen::VectorXd cap_;
    double louder_at_start_;  // private noise, relative to what an agent alone needs
    std::vector<CoalitionTerm> terms_;
    std::vector<std::size_t> first_term_;  // of every group, and the end
    int unknowns_ = 0;
    Eigen::Index nonnegative_ = 0;  // unknowns before this must be > 0; the others make free blocks
    Eigen::VectorXd cost_;
    std::vector<Coalition> coalitions_;
};

}  // namespace sotto
