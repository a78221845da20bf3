#include "sotto/views/view_sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/numbers.hpp"
#include "core/parallel.hpp"
#include "sotto/core/error.hpp"
#include "views/process_checks.hpp"
#include "views/tight_sensitivity.hpp"
#include "views/view_filter.hpp"
#include "views/view_grams.hpp"
#include "views/view_rounds.hpp"

namespace sotto {

SquaredSensitivity SquaredSensitivity::unbounded() {
    return {true, infinity, infinity, infinity, infinity, infinity};
}

SquaredSensitivity SquaredSensitivity::all_messages(double trivial) {
    return {std::isinf(trivial), infinity, infinity, infinity, infinity, trivial};
}

double SquaredSensitivity::certified() const {
    if (infinite) return infinity;
    return std::min({tight_upper, abs_sum, trivial});
}

namespace {

using Eigen::MatrixXd;

constexpr double worth_threads = 1e6;  // operations worth starting threads

/// Whether `all_messages` covers everything the view shows.
bool has_closed_form(const MessageProcess& process, const View& view) {
    const NoisePlan& plan = *process.plan;
    if (plan.aggregation == Aggregation::trusted_mean) return true;
    return view.kind == View::Kind::all_messages && plan.same_message_to_all() &&
           std::ranges::none_of(process.phases, [&](const Phase& phase) {
               return !phase.departed.empty() && lacks_noise(process.plan_of(phase), phase);
           });
}

/// Shared work of one view for any number of targets.
class ViewAccount {
  public:
    ViewAccount(const MessageProcess& process, const View& view, const Participation& participation)
        : participation_(participation), where_(process_rounds(process)) {
        if (process.plan->same_message_to_all()) all_.emplace(process, where_, view, participation);
        if (!has_closed_form(process, view))
            partial_.emplace(make_temporal_model(process, where_, view));
    }
    ViewAccount(const ViewAccount&) = delete;
    ViewAccount& operator=(const ViewAccount&) = delete;

    /// The figure of all messages, infinite if it is no bound.
    [[nodiscard]] double trivial(int target) const {
        return all_ ? all_->squared_sensitivity(target) : infinity;
    }

    /// Nothing if it does not apply or is slower.
    [[nodiscard]] std::optional<std::vector<TargetGram>> try_whole_run(
        std::span<const int> targets) const {
        return partial_ ? partial_->try_whole_run(targets) : std::nullopt;
    }
    void prepare(std::size_t targets) {
        if (partial_) partial_->prepare(targets);
    }
    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const {
        if (partial_) return partial_->grams(targets);
        std::vector<TargetGram> result;
        for (const int target : targets) result.push_back(all_->gram(target));
        return result;
    }

    [[nodiscard]] SquaredSensitivity sensitivity(const TargetGram& target,
                                                 int agent,
                                                 double gap) const {
        if (target.infinite) return SquaredSensitivity::unbounded();
        const double bound = trivial(agent);
        SquaredSensitivity result =
            bounded_gram_sensitivity(target.gram, where_.training, participation_, gap, bound);
        result.trivial = bound;
        return result;
    }

    /// Rough number of operations of the responses and the Gram matrices.
    [[nodiscard]] double work(std::size_t targets) const {
        const double state = partial_ ? std::max(partial_->state_size(), 1.0) : 1.0;
        return static_cast<double>(targets) * rounds() * rounds() * (100 + state);
    }
    /// Number of targets to follow at once.
    [[nodiscard]] std::size_t block_size() const {
        const double bytes =
            bytes_of_a_gram(rounds()) + (partial_ ? partial_->bytes_of_a_target() : 0.0);
        return static_cast<std::size_t>(std::max(1.0, memory_of_grams / bytes));
    }
    [[nodiscard]] bool shares_threads() const { return partial_ && partial_->shares_threads(); }

  private:
    [[nodiscard]] double rounds() const { return static_cast<double>(where_.phase.size()); }

    Participation participation_;
    ProcessRounds where_;
    std::optional<AllMessages> all_;
    std::optional<ViewGrams> partial_;
};

/// Indices of the targets that are not members.
std::vector<std::size_t> outsiders(const View& view, std::span<const int> targets) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < targets.size(); ++i)
        if (!view.has_member(targets[i])) places.push_back(i);
    return places;
}

void require_exact_figures(const MessageProcess& process, const View& view) {
    if (has_exact_figures(process, view)) return;
    throw PrivacyError(fmt::format(
        "view: what a partial view shows is not known exactly with {} (allowed: {}, or views of "
        "all messages, which bound it)",
        process.correction != Correction::none
            ? fmt::format("correction {}", name_of(process.correction))
        : process.momentum != 0     ? fmt::format("momentum {}", process.momentum)
        : process.final_gossip != 0 ? fmt::format("final-gossip {}", process.final_gossip)
                                    : std::string("gossip optimal"),
        process.correction != Correction::none               ? "none"
        : process.momentum != 0 || process.final_gossip != 0 ? "0"
                                                             : "plain, chebyshev"));
}

}  // namespace

