#include "sotto/privacy/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "response_tree.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/parallel.hpp"
#include "tight_sensitivity.hpp"
#include "unknown_noise.hpp"
#include "view_filter.hpp"
#include "whole_run.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double worth_threads = 1e6;  // operations below which threads cost more than they bring
constexpr double most_whole_values = 6000;
constexpr double memory_of_tree = 1.5e9;    // bytes
constexpr double memory_in_flight = 512e6;  // bytes, all threads together

std::string name_of(View::Kind kind) {
    switch (kind) {
        case View::Kind::all_messages:
            return "all messages";
        case View::Kind::neighbours:
            return "neighbours";
        case View::Kind::secure_sum:
            return "secure sum";
    }
    return "unknown";
}

void require_agents(const char* what, const std::vector<int>& list, int agents) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i] < 0 || list[i] >= agents)
            throw ConfigError(fmt::format(
                "{}: agent {} does not exist (allowed: 0 to {})", what, list[i], agents - 1));
        if (i > 0 && list[i - 1] >= list[i])
            throw ConfigError(
                fmt::format("{}: agents must be listed once, in ascending order", what));
    }
}

/// No weight between who is there and who is not.
void check_departed(const Phase& phase, const MixingMatrix& mixing) {
    const auto gone = [&](int u) {
        return std::binary_search(phase.departed.begin(), phase.departed.end(), u);
    };
    for (int u = 0; u < mixing.agents(); ++u) {
        const auto members = mixing.members(u);
        const auto weights = mixing.weights(u);
        for (std::size_t j = 0; j < members.size(); ++j)
            if (weights[j] != 0 && members[j] != u && (gone(u) || gone(members[j])))
                throw ConfigError(
                    fmt::format("phases: agent {} has departed, but agent {} weighs its message "
                                "by {} (give it weight 1 on itself only)",
                                gone(members[j]) ? members[j] : u,
                                gone(members[j]) ? u : members[j],
                                weights[j]));
    }
}

void check_process(const MessageProcess& process) {
    if (process.graph == nullptr || process.plan == nullptr)
        throw ConfigError("message process: graph and plan must be given");
    const int agents = process.plan->agents;
    if (process.graph->agents() != agents)
        throw ConfigError(fmt::format(
            "the plan is for {} agents, the graph has {}", agents, process.graph->agents()));
    if (process.phases.empty()) throw ConfigError("phases: at least one is needed");
    if (process.gossip_steps < 1)
        throw ConfigError(
            fmt::format("gossip-steps: {} is not allowed (1 or more)", process.gossip_steps));
    for (const Phase& phase : process.phases) {
        if (phase.rounds < 1)
            throw ConfigError(
                fmt::format("phases: {} rounds are not allowed (1 or more)", phase.rounds));
        if (phase.mixing.agents() != agents)
            throw ConfigError(fmt::format(
                "phases: mixing of {} agents, the plan is for {}", phase.mixing.agents(), agents));
        require_agents("departed", phase.departed, agents);
        if (phase.departed.empty()) continue;
        std::set<const MixingMatrix*> checked;
        for (long round = 0; round < phase.rounds; ++round)
            if (checked.insert(&phase.mixing.at(round)).second)
                check_departed(phase, phase.mixing.at(round));
    }
    const long rounds = process.rounds();
    if (!process.step_sizes.empty() && static_cast<long>(process.step_sizes.size()) != rounds)
        throw ConfigError(fmt::format(
            "step sizes: {} are given, the run has {} rounds", process.step_sizes.size(), rounds));
    for (const double step : process.step_sizes)
        if (!(step > 0 && std::isfinite(step)))
            throw ConfigError(
                fmt::format("step sizes: {} is not allowed (must be finite and above 0)", step));
    for (const auto& stream : process.plan->streams)
        if (stream.distribution != StreamDistribution::gaussian)
            throw PrivacyError("noise plan: no bound is known here for noise that is not Gaussian");
    if (process.plan->aggregation == Aggregation::trusted_mean &&
        !process.plan->same_message_to_all())
        throw PrivacyError(
            "noise plan: no bound is known here for a trusted mean with noise that depends on the "
            "receiver");
    if (process.plan->temporal.kind != TemporalFactor::Kind::identity &&
        process.plan->temporal.lower.rows() < rounds)
        throw PrivacyError(
            fmt::format("the plan's temporal factor covers {} rounds, the run has {}",
                        process.plan->temporal.lower.rows(),
                        rounds));
}

