#include "commands/audit/attack_reconstruction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "commands/audit/attack_run.hpp"
#include "commands/audit/contribution_estimate.hpp"
#include "run/run_directory.hpp"
#include "run/task_values.hpp"
#include "sotto/core/bytes.hpp"
#include "sotto/core/files.hpp"
#include "sotto/learn/canary.hpp"

namespace sotto {

namespace {

using Clock = std::chrono::steady_clock;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Divisors and rounds; no values yet.
Rows public_part(const AuditConfig& config, const AccountSubject& subject) {
    const PlanConfig& plan = config.train.plan;
    Rows rows;
    rows.divisors = VectorXd::Ones(static_cast<Index>(subject.exposures.size()));
    if (plan.adjacency != Adjacency::agent)
        for (std::size_t u = 0; u < subject.exposures.size(); ++u)
            rows.divisors(static_cast<Index>(u)) =
                static_cast<double>(subject.exposures[u].batch_size);
    rows.rounds = VectorXd::Zero(plan.rounds);
    for (Index t = 0; t < rows.rounds.size(); t += plan.participation.cycle) rows.rounds(t) = 1;
    return rows;
}

/// The first record of every agent of this process, scaled down to the clip where it is longer.
/// COLLECTIVE.
MatrixXd read_rows(const AuditConfig& config, bool l1, Network& network, Index& image_rows) {
    const LocalValues data =
        read_local_values(config.train.task, network, Membership::everybody(network.agents()));
    const double clip = config.train.plan.clip_norm;
    MatrixXd rows;
    network.agree([&] {
        for (std::size_t a = 0; a < data.shards.size(); ++a) {
            const Dataset& shard = data.shards[a];
            if (shard.records() == 0)
                throw DataError(fmt::format("{}: no record is left for agent {}",
                                            config.train.task.data,
                                            network.local_agents()[a]));
            if (a == 0) rows.resize(shard.feature_count(), std::ssize(data.shards));
            const Index first = 0;
            MatrixXd row(shard.feature_count(), 1);
            copy_features(shard, {&first, 1}, row);
            const double norm = l1 ? row.lpNorm<1>() : row.norm();
            if (!std::isfinite(norm))
                throw DataError(fmt::format("{}: the first record of agent {} is not finite",
                                            shard.source,
                                            network.local_agents()[a]));
            rows.col(static_cast<Index>(a)) = norm > clip ? MatrixXd(row * (clip / norm)) : row;
        }
        image_rows = data.shards.front().image_rows;
    });
    return rows;
}

/// Agents that contribute their row in the rounds in which it takes part.
LocalTask rows_task(const MatrixXd& own, const Rows& shared, Network& network) {
    LocalTask task;
    for (Index a = 0; a < own.cols(); ++a) {
        Contributions contributions;
        contributions.values = -own.col(a);
        contributions.signs = shared.rounds;
        contributions.one_model = true;
        task.objectives.push_back(make_canary_objective(std::move(contributions)));
    }
    task.initial = VectorXd::Zero(own.rows());
    task.description =
        fmt::format("audit: a mean of {} rows of {} values, which others reconstruct",
                    network.agents(),
                    own.rows());
    task.statements.emplace_back(
        "Audit: every agent contributes minus one row of its data, the same in every round in "
        "which it takes part, whatever messages say. Rows are kept in the run directory.");
    task.fixed_inputs = true;
    task.rows_are_rounds = true;
    return task;
}

/// All agents' rows, on every process. COLLECTIVE.
MatrixXd gather_rows(const MatrixXd& own, Network& network) {
    ByteWriter writer;
    for (const double value : own.reshaped()) writer.put(value);
    const auto parts = network.all_gather(writer.take());
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

/// Grey image (PGM, binary): pairs of pictures, the truth above what it was taken for, nearest
/// agents first.
std::string picture(const ReconstructionResult& result, const Rows& rows) {
    constexpr Index most_columns = 12, most_lines = 4, gap = 2;
    const Index height = rows.image_rows, width = rows.values.cols() / height;
    const Index shown = std::min<Index>(std::ssize(result.targets), most_columns * most_lines);
    const Index columns = std::min(shown, most_columns), lines = (shown + columns - 1) / columns;
    MatrixXd pixels =
        MatrixXd::Constant(lines * (2 * height + 3 * gap), columns * (width + gap) + gap, 128);
    for (Index k = 0; k < shown; ++k) {
        const Index top = k / columns * (2 * height + 3 * gap) + gap;
        const Index left = k % columns * (width + gap) + gap;
        const VectorXd truth =
            rows.values.row(result.targets[static_cast<std::size_t>(k)].target).transpose();
        const double white = truth.maxCoeff() > 0 ? 255 / truth.maxCoeff() : 0;
        const VectorXd estimate = result.estimates.row(k).transpose();
        for (Index i = 0; i < truth.size(); ++i) {
            pixels(top + i / width, left + i % width) = white * truth(i);
            pixels(top + height + gap + i / width, left + i % width) = white * estimate(i);
        }
    }
    std::string image = fmt::format("P5\n{} {}\n255\n", pixels.cols(), pixels.rows());
    for (Index y = 0; y < pixels.rows(); ++y)
        for (Index x = 0; x < pixels.cols(); ++x)
            image += static_cast<char>(
                static_cast<unsigned char>(std::lround(std::clamp(pixels(y, x), 0.0, 255.0))));
    return image;
}

/// The rows of a run that was made before. LOCAL.
MatrixXd recorded_rows(const AuditConfig& config, int agents) {
    const std::filesystem::path file = std::filesystem::path(*config.run) / "rows.npy";
    MatrixXd values = read_npy(file);
    if (values.rows() != agents || values.cols() == 0)
        throw DataError(
            fmt::format("{}: {} rows, there are {} agents", file.string(), values.rows(), agents));
    return values;
}

}  // namespace

long ReconstructionResult::recovered() const {
    return std::ranges::count(targets, true, &ReconstructedRow::recovered);
}

ReconstructionResult analyse_reconstruction(const std::filesystem::path& views,
                                            const MessageProcess& process,
                                            const View& view,
                                            const Rows& rows,
                                            double level,
                                            int threads) {
    ReconstructionResult result;
    result.mechanism = process.plan->mechanism;
    result.agents = process.plan->agents;
    result.rounds = process.rounds();
    result.dimension = rows.values.cols();
    result.level = level;
    result.gaussian = process.plan->distribution() == StreamDistribution::gaussian;

    RecordedMessages recorded(views, view, process, threads);
    if (recorded.dimension() != result.dimension)
        throw DataError(fmt::format("{}: models of {} coordinates are recorded, rows have {}",
                                    views.string(),
                                    recorded.dimension(),
                                    result.dimension));
    MessageProcess seen = process;
    seen.plan = &recorded.knowledge();
    ViewTest test(seen, view, VectorXd::Zero(result.dimension));
    const std::vector<int> outside = test.unknown_agents();
    const auto count = static_cast<Index>(outside.size());
    ContributionEstimator estimator(test.responses(outside, rows.rounds.replicate(1, count)),
                                    result.dimension);
    while (recorded.next()) estimator.add(test.next(recorded.step()));
    const MatrixXd contributions = estimator.estimates();

    const std::vector<int> distances = distances_from_members(view, *process.graph);
    std::vector<Index> order(outside.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<Index>(k);
    const auto distance_of = [&](Index k) {
        return distances[static_cast<std::size_t>(outside[static_cast<std::size_t>(k)])];
    };
    std::ranges::stable_sort(order, {}, distance_of);
    result.estimates.resize(count, result.dimension);
    // Bonferroni: all targets together are wrong with probability 1 - level at most.
    const double risk = (1 - level) / static_cast<double>(count);
    for (const Index k : order) {
        ReconstructedRow& row = result.targets.emplace_back();
        row.target = outside[static_cast<std::size_t>(k)];
        row.distance = distance_of(k);
        // A row enters as minus a part of a contribution.
        const double divisor = rows.divisors(row.target);
        const VectorXd estimate = -divisor * contributions.row(k).transpose();
        const VectorXd truth = rows.values.row(row.target).transpose();
        result.estimates.row(std::ssize(result.targets) - 1) = estimate.transpose();
        const double variance = divisor * divisor * estimator.variances()(k);
        row.identifiable = std::isfinite(variance);
        row.exact = variance == 0;
        row.deviation = std::sqrt(variance);
        const double squared = (estimate - truth).squaredNorm();
        row.error = std::sqrt(squared / static_cast<double>(result.dimension));
        row.relative_error = std::sqrt(squared) / truth.norm();
        row.recovered = row.relative_error <= ReconstructionResult::recovered_within;
        if (!result.gaussian || row.exact || !row.identifiable) continue;
        if (chance_of_smaller_error(row.error * row.error, variance, result.dimension) >= risk)
            continue;
        row.beats_the_bound = true;
        result.findings.push_back(fmt::format(
            "agent {}: the error is {:.4g} a coordinate, no unbiased estimate is better "
            "than {:.4g} by the accountant",
            row.target,
            row.error,
            row.deviation));
    }
    add_leaks(recorded, *process.plan, result.findings);
    result.consistent = result.findings.empty();
    return result;
}

ReconstructionResult run_reconstruction(const AuditConfig& config,
                                        Network& network,
                                        TrainingListener& observer,
                                        const std::function<bool()>& stop_requested) {
    const auto start = Clock::now();
    const auto subject = attacked_subject(config, network);
    MessageProcess process;
    View view;
    Rows rows;
    network.agree([&] {
        view = attacking_view(config, subject->built.topography.graph);
        process = attacked_process(config, *subject);
        require_confidence(config);
        rows = public_part(config, *subject);
    });

    std::string folder;
    if (config.run) {
        folder = *config.run;
        network.agree([&] { rows.values = recorded_rows(config, network.agents()); });
    } else {
        const bool l1 = subject->plan.distribution() == StreamDistribution::laplace;
        const MatrixXd own = read_rows(config, l1, network, rows.image_rows);
        folder = run_recorded(
            of_fixed_inputs(config.train), view, network, observer, stop_requested, [&] {
                return rows_task(own, rows, network);
            });
        rows.values = gather_rows(own, network);
    }
    ReconstructionResult result;
    std::string verdict;
    network.agree([&] {
        if (network.process() != 0) return;
        result = analyse_reconstruction(std::filesystem::path(folder) / "views",
                                        process,
                                        view,
                                        rows,
                                        config.level,
                                        config.train.threads);
        result.view = config.view;
        result.seed = config.train.task.seed;
        result.run_directory = folder;
        result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        verdict = result.consistent ? "consistent" : "inconsistent";
        if (config.run) return;
        const RunDirectory directory = RunDirectory::existing(folder);
        write_npy(directory.path() / "rows.npy", rows.values);
        write_npy(directory.path() / "reconstruction.npy", result.estimates);
        if (rows.image_rows > 0) directory.write("reconstruction.pgm", picture(result, rows));
        directory.write("audit.json", audit_report_json(result));
    });
    if (network.broadcast(verdict) == "inconsistent") result.consistent = false;
    return result;
}

}  // namespace sotto
