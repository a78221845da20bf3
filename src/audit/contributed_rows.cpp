#include "audit/contributed_rows.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sotto/core/bytes.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/learn/canary.hpp"
#include "tasks/task_data.hpp"
#include "tasks/task_values.hpp"

namespace sotto {

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
                  const Network& network) {
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
MatrixXd gather_rows(const MatrixXd& own, Network& network) {
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

Rows read_rows(Rows rows, const TrainConfig& train, StreamDistribution noise, Network& network) {
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

LocalTask make_rows_task(const Rows& rows, const Network& network) {
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