bool never_there(const MessageProcess& process, int agent) {
    return std::all_of(process.phases.begin(), process.phases.end(), [&](const Phase& phase) {
        return std::binary_search(phase.departed.begin(), phase.departed.end(), agent);
    });
}

void check_view(const MessageProcess& process, const View& view, std::span<const int> targets) {
    const int agents = process.plan->agents;
    require_agents("view", view.members, agents);
    if (view.members.empty() && view.kind != View::Kind::all_messages)
        throw ConfigError(fmt::format("view: {} needs at least one member", name_of(view.kind)));
    for (const int a : view.members)
        if (never_there(process, a))
            throw ConfigError(fmt::format("view: agent {} has departed in every phase", a));
    for (const int u : targets) {
        if (u < 0 || u >= agents)
            throw ConfigError(
                fmt::format("target: agent {} does not exist (allowed: 0 to {})", u, agents - 1));
        if (never_there(process, u))
            throw ConfigError(fmt::format("target: agent {} has departed in every phase", u));
    }
}

/// Everything one view needs, for any number of targets.
class ViewAccount {
  public:
    ViewAccount(const MessageProcess& process, const View& view)
        : process_(process), view_(view), rounds_(process.rounds()) {
        const NoisePlan& plan = *process.plan;
        const std::span<const int> members(view.members);
        if (plan.same_message_to_all()) precision_ = unknown_precision(plan, members);
        const bool all_there = std::all_of(process.phases.begin(),
                                           process.phases.end(),
                                           [](const Phase& p) { return p.departed.empty(); });
        closed_form_ =
            plan.aggregation == Aggregation::trusted_mean ||
            (view.kind == View::Kind::all_messages && plan.same_message_to_all() && all_there);
        if (plan.same_message_to_all()) set_time_gram();
        if (!closed_form_) set_model();
    }

    /// sens2(C_time) [(R^(I))^-1]_uu where everything else is a function of all messages.
    [[nodiscard]] double trivial(int target, const Participation& participation) const {
        if (!process_.plan->same_message_to_all()) return infinity;
        const double precision = precision_(target);
        if (!std::isfinite(precision)) return infinity;
        return precision * time_sensitivity(participation).abs_sum;
    }

    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const {
        if (closed_form_) {
            std::vector<TargetGram> result(targets.size());
            for (std::size_t i = 0; i < targets.size(); ++i) {
                const double precision = precision_(targets[i]);
                result[i].infinite = !std::isfinite(precision);
                if (!result[i].infinite)
                    result[i].gram = precision * present(targets[i]).asDiagonal() * time_gram() *
                                     present(targets[i]).asDiagonal();
            }
            return result;
        }
        if (inverse_.size() > 0) return dense_temporal_grams(model_, inverse_, targets);
        return tree_ ? tree_->grams(targets) : target_grams(*filter_, targets);
    }

    [[nodiscard]] SquaredSensitivity sensitivity(const TargetGram& target,
                                                 int agent,
                                                 const Participation& participation,
                                                 double gap) const {
        if (target.infinite) return SquaredSensitivity::unbounded();
        const double bound = trivial(agent, participation);
        SquaredSensitivity result =
            bounded_gram_sensitivity(target.gram, participation, gap, bound);
        result.trivial = bound;
        return result;
    }

