#include "audit/contribution_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <vector>

#include "core/bytes.hpp"
#include "core/files.hpp"
#include "core/linear_algebra.hpp"
#include "core/numbers.hpp"
#include "learn/canary.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/views/view_sensitivity.hpp"
#include "tasks/task_data.hpp"
#include "tasks/task_values.hpp"
#include "views/view_grams.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Weaker directions are left out as rounding, which nothing covers without noise.
constexpr double weakest_noiseless = 1e-7;
constexpr double weakest_noisy = 1e-9;
// A smaller response to a contribution of 1 is rounding.
constexpr double rounding = 1e-9;
// A smaller part of an unknown in directions that are hidden or covered by noise counts as none.
constexpr double no_part = 1e-7;

/// Directions of the unknowns that a matrix of responses shows, and those it hides.
struct Directions {
    MatrixXd left;    // rows x shown
    VectorXd values;  // shown
    MatrixXd shown;   // unknowns x shown
    MatrixXd hidden;  // unknowns x the rest
};

Directions directions_of(const MatrixXd& responses, double relative, double least) {
    const Index unknowns = responses.cols();
    if (responses.rows() == 0 || unknowns == 0)
        return {MatrixXd(responses.rows(), 0),
                VectorXd(0),
                MatrixXd(unknowns, 0),
                MatrixXd::Identity(unknowns, unknowns)};
    const Eigen::BDCSVD<MatrixXd> svd(responses, Eigen::ComputeThinU | Eigen::ComputeFullV);
    const VectorXd& values = svd.singularValues();
    const double smallest = std::max(least, relative * values(0));
    const Index rank = (values.array() > smallest).count();
    return {svd.matrixU().leftCols(rank),
            values.head(rank),
            svd.matrixV().leftCols(rank),
            svd.matrixV().rightCols(unknowns - rank)};
}

/// sum += projection^T values, with the matching rows of the projection.
void accumulate(const MatrixXd& projection, const MatrixXd& values, Index& row, MatrixXd& sum) {
    if (row + values.rows() > projection.rows())
        throw ConfigError(fmt::format("contributions: {} innovations more than the {} expected",
                                      row + values.rows() - projection.rows(),
                                      projection.rows()));
    add_product(1, projection.middleRows(row, values.rows()), true, values, false, sum);
    row += values.rows();
}

}  // namespace

ContributionEstimator::ContributionEstimator(ViewInnovations::Innovation responses,
                                             Index coordinates) {
    const Directions exact = directions_of(responses.noiseless, weakest_noiseless, rounding);
    const MatrixXd remaining = product(responses.whitened, false, exact.hidden);
    const Directions covered =
        directions_of(remaining, weakest_noisy, 1e-12 * responses.whitened.norm());

    noiseless_projection_ = exact.left;
    from_noiseless_ = exact.shown * exact.values.cwiseInverse().asDiagonal();
    noisy_projection_ = covered.left;
    from_noisy_ =
        product(exact.hidden, false, covered.shown) * covered.values.cwiseInverse().asDiagonal();
    noisy_from_noiseless_ =
        product(covered.left, true, product(responses.whitened, false, from_noiseless_));
    noiseless_ = MatrixXd::Zero(exact.left.cols(), coordinates);
    noisy_ = MatrixXd::Zero(covered.left.cols(), coordinates);

    const MatrixXd hidden = product(exact.hidden, false, covered.hidden);
    variances_ = from_noisy_.rowwise().squaredNorm();
    for (Index u = 0; u < variances_.size(); ++u) {
        if (hidden.row(u).norm() > no_part)
            variances_(u) = infinity;
        else if (exact.hidden.row(u).norm() <= no_part)
            variances_(u) = 0;
    }
}

void ContributionEstimator::add(const ViewInnovations::Innovation& seen) {
    accumulate(noisy_projection_, seen.whitened, noisy_rows_, noisy_);
    accumulate(noiseless_projection_, seen.noiseless, noiseless_rows_, noiseless_);
}

MatrixXd ContributionEstimator::estimates() const {
    MatrixXd result = product(from_noiseless_, false, noiseless_);
    const MatrixXd rest = noisy_ - product(noisy_from_noiseless_, false, noiseless_);
    add_product(1, from_noisy_, false, rest, false, result);
    return result;
}

