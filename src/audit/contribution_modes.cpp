#include "audit/contribution_modes.hpp"

#include <fmt/format.h>

#include <vector>

#include "sotto/core/error.hpp"
#include "sotto/core/linear_algebra.hpp"
#include "sotto/views/squared_sensitivity.hpp"
#include "views/dense_matrices.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A mode that tells less than this part of the clearest one tells nothing but rounding.
constexpr double faintest_mode = 1e-9;

void require_noise(const ViewInnovations::Innovation& responses, int target) {
    if (responses.noiseless.size() > 0 &&
        responses.noiseless.cwiseAbs().maxCoeff() > seen_without_noise)
        throw ConfigError(fmt::format(
            "--view: it sees what agent {} contributes without noise, so epsilon is infinite and "
            "there is nothing to test (allowed: a view that the mechanism withstands)",
            target));
}

/// One mode a round: what a contribution of a round makes seen, it makes seen in that round alone.
ContributionModes modes_of_rounds(RecordedInnovations& recorded,
                                  int target,
                                  long rounds,
                                  Index coordinates) {
    const std::vector<int> targets{target};
    const auto expected = recorded.test().responses(targets, MatrixXd::Ones(rounds, 1));
    require_noise(expected, target);
    const long steps = recorded.test().gossip_steps_total() / rounds;
    ContributionModes modes;
    modes.by_round = true;
    modes.values = MatrixXd::Zero(rounds, coordinates);
    VectorXd squared = VectorXd::Zero(rounds);
    Index row = 0;
    for (long step = 0; const auto seen = recorded.next(); ++step) {
        const Index count = seen->whitened.rows(), round = step / steps;
        const VectorXd part = expected.whitened.col(0).segment(row, count);
        modes.values.row(round) += part.transpose() * seen->whitened;
        squared(round) += part.squaredNorm();
        row += count;
    }
    const VectorXd lengths = squared.cwiseSqrt();
    modes.values = lengths.cwiseInverse().asDiagonal() * modes.values;
    modes.response.resize(rounds, rounds);
    for (Index t = 0; t < rounds; ++t) modes.response.insert(t, t) = lengths(t);
    return modes;
}

/// Eigenvectors of the Gram matrix A^T A of the responses A, ascending.
ContributionModes modes_of_gram(RecordedInnovations& recorded,
                                int target,
                                long rounds,
                                Index coordinates) {
    const std::vector<int> targets(static_cast<std::size_t>(rounds), target);
    const auto expected = recorded.test().responses(targets, MatrixXd::Identity(rounds, rounds));
    require_noise(expected, target);
    MatrixXd sum = MatrixXd::Zero(rounds, coordinates);
    Index row = 0;
    while (const auto seen = recorded.next()) {
        const Index count = seen->whitened.rows();
        add_product(1, expected.whitened.middleRows(row, count), true, seen->whitened, false, sum);
        row += count;
    }
    const MatrixXd gram = product(expected.whitened, true, expected.whitened);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(gram);
    const VectorXd& values = eigen.eigenvalues();
    const Index rank = (values.array() > faintest_mode * values(rounds - 1)).count();
    const MatrixXd vectors = eigen.eigenvectors().rightCols(rank);
    const VectorXd lengths = values.tail(rank).cwiseSqrt();
    ContributionModes modes;
    modes.response = MatrixXd(vectors * lengths.asDiagonal()).sparseView();
    modes.values = lengths.cwiseInverse().asDiagonal() * product(vectors, true, sum);
    return modes;
}

}  // namespace

ContributionModes read_contribution_modes(
    RecordedInnovations& recorded, int target, long rounds, Index coordinates, bool by_round) {
    return by_round ? modes_of_rounds(recorded, target, rounds, coordinates)
                    : modes_of_gram(recorded, target, rounds, coordinates);
}

}  // namespace sotto