    /// Rough number of operations of the responses and the Gram matrices.
    [[nodiscard]] double work(std::size_t targets) const {
        double state = 1;
        for (const auto& step : model_.steps)
            state = std::max(state, static_cast<double>(step.transition.rows()));
        return static_cast<double>(targets) * static_cast<double>(rounds_) *
               static_cast<double>(rounds_) * (100 + state);
    }

    /// How many targets to follow at once.
    [[nodiscard]] std::size_t block_size() const {
        const auto t = static_cast<double>(rounds_);
        double bytes = 8 * 3 * t * t;
        if (tree_) {
            bytes += 8 * 6 * t * model_size().state;
        } else if (filter_) {
            const double starts =
                static_cast<double>(std::min(filter_->steady_round() + 1, rounds_));
            bytes += 8 * starts *
                     (3 * model_size().state +
                      model_size().observed * std::min(t - starts, 4 * starts + 50) * 2);
        }
        return static_cast<std::size_t>(std::max(1.0, memory_in_flight / bytes));
    }

    /// Whitens all observations of the run at once where that is less work than the filter.
    [[nodiscard]] std::optional<std::vector<TargetGram>> try_whole_run(
        std::span<const int> targets) const {
        if (closed_form_ || inverse_.size() > 0) return std::nullopt;
        const auto values = static_cast<double>(observed_values(model_));
        const auto t = static_cast<double>(rounds_);
        const double count = reaching(targets);
        const double whole =
            values * values *
            (static_cast<double>(model_.source_factor.cols()) + values / 3 + count * t);
        // A product with a sparse matrix takes several times as long as a dense one of that size.
        const double responses =
            count * t * std::min(t / 2, 30.0) *
            (8 * model_size().entries + 2 * model_size().state * model_size().observed);
        const double filter =
            t * model_size().state *
            (8 * model_size().entries + 2 * model_size().state * model_size().observed);
        if (whole > filter + responses || values > most_whole_values) return std::nullopt;
        return whole_run_grams(model_, targets);
    }

    /// Makes ready what grams() needs for so many targets.
    void prepare(std::size_t targets) {
        if (closed_form_ || inverse_.size() > 0) return;
        filter_ = std::make_unique<ViewFilter>(model_);
        const auto [state, observed, entries] = model_size();
        const auto t = static_cast<double>(rounds_);
        const auto starts = static_cast<double>(std::min(filter_->steady_round() + 1, rounds_));
        const auto count = static_cast<double>(targets);
        const double followed = count * (starts * t * (8 * entries + 2 * state * observed) +
                                         observed * starts * starts * t);
        const double halved =
            t * state * state * (4 * state + 4 * std::log2(t + 1) * count) + t * t * state * count;
        if (halved < followed && 8 * 4 * t * state * state < memory_of_tree)
            tree_ = std::make_unique<ResponseTree>(*filter_);
    }

  private:
    /// Targets whose input the state, or an observation that depends on it, feels at all.
    [[nodiscard]] double reaching(std::span<const int> targets) const {
        std::vector<bool> felt(static_cast<std::size_t>(process_.plan->agents), false);
        for (const auto& step : model_.steps)
            for (const SparseRows* input : {&step.state_input, &step.observed_input})
                for (Index row = 0; row < input->rows(); ++row)
                    for (SparseRows::InnerIterator it(*input, row); it; ++it)
                        felt[static_cast<std::size_t>(it.col())] = true;
        return static_cast<double>(std::count_if(targets.begin(), targets.end(), [&](int u) {
            return felt[static_cast<std::size_t>(u)];
        }));
    }

    struct Size {
        double state = 0, observed = 0, entries = 0;
    };
    /// Largest of all steps; observed in a round.
    [[nodiscard]] Size model_size() const {
        Size size;
        for (const auto& step : model_.steps) {
            size.state = std::max(size.state, static_cast<double>(step.transition.rows()));
            size.observed = std::max(size.observed,
                                     static_cast<double>(step.observation.rows()) *
                                         static_cast<double>(process_.gossip_steps));
            size.entries = std::max(size.entries,
                                    static_cast<double>(step.transition.nonZeros()) *
                                        static_cast<double>(process_.gossip_steps));
        }
        return size;
    }

