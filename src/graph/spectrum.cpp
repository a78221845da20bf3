#include "graph/spectrum.hpp"

#include <Spectra/GenEigsSolver.h>
#include <Spectra/SymEigsSolver.h>
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <complex>
#include <optional>

#include "core/linear_algebra.hpp"
#include "core/recent.hpp"
#include "core/seeded_random.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/sparse_rows.hpp"

namespace sotto {
namespace {

constexpr int most_dense_agents = 400, most_dense_if_needed = 5000;
constexpr double convergence_tolerance = 1e-10;
constexpr double solver_tolerance = 1e-11;
constexpr double invariance_tolerance = 1e-13;

double second_largest(Eigen::ArrayXd moduli) {
    std::nth_element(moduli.begin(), moduli.begin() + 1, moduli.end(), std::greater<>());
    return moduli[1];
}

double dense_modulus(const MixingMatrix& mixing) {
    if (mixing.symmetric())
        return second_largest(symmetric_eigenvalues(mixing.dense()).array().abs());
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(mixing.dense(), false);
    if (solver.info() != Eigen::Success)
        throw Error(ExitCode::other,
                    fmt::format("eigenvalues of the mixing matrix of {} agents did not converge",
                                mixing.agents()));
    return second_largest(solver.eigenvalues().array().abs());
}

/// W - 11^T/n. Since W 1 = 1, subtracting 1 v^T with v^T 1 = 1 turns one eigenvalue 1 into 0 and
/// keeps the others, also if W is not symmetric. The second eigenvalue becomes the largest.
class DeflatedProduct {
  public:
    using Scalar = double;
    explicit DeflatedProduct(const MixingMatrix& mixing) : sparse_(mixing.sparse()) {}
    [[nodiscard]] Eigen::Index rows() const { return sparse_.rows(); }
    [[nodiscard]] Eigen::Index cols() const { return sparse_.cols(); }
    void perform_op(const double* in, double* out) const {
        const Eigen::Map<const Eigen::VectorXd> x(in, cols());
        Eigen::Map<Eigen::VectorXd> y(out, rows());
        y.noalias() = sparse_ * x;
        y.array() -= x.mean();
    }
    /// |A x - value x| for a vector of length 1.
    [[nodiscard]] double residual(std::complex<double> value, const Eigen::VectorXcd& x) const {
        const Eigen::VectorXd real = x.real();
        const Eigen::VectorXd imaginary = x.imag();
        Eigen::VectorXcd image(rows());
        image.real() = (sparse_ * real).array() - real.mean();
        image.imag() = (sparse_ * imaginary).array() - imaginary.mean();
        return (image - value * x).norm();
    }