bool has_exact_figures(const MessageProcess& process, const View& view) {
    return view.kind == View::Kind::all_messages ||
           process.plan->aggregation == Aggregation::trusted_mean ||
           (process.correction == Correction::none && process.momentum == 0 &&
            process.final_gossip == 0 && !process.gossip.combines());
}

std::vector<SquaredSensitivity> view_sensitivity(const MessageProcess& process,
                                                 const View& view,
                                                 std::span<const int> targets,
                                                 const Participation& participation,
                                                 const ViewOptions& options) {
    check_process(process);
    check_view(process, view, targets);
    require_exact_figures(process, view);
    if (participation.cycle < 1)
        throw ConfigError(fmt::format(
            "participation: a cycle of {} rounds is not allowed (1 or more)", participation.cycle));
    std::vector<SquaredSensitivity> result(targets.size(), SquaredSensitivity::unbounded());
    const std::vector<std::size_t> open = outsiders(view, targets);
    if (open.empty()) return result;
    std::vector<int> wanted;
    for (const std::size_t i : open) wanted.push_back(targets[i]);
    ViewAccount account(process, view, participation);
    const auto whole = account.try_whole_run(wanted);
    if (!whole) account.prepare(wanted.size());
    const auto threads = static_cast<std::size_t>(
        account.work(open.size()) < worth_threads ? 1 : std::max(options.threads, 1));
    // Blocks of targets run side by side, or one after the other if each uses all threads.
    const std::size_t together = account.shares_threads() ? 1 : threads;
    const std::size_t block = std::max<std::size_t>(
        1, std::min(account.block_size() / together, (open.size() + together - 1) / together));
    const std::size_t blocks = (open.size() + block - 1) / block;
    parallel_for(static_cast<long>(blocks), static_cast<int>(together), [&](long b) {
        std::vector<std::size_t> mine;  // indices in `open`
        std::vector<int> agents;
        for (std::size_t i = static_cast<std::size_t>(b); i < open.size(); i += blocks) {
            mine.push_back(i);
            agents.push_back(wanted[i]);
        }
        const auto grams = whole ? std::vector<TargetGram>{} : account.grams(agents);
        parallel_for(std::ssize(mine), static_cast<int>(threads), [&](long place) {
            const auto i = static_cast<std::size_t>(place);
            result[open[mine[i]]] = account.sensitivity(
                whole ? (*whole)[mine[i]] : grams[i], agents[i], options.tight_gap);
        });
    });
    return result;
}

std::optional<MatrixXd> view_gram(const MessageProcess& process, const View& view, int target) {
    const std::vector<int> targets{target};
    check_process(process);
    check_view(process, view, targets);
    require_exact_figures(process, view);
    if (view.has_member(target)) return std::nullopt;
    ViewAccount account(process, view, {});
    std::optional<std::vector<TargetGram>> whole = account.try_whole_run(targets);
    if (!whole) account.prepare(1);
    std::vector<TargetGram> grams = whole ? std::move(*whole) : account.grams(targets);
    if (grams.front().infinite) return std::nullopt;
    return std::move(grams.front().gram);
}

std::vector<SquaredSensitivity> matrix_sensitivity(const Eigen::MatrixXd& a,
                                                   const Eigen::MatrixXd& b,
                                                   int agents,
                                                   std::span<const int> targets,
                                                   const Participation& participation,
                                                   double tight_gap) {
    if (a.rows() != b.rows())
        throw ConfigError(fmt::format(
            "A and B: {} and {} rows; both need one row per observed value", a.rows(), b.rows()));
    if (agents < 1 || a.cols() == 0 || a.cols() % agents != 0)
        throw ConfigError(fmt::format(
            "A: {} columns are not allowed with {} agents (one column per round and agent)",
            a.cols(),
            agents));
    if (!a.allFinite()) throw DataError("A: a value is not finite");
    if (!b.allFinite()) throw DataError("B: a value is not finite");
    const Eigen::MatrixXd covariance = b * b.transpose();
    const Whitening whitening =
        whiten(covariance, a.rows() > 0 ? 1e-15 * covariance.diagonal().maxCoeff() : 0.0);
    const Eigen::Index rounds = a.cols() / agents;
    std::vector<SquaredSensitivity> result;
    for (const int target : targets) {
        if (target < 0 || target >= agents)
            throw ConfigError(fmt::format(
                "target: agent {} does not exist (allowed: 0 to {})", target, agents - 1));
        const Eigen::MatrixXd columns = a(Eigen::all, Eigen::seqN(target, rounds, agents));
        if (whitening.shows_without_noise(columns)) {
            result.push_back(SquaredSensitivity::unbounded());
            continue;
        }
        const Eigen::MatrixXd white = whitening.rows * columns;
        result.push_back(gram_sensitivity(white.transpose() * white, participation, tight_gap));
    }
    return result;
}

}  // namespace sotto