    /// C_time^T C_time, weighted by the step sizes where noise does not scale with them.
    void set_time_gram() {
        scale_ = VectorXd::Ones(rounds_);
        if (process_.plan->entry == NoiseEntry::message && !process_.step_sizes.empty())
            scale_ = Eigen::Map<const VectorXd>(process_.step_sizes.data(), rounds_);
    }
    [[nodiscard]] MatrixXd time_gram() const {
        MatrixXd gram = MatrixXd::Identity(rounds_, rounds_);
        if (process_.plan->temporal.kind != TemporalFactor::Kind::identity) {
            const MatrixXd lower = dense_factor(process_.plan->temporal, rounds_);
            gram = lower.transpose() * lower;
        }
        return scale_.asDiagonal() * gram * scale_.asDiagonal();
    }
    [[nodiscard]] const SquaredSensitivity& time_sensitivity(
        const Participation& participation) const {
        if (!time_sensitivity_ || time_cycle_ != participation.cycle) {
            time_sensitivity_ = bounded_gram_sensitivity(time_gram(), participation, 1, infinity);
            time_cycle_ = participation.cycle;
        }
        return *time_sensitivity_;
    }
    /// 1 in rounds in which the agent is there.
    [[nodiscard]] VectorXd present(int agent) const {
        VectorXd result(rounds_);
        Index round = 0;
        for (const Phase& phase : process_.phases) {
            const bool gone =
                std::binary_search(phase.departed.begin(), phase.departed.end(), agent);
            result.segment(round, phase.rounds).setConstant(gone ? 0.0 : 1.0);
            round += phase.rounds;
        }
        return result;
    }

    void set_model() {
        const TemporalFactor& factor = process_.plan->temporal;
        LaggedNoise noise = lagged_noise(factor, rounds_, static_cast<int>(rounds_));
        if (noise.lags > 0) {
            LaggedNoise plain = lagged_noise({}, rounds_, 0);
            plain.independent_rounds = false;
            ObservationModel model = make_observation_model(process_, view_, plain);
            const auto sources = static_cast<double>(model.source_factor.rows());
            double state = 0;
            for (const auto& step : model.steps)
                state = std::max(state, static_cast<double>(step.transition.rows()));
            const auto values = static_cast<double>(observed_values(model));
            const auto t = static_cast<double>(rounds_);
            const double whole = values * values * (values / 3 + sources * t);
            state += noise.lags * sources;
            const double filtered = state * state * (4 * values + 20 * t * process_.gossip_steps);
            if (filtered > whole) {
                model_ = std::move(model);
                inverse_ = dense_factor(factor, rounds_)
                               .triangularView<Eigen::Lower>()
                               .solve(MatrixXd::Identity(rounds_, rounds_));
                return;
            }
        }
        model_ = make_observation_model(process_, view_, noise);
    }

    const MessageProcess& process_;
    const View& view_;
    long rounds_;
    bool closed_form_ = false;
    VectorXd precision_, scale_;
    ObservationModel model_;
    MatrixXd inverse_;
    std::unique_ptr<ViewFilter> filter_;
    std::unique_ptr<ResponseTree> tree_;
    mutable std::optional<SquaredSensitivity> time_sensitivity_;
    mutable long time_cycle_ = 0;
};

}  // namespace

