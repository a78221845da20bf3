#include "sotto/views/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "privacy/unknown_noise.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/core/numbers.hpp"
#include "sotto/core/parallel.hpp"
#include "views/process_checks.hpp"
#include "views/process_rounds.hpp"
#include "views/response_tree.hpp"
#include "views/tight_sensitivity.hpp"
#include "views/view_filter.hpp"
#include "views/whole_run.hpp"

namespace sotto {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double worth_threads = 1e6;  // operations below which threads cost more than they bring
constexpr double most_whole_values = 6000;
constexpr double memory_of_tree = 1.5e9;    // bytes
constexpr double memory_in_flight = 512e6;  // bytes, all threads together

/// Everything one view needs, for any number of targets.
class ViewAccount {
  public:
    ViewAccount(const MessageProcess& process, const View& view, const Participation& participation)
        : process_(process),
          view_(view),
          participation_(participation),
          rounds_(process.rounds()),
          where_(process_rounds(process)) {
        const NoisePlan& plan = *process.plan;
        const bool same_to_all = plan.same_message_to_all();
        const bool nothing_missing = std::ranges::none_of(process.phases, [&](const Phase& phase) {
            return !phase.departed.empty() && lacks_noise(plan_of(process, phase), phase);
        });
        closed_form_ = plan.aggregation == Aggregation::trusted_mean ||
                       (view.kind == View::Kind::all_messages && same_to_all && nothing_missing);
        if (same_to_all) set_all_messages();
        if (!closed_form_) set_model();
    }

    /// Where everything is a function of all messages: the largest over participation patterns of
    /// the sum over stretches of [(R^(I))^-1]_uu sum |C_time^T C_time|, rounds without u left out.
    [[nodiscard]] double trivial(int target) const {
        if (!process_.plan->same_message_to_all()) return infinity;
        double largest = 0;
        for (const auto& stretches : time_sums_) {
            double sum = 0;
            for (std::size_t i = 0; i < stretches.size(); ++i) {
                double mine = 0;
                for (const PairSum& pair : stretches[i])
                    if (is_there(pair.first, target) && is_there(pair.second, target))
                        mine += pair.value;
                if (mine > 0) sum += precisions_[i](target) * mine;
            }
            largest = std::max(largest, sum);
        }
        return largest;
    }