double chance_of_smaller_error(double mean_square, double variance, Index errors) {
    require_positive("variance", variance);
    const auto freedom = static_cast<double>(errors);
    return boost::math::cdf(boost::math::chi_squared(freedom), freedom * mean_square / variance);
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A mode fainter than this part of the clearest one is rounding.
constexpr double faintest_mode = 1e-9;

void require_noise(const ViewInnovations::Innovation& responses, int target) {
    if (responses.noiseless.size() > 0 &&
        responses.noiseless.cwiseAbs().maxCoeff() > seen_without_noise)
        throw ConfigError(fmt::format(
            "--view: it sees what agent {} contributes without noise, so epsilon is infinite and "
            "there is nothing to test (allowed: a view that the mechanism withstands)",
            target));
}

/// One mode per round: a round's contribution shows in that round alone.
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

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The first record, of norm at most `clip`.
VectorXd first_row(const Dataset& shard, StreamDistribution noise, double clip, int agent) {
    const Index first = 0;
    MatrixXd row(shard.feature_count(), 1);
    copy_features(shard, {&first, 1}, row);
    const double norm = noise == StreamDistribution::laplace ? row.lpNorm<1>() : row.norm();
    if (!std::isfinite(norm))
        throw DataError(
            fmt::format("{}: the first record of agent {} is not finite", shard.source, agent));
    return norm > clip ? VectorXd(row * (clip / norm)) : VectorXd(row);
}

/// Of the agents of this process, d x agents.
MatrixXd own_rows(const LocalValues& data,
                  const TrainConfig& train,
                  StreamDistribution noise,
                  const Control& network) {
    MatrixXd rows;
    for (std::size_t a = 0; a < data.shards.size(); ++a) {
        const Dataset& shard = data.shards[a];
        const int agent = network.local_agents()[a];
        if (shard.records() == 0)
            throw DataError(
                fmt::format("{}: no record is left for agent {}", train.task.data, agent));
        if (a == 0) rows.resize(shard.feature_count(), std::ssize(data.shards));
        rows.col(static_cast<Index>(a)) = first_row(shard, noise, train.plan.clip_norm, agent);
    }
    return rows;
}

/// All agents' rows, agents x d, on every process. COLLECTIVE.
MatrixXd gather_rows(const MatrixXd& own, Control& network) {
    ByteWriter writer;
    for (const double value : own.reshaped()) writer.put(value);
    const auto parts = network.all_gather(writer.take(),
                                          sizeof(double) * static_cast<std::uint64_t>(own.rows()) *
                                              network.most_agents_of_a_process());
    MatrixXd all(network.agents(), own.rows());
    network.agree([&] {
        Index agent = 0;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            ByteReader reader(parts[p], fmt::format("the rows of rank {}", p));
            for (; !reader.done() && agent < all.rows(); ++agent)
                for (Index i = 0; i < all.cols(); ++i) all(agent, i) = reader.get<double>();
            reader.require_done();
        }
        if (agent != all.rows())
            throw NetworkError(
                fmt::format("rows of {} agents arrived, there are {}", agent, all.rows()));
    });
    return all;
}

}  // namespace

Rows public_rows(const PlanConfig& plan, const AccountSubject& account) {
    Rows rows;
    rows.divisors = VectorXd::Ones(std::ssize(account.exposures));
    if (!protects_agents(plan.adjacency))
        for (std::size_t u = 0; u < account.exposures.size(); ++u)
            rows.divisors(static_cast<Index>(u)) =
                static_cast<double>(account.exposures[u].batch_size);
    rows.rounds = VectorXd::Zero(plan.rounds);
    for (Index t = 0; t < rows.rounds.size(); t += plan.participation.cycle) rows.rounds(t) = 1;
    return rows;
}

Rows read_rows(Rows rows, const TrainConfig& train, StreamDistribution noise, Control& network) {
    const LocalValues data =
        read_local_values(train.task, network, Membership::everybody(network.agents()));
    MatrixXd own;
    network.agree([&] {
        own = own_rows(data, train, noise, network);
        rows.image_rows = data.shards.front().image_rows;
    });
    rows.values = gather_rows(own, network);
    return rows;
}

MatrixXd recorded_rows(const std::filesystem::path& file, int agents) {
    MatrixXd values = read_npy(file);
    if (values.rows() != agents || values.cols() == 0)
        throw DataError(
            fmt::format("{}: {} rows, there are {} agents", file.string(), values.rows(), agents));
    return values;
}

LocalTask make_rows_task(const Rows& rows, const Control& network) {
    LocalTask task;
    for (const int agent : network.local_agents()) {
        Contributions contributions;
        contributions.values = -rows.values.row(agent).transpose();
        contributions.signs = rows.rounds;
        contributions.one_model = true;
        task.objectives.push_back(make_canary_objective(std::move(contributions)));
    }
    task.initial = VectorXd::Zero(rows.values.cols());
    task.description =
        fmt::format("audit: a mean of {} rows of {} values, which others reconstruct",
                    network.agents(),
                    rows.values.cols());
    task.statements.emplace_back(
        "Audit: every agent contributes minus one row of its data, the same in every round in "
        "which it takes part, whatever messages say. Rows are kept in the run directory.");
    task.fixed_inputs = true;
    task.rows_are_rounds = true;
    return task;
}

}  // namespace sotto