std::vector<double> process_steps(const NoisePlan& plan,
                                  const StepSchedule& steps,
                                  double l2,
                                  long rounds) {
    require_in_range("l2", l2, 0, 1e6);
    if (plan.distribution() == StreamDistribution::laplace) return {};
    if (l2 == 0) {
        if (steps.kind == StepSchedule::Kind::constant && plan.entry == NoiseEntry::gradient)
            return {};
        return steps.over(rounds);
    }
    if (plan.entry != NoiseEntry::gradient)
        throw ConfigError(fmt::format(
            "l2: {} is not possible in a partial view of mechanism {}, whose noise is on messages "
            "(allowed: 0)",
            l2,
            plan.mechanism));
    std::vector<double> result = steps.over(rounds);
    constexpr double least = 1e-6;  // beyond, the filter would lose the older rounds to rounding
    double left = 1;
    for (std::size_t t = 0; t < result.size(); ++t) {
        const double step = result[t];
        if (t > 0) left *= 1 - step * l2;
        if (!(left >= least))
            throw ConfigError(fmt::format(
                "l2: {} with step size {} leaves less than {} of a message by round {}, which "
                "partial views do not account for",
                l2,
                step,
                least,
                t));
        result[t] = step / left;
    }
    const auto [smallest, largest] = std::ranges::minmax(result);
    if (largest - smallest <= 1e-15 * static_cast<double>(rounds + 1) * largest) return {};
    return result;
}

long MessageProcess::rounds() const {
    long sum = 0;
    for (const Phase& phase : phases) sum += phase.rounds;
    return sum;
}

std::vector<SquaredSensitivity> view_sensitivity(const MessageProcess& process,
                                                 const View& view,
                                                 std::span<const int> targets,
                                                 const Participation& participation,
                                                 const ViewOptions& options) {
    check_process(process);
    check_view(process, view, targets);
    if (participation.cycle < 1)
        throw ConfigError(fmt::format(
            "participation: a cycle of {} rounds is not allowed (1 or more)", participation.cycle));
    std::vector<SquaredSensitivity> result(targets.size());
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (std::binary_search(view.members.begin(), view.members.end(), targets[i]))
            result[i] = SquaredSensitivity::unbounded();
        else
            open.push_back(i);
    }
    if (open.empty()) return result;
    std::vector<int> wanted;
    for (const std::size_t i : open) wanted.push_back(targets[i]);
    ViewAccount account(process, view);
    (void)account.trivial(wanted.front(), participation);  // kept, and read by all threads
    const auto whole = account.try_whole_run(wanted);
    if (!whole) account.prepare(wanted.size());
    const auto threads = static_cast<std::size_t>(
        account.work(open.size()) < worth_threads ? 1 : std::max(options.threads, 1));
    const std::size_t block = std::max<std::size_t>(
        1, std::min(account.block_size() / threads, (open.size() + threads - 1) / threads));
    const std::size_t blocks = (open.size() + block - 1) / block;
    parallel_for(static_cast<long>(blocks), static_cast<int>(threads), [&](long b) {
        std::vector<std::size_t> mine;  // places in `open`
        std::vector<int> agents;
        for (std::size_t i = static_cast<std::size_t>(b); i < open.size(); i += blocks) {
            mine.push_back(i);
            agents.push_back(wanted[i]);
        }
        const auto grams = whole ? std::vector<TargetGram>{} : account.grams(agents);
        for (std::size_t i = 0; i < mine.size(); ++i)
            result[open[mine[i]]] = account.sensitivity(
                whole ? (*whole)[mine[i]] : grams[i], agents[i], participation, options.tight_gap);
    });
    return result;
}

std::optional<MatrixXd> view_gram(const MessageProcess& process, const View& view, int target) {
    const std::vector<int> targets{target};
    check_process(process);
    check_view(process, view, targets);
    if (std::binary_search(view.members.begin(), view.members.end(), target)) return std::nullopt;
    ViewAccount account(process, view);
    std::optional<std::vector<TargetGram>> whole = account.try_whole_run(targets);
    if (!whole) account.prepare(1);
    std::vector<TargetGram> grams = whole ? std::move(*whole) : account.grams(targets);
    if (grams.front().infinite) return std::nullopt;
    return std::move(grams.front().gram);
}

}  // namespace sotto