    [[nodiscard]] std::vector<TargetGram> grams(std::span<const int> targets) const {
        if (closed_form_) {
            std::vector<TargetGram> result(targets.size());
            for (std::size_t i = 0; i < targets.size(); ++i)
                result[i] = all_messages_gram(targets[i]);
            return result;
        }
        if (inverse_.size() > 0) return dense_temporal_grams(model_, inverse_, targets);
        return tree_ ? tree_->grams(targets) : target_grams(*filter_, targets);
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
            (static_cast<double>(model_.source_factors.front().cols()) + values / 3 + count * t);
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

    /// Noise of one round in units of the target's input: the step size where noise does not scale
    /// with it.
    [[nodiscard]] VectorXd input_scale(const NoiseStretch& stretch) const {
        if (process_.plan->entry != NoiseEntry::message || process_.step_sizes.empty())
            return VectorXd::Ones(stretch.rounds);
        return Eigen::Map<const VectorXd>(process_.step_sizes.data() + stretch.begin,
                                          stretch.rounds);
    }
    /// C_time^T C_time of a stretch.
    [[nodiscard]] MatrixXd time_gram(const NoiseStretch& stretch) const {
        MatrixXd gram = time_factor(stretch);
        if (stretch.plan->temporal.kind != TemporalFactor::Kind::identity)
            gram = MatrixXd(gram.transpose() * gram);
        const VectorXd scale = input_scale(stretch);
        return scale.asDiagonal() * gram * scale.asDiagonal();
    }

    [[nodiscard]] bool is_there(int phase, int agent) const {
        return !has_departed(process_.phases[static_cast<std::size_t>(phase)], agent);
    }

    /// Precisions of every stretch, and sums of |C_time^T C_time| by pairs of phases.
    void set_all_messages() {
        const auto patterns = participation_patterns(where_.training, participation_);
        time_sums_.resize(patterns.size());
        for (const NoiseStretch& stretch : where_.stretches) {
            precisions_.push_back(unknown_precision(*stretch.plan, view_.members));
            const MatrixXd gram = time_gram(stretch);
            for (std::size_t p = 0; p < patterns.size(); ++p) {
                std::map<int, std::vector<Index>> rounds;  // of the stretch, by phase
                for (const Index t : patterns[p])
                    if (t >= stretch.begin && t < stretch.begin + stretch.rounds)
                        rounds[where_.phase[static_cast<std::size_t>(t)]].push_back(t -
                                                                                    stretch.begin);
                auto& sums = time_sums_[p].emplace_back();
                for (const auto& [first, rows] : rounds)
                    for (const auto& [second, columns] : rounds)
                        sums.push_back({first,
                                        second,
                                        std::ssize(rows) == gram.rows()
                                            ? gram.cwiseAbs().sum()
                                            : MatrixXd(gram(rows, columns)).cwiseAbs().sum()});
            }
        }
    }

    /// A block a stretch, without rounds in which the target is not there.
    [[nodiscard]] TargetGram all_messages_gram(int target) const {
        TargetGram result;
        VectorXd there(rounds_);
        for (Index t = 0; t < rounds_; ++t)
            there(t) = is_there(where_.phase[static_cast<std::size_t>(t)], target) ? 1.0 : 0.0;
        result.gram = MatrixXd::Zero(rounds_, rounds_);
        for (std::size_t i = 0; i < where_.stretches.size(); ++i) {
            const NoiseStretch& stretch = where_.stretches[i];
            const auto mine = there.segment(stretch.begin, stretch.rounds);
            if (mine.isZero(0)) continue;
            const double precision = precisions_[i](target);
            if (!std::isfinite(precision)) return {true, {}};
            result.gram.block(stretch.begin, stretch.begin, stretch.rounds, stretch.rounds) =
                precision * mine.asDiagonal() * time_gram(stretch) * mine.asDiagonal();
        }
        return result;
    }

    void set_model() {
        std::vector<LaggedNoise> noises, plain;
        int lags = 0;
        for (const NoiseStretch& stretch : where_.stretches) {
            noises.push_back(lagged_noise(
                stretch.plan->temporal, stretch.rounds, static_cast<int>(stretch.rounds)));
            plain.push_back(lagged_noise({}, stretch.rounds, 0));
            plain.back().independent_rounds = false;
            lags = std::max(lags, noises.back().lags);
        }
        if (lags > 0) {
            ObservationModel model = make_observation_model(process_, view_, plain);
            double state = 0, draws = 0, remembered = 0;
            for (std::size_t i = 0; i < noises.size(); ++i) {
                const auto sources = static_cast<double>(model.source_factors[i].rows());
                draws += sources * static_cast<double>(where_.stretches[i].rounds);
                remembered = std::max(remembered, noises[i].lags * sources);
            }
            for (const auto& step : model.steps)
                state = std::max(state, static_cast<double>(step.transition.rows()));
            const auto values = static_cast<double>(observed_values(model));
            const auto t = static_cast<double>(rounds_);
            const double whole = values * values * (values / 3 + draws);
            state += remembered;
            const double filtered = state * state * (4 * values + 20 * t * process_.gossip_steps);
            if (filtered > whole) {
                model_ = std::move(model);
                inverse_ = MatrixXd::Zero(rounds_, rounds_);
                for (const NoiseStretch& stretch : where_.stretches)
                    inverse_.block(stretch.begin, stretch.begin, stretch.rounds, stretch.rounds) =
                        time_factor(stretch).triangularView<Eigen::Lower>().solve(
                            MatrixXd::Identity(stretch.rounds, stretch.rounds));
                return;
            }
        }
        model_ = make_observation_model(process_, view_, noises);
    }

    /// Sum over the rounds of a pattern in two phases of one stretch.
    struct PairSum {
        int first = 0, second = 0;
        double value = 0;
    };

    const MessageProcess& process_;
    const View& view_;
    Participation participation_;
    long rounds_;
    ProcessRounds where_;
    bool closed_form_ = false;
    std::vector<VectorXd> precisions_;                          // of every stretch
    std::vector<std::vector<std::vector<PairSum>>> time_sums_;  // pattern, stretch
    ObservationModel model_;
    MatrixXd inverse_;
    std::unique_ptr<ViewFilter> filter_;
    std::unique_ptr<ResponseTree> tree_;
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
    ViewAccount account(process, view, participation);
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
                whole ? (*whole)[mine[i]] : grams[i], agents[i], options.tight_gap);
    });
    return result;
}

std::optional<MatrixXd> view_gram(const MessageProcess& process, const View& view, int target) {
    const std::vector<int> targets{target};
    check_process(process);
    check_view(process, view, targets);
    if (std::binary_search(view.members.begin(), view.members.end(), target)) return std::nullopt;
    ViewAccount account(process, view, {});
    std::optional<std::vector<TargetGram>> whole = account.try_whole_run(targets);
    if (!whole) account.prepare(1);
    std::vector<TargetGram> grams = whole ? std::move(*whole) : account.grams(targets);
    if (grams.front().infinite) return std::nullopt;
    return std::move(grams.front().gram);
}

}  // namespace sotto