  private:
    const SparseRows& sparse_;
};

/// Largest absolute row sum of W - 11^T/n, an upper bound on its eigenvalues.
double deviation_from_average(const MixingMatrix& mixing) {
    const double share = 1.0 / mixing.agents();
    double largest = 0;
    for (int u = 0; u < mixing.agents(); ++u) {
        const auto weights = mixing.weights(u);
        double sum = static_cast<double>(mixing.agents() - std::ssize(weights)) * share;
        for (const double weight : weights) sum += std::abs(weight - share);
        largest = std::max(largest, sum);
    }
    return largest;
}

/// Largest modulus of an eigenvalue of a matrix with few distinct eigenvalues, such as a star's,
/// for which Spectra fails: a few Arnoldi steps from a random vector then span an invariant
/// subspace with every eigenvalue. Nothing if they do not.
std::optional<double> modulus_of_few(const DeflatedProduct& product) {
    constexpr Eigen::Index most_steps = 24;
    const Eigen::Index steps = std::min(most_steps, product.rows());
    SeededRandom random(0, "sotto.graph.spectrum");
    Eigen::MatrixXd basis(product.rows(), steps);
    for (double& value : basis.col(0)) value = random.normal();
    basis.col(0).normalize();
    Eigen::MatrixXd projected = Eigen::MatrixXd::Zero(steps, steps);
    Eigen::VectorXd next(product.rows());
    for (Eigen::Index k = 0; k < steps; ++k) {
        product.perform_op(basis.col(k).data(), next.data());
        const auto so_far = basis.leftCols(k + 1);
        for (int pass = 0; pass < 2; ++pass) {  // the second pass removes rounding
            const Eigen::VectorXd along = so_far.transpose() * next;
            next -= so_far * along;
            projected.col(k).head(k + 1) += along;
        }
        const double left = next.norm();
        if (left <= invariance_tolerance)
            return projected.topLeftCorner(k + 1, k + 1).eigenvalues().cwiseAbs().maxCoeff();
        if (k + 1 == steps) break;
        projected(k + 1, k) = left;
        basis.col(k + 1) = next / left;
    }
    return std::nullopt;
}

/// Largest modulus of an eigenvalue of W - 11^T/n; nothing if the solver fails.
template <class Solver>
std::optional<double> largest_modulus(const MixingMatrix& mixing, int basis, int restarts) {
    DeflatedProduct product(mixing);
    try {
        Solver solver(product, 1, std::min(basis, mixing.agents()));
        solver.init();
        const auto converged =
            solver.compute(Spectra::SortRule::LargestMagn, restarts, solver_tolerance);
        if (converged < 1 || solver.info() != Spectra::CompInfo::Successful) return std::nullopt;
        // When its basis breaks down, Spectra may report garbage as converged: accept only an
        // eigenvalue whose vector proves it.
        const std::complex<double> value = solver.eigenvalues()[0];
        const Eigen::VectorXcd vector = solver.eigenvectors().col(0).normalized();
        if (!(product.residual(value, vector) <= convergence_tolerance)) return std::nullopt;
        return std::abs(value);
    } catch (const std::runtime_error&) {
        return std::nullopt;
    } catch (const std::logic_error&) {
        return std::nullopt;
    }
}

std::optional<double> iterative_modulus(const MixingMatrix& mixing) {
    using Lanczos = Spectra::SymEigsSolver<DeflatedProduct>;
    using Arnoldi = Spectra::GenEigsSolver<DeflatedProduct>;
    if (mixing.agents() < 4) return std::nullopt;
    // Residuals relative to an eigenvalue that is only rounding would never be small enough.
    if (deviation_from_average(mixing) <= convergence_tolerance) return 0.0;
    std::optional<double> modulus = modulus_of_few(DeflatedProduct(mixing));
    // A small spectral gap needs a large basis.
    for (const int basis : {40, 200}) {
        if (modulus) break;
        modulus = mixing.symmetric() ? largest_modulus<Lanczos>(mixing, basis, 12000 / basis)
                                     : largest_modulus<Arnoldi>(mixing, basis, 12000 / basis);
    }
    return modulus;
}

double modulus_by(EigenMethod method, const MixingMatrix& mixing) {
    if (method == EigenMethod::automatic)
        method = mixing.agents() <= most_dense_agents ? EigenMethod::dense : method;
    if (method == EigenMethod::dense) return dense_modulus(mixing);
    const std::optional<double> modulus = iterative_modulus(mixing);
    if (modulus) return *modulus;
    if (method == EigenMethod::automatic)
        return mixing.agents() <= most_dense_if_needed ? dense_modulus(mixing) : 1;
    throw Error(ExitCode::other,
                fmt::format("the iterative eigenvalue of the mixing matrix of {} agents did not "
                            "converge; use the dense method",
                            mixing.agents()));
}

}  // namespace

double second_eigenvalue_modulus(const MixingMatrix& mixing, EigenMethod method) {
    if (mixing.agents() == 1) return 0;
    // Row-stochastic matrices have no eigenvalue above 1 except by rounding.
    const auto find = [&] { return std::min(1.0, modulus_by(method, mixing)); };
    if (method != EigenMethod::automatic || mixing.agents() <= most_dense_agents) return find();
    static Recent<double> recent;
    return recent.get(mixing.hash(), find, [](double) { return sizeof(double); });
}

}  // namespace sotto
