#include "commands/report/report_account.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "account/account_subject.hpp"
#include "account/ledger_views.hpp"
#include "commands/report/report_job.hpp"
#include "core/parallel.hpp"
#include "plan/lagged_noise.hpp"
#include "planning/build_topography.hpp"
#include "planning/configured_gossip.hpp"
#include "privacy/large_plans.hpp"
#include "privacy/protection.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/ledger.hpp"
#include "sotto/views/view_losses.hpp"
#include "sotto/views/view_record.hpp"
#include "tasks/task.hpp"

namespace sotto {

ObserverFigures blank_figures(const RecordedRun& run, View::Kind kind, int smallest) {
    ObserverFigures figures;
    figures.kind = kind;
    figures.agents = run.built.topography.graph.agents();
    figures.smallest = smallest;
    figures.argument =
        argument_of({kind, {}},
                    has_fixed_inputs(run.config.task) ? Inputs::fixed : Inputs::adaptive,
                    accounted_by_all_messages(run, kind));
    return figures;
}

bool accounted_by_all_messages(const RecordedRun& run, View::Kind kind) {
    MessageProcess process;
    process.plan = &run.history.phases.back().plan;
    process.momentum = run.config.plan.momentum;
    process.correction = run.config.plan.correction;
    process.final_gossip =
        exchanges_beside_rounds(run.config.plan, run.built.topography.schedule());
    return counts_all_messages(process, run.config.plan.participation, {kind, {}});
}

void add_observers(ObserverFigures& figures,
                   const std::vector<std::vector<int>>& observers,
                   Clock::time_point until,
                   int threads,
                   const std::function<std::vector<float>(const std::vector<int>&)>& row) {
    std::vector<std::optional<std::vector<float>>> rows(observers.size());
    std::atomic<bool> over = false;
    parallel_for(std::ssize(observers), threads, [&](long i) {
        const bool first = i == 0 && figures.observers == 0;
        if (!first && (over || Clock::now() >= until)) {
            over = true;
            return;
        }
        rows[static_cast<std::size_t>(i)] = row(observers[static_cast<std::size_t>(i)]);
    });
    // The page finds observers by their position, so none may be missing before another.
    for (const auto& known : rows) {
        if (!known) break;
        figures.epsilon.insert(figures.epsilon.end(), known->begin(), known->end());
        ++figures.observers;
    }
}

std::string out_of_time_note(const ObserverFigures& figures, long observers, double time_limit) {
    return fmt::format(
        "{} of {} observers are in this page, because of the time they take (--time-limit {:g}; a "
        "longer limit includes more, and sotto account --run computes any)",
        figures.observers,
        observers,
        time_limit);
}

namespace {

ObserverWords words_of(View::Kind kind) {
    ObserverWords words;
    if (kind == View::Kind::all_messages) {
        words.gist = "every message";
        words.nobody = "Whoever records every message";
        words.one = "One curious agent with every message";
        words.several = "colluding agents with every message";
        words.one_knows = ", with every message of the run and its seeds,";
        words.several_know = ", with every message of the run and their seeds,";
        return words;
    }
    const std::string from =
        kind == View::Kind::secure_sum ? ", from sums of what " : ", from what ";
    words.gist = "what neighbours send to them";
    words.one = "One agent, what neighbours send to it";
    words.several = "colluding agents, what neighbours send to them";
    words.one_knows = from + "its neighbours send and its seeds,";
    words.several_know = from + "their neighbours send and their seeds,";
    return words;
}

}  // namespace

ObserverWords observer_words(View::Kind kind, const Graph& graph) {
    ObserverWords words = words_of(kind);
    const std::array records{record_of({kind, {}}, graph),
                             record_of({kind, {0}}, graph),
                             record_of({kind, {0, 1}}, graph)};
    for (std::size_t i = 0; i < records.size(); ++i)
        if (records[i] != nullptr) words.names[i] = records[i]->name;
    words.sees = (records.front() != nullptr ? records.front() : records.back())->help;
    return words;
}

namespace {

/// Limits for observers times agents^3, the work if all agents share seeds with each other: about
/// half a minute on two cores for coalitions, minutes for single agents.
constexpr double most_work_for_coalitions = 2e10, most_work_for_agents = 3e12;

}  // namespace

int largest_shown_coalition(int agents, const std::optional<int>& asked) {
    if (asked) {
        if (*asked < 0 || *asked >= agents)
            throw ConfigError(
                fmt::format("--coalition-size: {} is not allowed (0 to {}, one less than there are "
                            "agents)",
                            *asked,
                            agents - 1));
        return *asked;
    }
    const double one = std::pow(agents, 3);
    double count = 1;
    for (int size = 1; size < agents; ++size) {
        count += count_coalitions(agents, size);
        if (count > most_observers ||
            count * one > (size == 1 ? most_work_for_agents : most_work_for_coalitions))
            return size - 1;
    }
    return std::max(agents - 1, 0);
}

std::vector<std::vector<int>> coalitions_by_size(int agents, int smallest, int largest) {
    std::vector<std::vector<int>> all;
    for (int size = smallest; size <= largest; ++size)
        for_each_coalition(
            agents, size, [&](const std::vector<int>& members) { all.push_back(members); });
    return all;
}

namespace {

constexpr long most_rounds_inverted = 2000;
constexpr long most_rounds_shown = 200;

/// Variance of the noise in a message from row to column; the diagonal is the copy an agent keeps.
Eigen::MatrixXd message_variance(const NoisePlan& plan, const Graph& graph) {
    Eigen::MatrixXd variance = Eigen::MatrixXd::Zero(plan.agents, plan.agents);
    for (const NoiseRow& row : plan.rows) {
        double sum = 0;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const NoiseStream& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
            sum +=
                unit_variance(stream.distribution) * std::pow(plan.scale * row.coefficients[j], 2);
        }
        if (row.receiver != NoiseRow::all_receivers) {
            variance(row.sender, row.receiver) = sum;
            continue;
        }
        for (const int receiver : graph.hearers(row.sender)) variance(row.sender, receiver) = sum;
    }
    return variance;
}

std::vector<std::string> names_of(const Graph& graph, const Membership& members) {
    std::vector<std::string> names;
    for (const int number : members.numbers) names.push_back(graph.label(number));
    return names;
}

std::string unit_of_noise(const NoisePlan& plan) {
    return plan.entry == NoiseEntry::message ? "model units squared" : "gradient units squared";
}

HeatMap across_agents(const PrivacyPhase& phase, const Graph& graph) {
    const NoisePlan& plan = phase.plan;
    HeatMap map;
    map.names = names_of(graph, phase.members);
    map.unit = unit_of_noise(plan);
    if (!plan.same_message_to_all() || plan.distribution() == StreamDistribution::laplace) {
        map.title = "Noise variance of every message";
        map.rows = "sender";
        map.columns = "receiver";
        map.text =
            "Rows send, columns receive; the diagonal is the noise of the copy an agent keeps. "
            "Streams belong to one agent each, so nothing is correlated across senders.";
        map.values = message_variance(plan, graph.induced_subgraph(phase.members.numbers));
        return map;
    }
    map.title = "Noise covariance across agents";
    map.rows = map.columns = "agent";
    map.text = plan.aggregation == Aggregation::trusted_mean
                   ? "The trusted aggregator adds one noise to the mean, so all agents share it."
                   : "R of one coordinate in one round. Off the diagonal: noise that two agents "
                     "have in common, of opposite signs where negative, so that mixing cancels it.";
    map.values = spatial_covariance(plan);
    return map;
}

/// Covariance over rounds of the noise of a unit stream, (C_time^T C_time)^-1.
HeatMap over_rounds(const TemporalFactor& factor, long rounds) {
    const long used = std::min(rounds, most_rounds_inverted);
    const Eigen::MatrixXd inverse = dense_factor(factor, used)
                                        .triangularView<Eigen::Lower>()
                                        .solve(Eigen::MatrixXd::Identity(used, used));
    const long shown = std::min(used, most_rounds_shown);
    std::vector<Eigen::Index> sampled;
    HeatMap map;
    for (long i = 0; i < shown; ++i) {
        sampled.push_back(i * used / shown);
        map.names.push_back(std::to_string(sampled.back()));
    }
    const Eigen::MatrixXd rows = inverse(sampled, Eigen::all);
    map.values = rows * rows.transpose();
    map.title = "Noise covariance over rounds";
    map.rows = map.columns = "round";
    map.unit = "times the covariance across agents";
    map.text = fmt::format(
        "The temporal factor's covariance; negative: a round takes back noise of another. {}",
        shown < rounds ? fmt::format("{} of {} rounds{}.",
                                     shown,
                                     rounds,
                                     used < rounds ? fmt::format(", from the first {}", used)
                                                   : std::string(", evenly spaced"))
                       : fmt::format("All {} rounds.", rounds));
    return map;
}

/// Follows the title of a picture.
std::string words_of_phase(const PrivacyPhase& phase, std::size_t phases) {
    if (phase.survey != nullptr)
        return fmt::format(", for {} before the training", phase.survey->measures);
    return phases > 1 ? fmt::format(", from round {}", phase.use.steps.first_round) : std::string();
}

}  // namespace

std::vector<HeatMap> noise_pictures(const RecordedRun& run) {
    std::vector<HeatMap> maps;
    const auto& phases = run.history.phases;
    for (std::size_t k = 0; k < phases.size(); ++k) {
        const PrivacyPhase& phase = phases[k];
        if (phase.plan.noiseless()) continue;
        const std::string which = words_of_phase(phase, phases.size());
        if (phase.members.size() <= most_dense_agents) {
            maps.push_back(across_agents(phase, run.built.topography.graph));
            maps.back().title += which;
        }
        if (phase.plan.temporal.kind == TemporalFactor::Kind::identity) continue;
        const long rounds = rounds_sent(phases, k, run.rounds);
        if (rounds < 1) continue;
        maps.push_back(over_rounds(phase.plan.temporal, rounds));
        maps.back().title += which;
    }
    return maps;
}

using Json = nlohmann::ordered_json;

namespace {

/// The noise in the messages of one agent.
struct NoiseOfAgent {
    double variance = 0, alone = 0;  ///< in all and of its own streams, mean over receivers
    std::set<int> shared;            ///< streams
    int rows = 0;
};

std::vector<NoiseOfAgent> noise_of_agents(const NoisePlan& plan) {
    std::vector<NoiseOfAgent> noise(static_cast<std::size_t>(plan.agents));
    for (const NoiseRow& row : plan.rows) {
        NoiseOfAgent& mine = noise[static_cast<std::size_t>(row.sender)];
        ++mine.rows;
        for (std::size_t j = 0; j < row.streams.size(); ++j) {
            const NoiseStream& stream = plan.streams[static_cast<std::size_t>(row.streams[j])];
            const double variance =
                unit_variance(stream.distribution) * std::pow(plan.scale * row.coefficients[j], 2);
            mine.variance += variance;
            if (plan.groups[static_cast<std::size_t>(stream.group)].members.size() == 1)
                mine.alone += variance;
            else
                mine.shared.insert(row.streams[j]);
        }
    }
    for (NoiseOfAgent& mine : noise) {
        mine.variance /= std::max(mine.rows, 1);
        mine.alone /= std::max(mine.rows, 1);
    }
    return noise;
}

/// Places in `degrees`, in groups of equal degrees or, where these are many, of ranges that hold
/// about as many agents.
std::vector<std::vector<std::size_t>> by_degree(const std::vector<std::size_t>& degrees) {
    constexpr std::size_t most_groups = 12;
    std::map<std::size_t, std::vector<std::size_t>> of_degree;
    for (std::size_t u = 0; u < degrees.size(); ++u) of_degree[degrees[u]].push_back(u);
    const std::size_t wanted = of_degree.size() <= most_groups ? 1 : degrees.size() / most_groups;
    std::vector<std::vector<std::size_t>> groups;
    for (const auto& [degree, agents] : of_degree)
        if (groups.empty() || groups.back().size() >= wanted)
            groups.push_back(agents);
        else
            groups.back().insert(groups.back().end(), agents.begin(), agents.end());
    return groups;
}

}  // namespace

Json noise_by_degree(const PrivacyPhase& phase, std::size_t phases, const Graph& graph) {
    const std::vector<NoiseOfAgent> noise = noise_of_agents(phase.plan);
    std::vector<std::size_t> degrees;
    for (const int number : phase.members.numbers)
        degrees.push_back(graph.neighbours(number).size());
    Json rows = Json::array();
    for (const std::vector<std::size_t>& group : by_degree(degrees)) {
        double sum = 0, least = infinity, most = 0, alone = 0, shared = 0;
        for (const std::size_t u : group) {
            sum += noise[u].variance;
            least = std::min(least, noise[u].variance);
            most = std::max(most, noise[u].variance);
            alone += noise[u].variance > 0 ? noise[u].alone / noise[u].variance : 0;
            shared += static_cast<double>(noise[u].shared.size());
        }
        const auto count = static_cast<double>(group.size());
        rows.push_back({{"degrees", {degrees[group.front()], degrees[group.back()]}},
                        {"agents", group.size()},
                        {"variance", sum / count},
                        {"least", least},
                        {"most", most},
                        {"private", alone / count},
                        {"shared_streams", shared / count}});
    }
    return {{"title",
             "Noise of every message, by number of neighbours" + words_of_phase(phase, phases)},
            {"text",
             "Variance of one coordinate; the share that only the sender knows; and how "
             "many streams it shares with other agents."},
            {"unit", unit_of_noise(phase.plan)},
            {"by_degree", rows}};
}

namespace {

std::string base64(const std::vector<float>& values) {
    const std::size_t bytes = values.size() * sizeof(float);
    std::string text(sodium_base64_ENCODED_LEN(bytes, sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(text.data(),
                      text.size(),
                      reinterpret_cast<const unsigned char*>(values.data()),
                      bytes,
                      sodium_base64_VARIANT_ORIGINAL);
    text.pop_back();  // the terminating zero
    return text;
}

Json json_of(const ObserverWords& words) {
    return {{"sees", words.sees},
            {"gist", words.gist},
            {"nobody", words.nobody},
            {"one", words.one},
            {"several", words.several},
            {"one_knows", words.one_knows},
            {"several_know", words.several_know},
            {"names", words.names}};
}

}  // namespace

Json page_graph(const BuiltTopography& built, const std::vector<int>& gone) {
    const Graph& graph = built.topography.graph;
    Json json;
    json["description"] = built.description;
    json["notes"] = built.notes;
    json["labels"] = Json::array();
    for (int u = 0; u < graph.agents(); ++u) json["labels"].push_back(graph.label(u));
    json["edges"] = Json::array();
    json["directed"] = graph.directed();
    for (const auto& [u, v] : graph.links()) json["edges"].push_back({u, v});
    json["gone"] = gone;
    return json;
}

Json page_figures(const ObserverFigures& figures, const Graph& graph) {
    const View view{figures.kind, {}};
    Json json{{"view", view.sound_for_training() ? "all-messages" : "partial"},
              {"guarantee", view.sound_for_training()},
              {"words", json_of(observer_words(figures.kind, graph))},
              {"argument", figures.argument.text},
              {"sound", figures.argument.sound},
              {"smallest", figures.smallest},
              {"observers", figures.observers},
              {"note", figures.note},
              {"epsilon", base64(figures.epsilon)}};
    if (!figures.bound.empty())
        json["bound"] = {{"size", figures.bound_size}, {"epsilon", base64(figures.bound)}};
    return json;
}

Json page_heat_map(const HeatMap& map) {
    std::vector<float> values;
    for (Eigen::Index i = 0; i < map.values.rows(); ++i)
        for (Eigen::Index j = 0; j < map.values.cols(); ++j)
            values.push_back(static_cast<float>(map.values(i, j)));
    return {{"title", map.title},
            {"unit", map.unit},
            {"text", map.text},
            {"axes", {map.rows, map.columns}},
            {"names", map.names},
            {"values", base64(values)}};
}

namespace {

/// The ledger's privacy loss against any observer who sees every message.
class LedgerSums {
  public:
    explicit LedgerSums(const RecordedRun& run) : agents_(run.history.phases.front().members.all) {
        const auto& phases = run.history.phases;
        delta_ = stated_delta(phases.back().plan.distribution(), run.config.plan.delta);
        for (std::size_t k = 0; k < phases.size(); ++k) {
            const PrivacyPhase& phase = phases[k];
            const long rounds = rounds_sent(phases, k, run.rounds);
            if (rounds <= 0) continue;
            phases_.push_back(&phase);
            precisions_.emplace_back(phase.plan);
            rounds_.push_back(rounds);
            squared_.push_back(pattern_sensitivity_squared(phase.plan, phase.use, rounds));
        }
    }

    /// Epsilon of every agent.
    [[nodiscard]] std::vector<float> against(const std::vector<int>& members) const {
        // A member that has left still sees all messages but knows no noise.
        return epsilons(members, [&](std::size_t k) {
            return precisions_[k].of({phases_[k]->members.places(members)});
        });
    }

    /// Whether against_any takes no matrix of all agents.
    [[nodiscard]] bool is_large_and_bounded() const {
        return std::ranges::all_of(phases_, [](const PrivacyPhase* phase) {
            return large_pairwise_noise(phase->plan).has_value();
        });
    }

    /// A bound of epsilon of every agent against any coalition of this size.
    [[nodiscard]] std::vector<float> against_any(int size) const {
        return epsilons({}, [&](std::size_t k) {
            return coalition_precision(phases_[k]->plan,
                                       std::min(size, phases_[k]->plan.agents - 1));
        });
    }

  private:
    [[nodiscard]] std::vector<float> epsilons(
        const std::vector<int>& members,
        const std::function<Eigen::VectorXd(std::size_t phase)>& precision) const {
        PrivacyLosses losses(agents_);
        for (std::size_t k = 0; k < phases_.size(); ++k)
            losses.add(*phases_[k], rounds_[k], squared_[k], precision(k));
        std::vector<float> epsilon(static_cast<std::size_t>(agents_),
                                   std::numeric_limits<float>::quiet_NaN());
        for (int u = 0; u < agents_; ++u)
            if (!std::ranges::binary_search(members, u) && was_there(u))
                epsilon[static_cast<std::size_t>(u)] =
                    static_cast<float>(losses.guarantee(u, delta_).epsilon);
        return epsilon;
    }

    [[nodiscard]] bool was_there(int agent) const {
        return std::ranges::any_of(
            phases_, [&](const PrivacyPhase* phase) { return phase->members.place(agent) >= 0; });
    }

    int agents_;
    double delta_ = 0;
    std::vector<const PrivacyPhase*> phases_;
    std::vector<long> rounds_;
    std::vector<ObservedPrecisions> precisions_;
    std::vector<Eigen::MatrixXd> squared_;
};

}  // namespace

ObserverFigures figures_of_all_messages(const RecordedRun& run,
                                        const ReportConfig& config,
                                        Clock::time_point until) {
    ObserverFigures figures = blank_figures(run, View::Kind::all_messages, 0);
    const int largest = largest_shown_coalition(figures.agents, config.coalition_size);
    const auto observers = coalitions_by_size(figures.agents, 0, largest);
    const LedgerSums sums(run);
    add_observers(figures, observers, until, config.threads, [&](const std::vector<int>& members) {
        return sums.against(members);
    });
    figures.out_of_time = figures.observers < std::ssize(observers);
    if (figures.agents > most_dense_agents && sums.is_large_and_bounded()) {
        figures.bound_size = std::max(run.config.plan.coalition_size.value_or(1), 1);
        figures.bound = sums.against_any(figures.bound_size);
    }
    if (figures.out_of_time)
        figures.note = out_of_time_note(figures, std::ssize(observers), config.time_limit);
    else if (largest == 0 && figures.agents > 1)
        figures.note =
            "only the eavesdropper is in this page, because of the time that others take";
    else if (largest + 1 < figures.agents)
        figures.note = fmt::format(
            "coalitions of up to {} agent{} are in this page", largest, largest == 1 ? "" : "s");
    return figures;
}

namespace {

/// Partial views of longer runs take minutes and gigabytes each (rounds x rounds matrices).
constexpr long most_partial_rounds = 5000;

/// Agents that took part when messages were sent.
std::vector<int> agents_there(const MessageProcess& process) {
    std::vector<int> there;
    for (int u = 0; u < process.plan->agents; ++u)
        if (std::ranges::any_of(process.phases,
                                [&](const Phase& phase) { return !phase.has_departed(u); }))
            there.push_back(u);
    return there;
}

/// Asks about all agents that took part and are not members; about nobody if no member took part.
Question question_of(View::Kind kind,
                     const std::vector<int>& observers,
                     const std::vector<int>& there) {
    Question question;
    question.view.kind = kind;
    std::ranges::set_intersection(observers, there, std::back_inserter(question.view.members));
    if (!question.view.members.empty()) question.targets = without(there, question.view.members);
    return question;
}

/// Epsilon of every agent; NaN for agents that were not asked about.
std::vector<float> epsilons_of(const Question& question,
                               const std::vector<SquaredSensitivity>& answer,
                               const AccountSubject& subject) {
    std::vector<float> row(static_cast<std::size_t>(subject.plan.agents),
                           std::numeric_limits<float>::quiet_NaN());
    for (std::size_t t = 0; t < question.targets.size(); ++t) {
        const auto target = static_cast<std::size_t>(question.targets[t]);
        row[target] = static_cast<float>(
            guarantee_of_target(
                subject, question.view.members, question.targets[t], answer[t].certified())
                .epsilon);
    }
    return row;
}

}  // namespace

View::Kind partial_view_of(const RecordedRun& run) {
    return run.config.secure_sum ? View::Kind::secure_sum : View::Kind::neighbours;
}

bool all_messages_stand_for_partial_views(const RecordedRun& run) {
    const auto& phases = run.history.phases;
    return std::ranges::count(phases, nullptr, &PrivacyPhase::survey) == 1 &&
           phases.back().plan.same_message_to_all() &&
           accounted_by_all_messages(run, partial_view_of(run));
}

ObserverFigures figures_as_of_all_messages(const RecordedRun& run, const ObserverFigures& all) {
    ObserverFigures figures = blank_figures(run, partial_view_of(run), 1);
    if (all.observers < 2) {
        figures.note = all.note;
        return figures;
    }
    // All but the eavesdropper, who is not an agent.
    figures.observers = all.observers - 1;
    figures.epsilon.assign(all.epsilon.begin() + all.agents, all.epsilon.end());
    if (all.out_of_time) figures.note = "there are as many as with every message";
    return figures;
}

ObserverFigures figures_of_partial_views(const RecordedRun& run,
                                         const ReportConfig& config,
                                         Clock::time_point until,
                                         Clock::time_point coalitions_until) {
    ObserverFigures figures = blank_figures(run, partial_view_of(run), 1);
    if (figures.agents < 2) return figures;
    if (figures.agents > most_dense_agents) {
        figures.note = fmt::format(
            "of more than {} agents no such observers are in this page (sotto account --run DIR "
            "--view node:U computes one)",
            most_dense_agents);
        return figures;
    }
    const auto subject = account_subject_of(run);
    if (subject->process.rounds() > most_partial_rounds)
        throw ConfigError(
            fmt::format("partial views of {} rounds are too much work for a page (up to {} rounds "
                        "are shown; sotto account --run computes them)",
                        subject->process.rounds(),
                        most_partial_rounds));
    const std::vector<int> there = agents_there(subject->process);
    const auto row = [&](const std::vector<int>& members) {
        const Question question = question_of(figures.kind, members, there);
        return epsilons_of(
            question,
            view_losses(subject->process, subject->use, question.view, question.targets, {}),
            *subject);
    };
    const int largest = std::min(largest_shown_coalition(figures.agents, config.coalition_size),
                                 figures.agents - 1);
    long asked = 0;
    for (int size = 1; size <= std::max(largest, 1); ++size) {
        const auto observers = coalitions_by_size(figures.agents, size, size);
        if (figures.observers == asked)
            add_observers(
                figures, observers, size == 1 ? until : coalitions_until, config.threads, row);
        asked += std::ssize(observers);
    }
    figures.out_of_time = figures.observers < asked;
    if (figures.out_of_time) figures.note = out_of_time_note(figures, asked, config.time_limit);
    return figures;
}

std::vector<ObserverFigures> report_figures(const RecordedRun& run,
                                            const ReportConfig& config,
                                            Clock::time_point start) {
    const auto or_why_not = [&](View::Kind kind, int smallest, auto&& figures) {
        try {
            return figures();
        } catch (const Error& error) {
            if (kind == View::Kind::all_messages && config.coalition_size) throw;
            ObserverFigures none = blank_figures(run, kind, smallest);
            none.note = fmt::format("no figures of this view: {}", error.what());
            return none;
        }
    };
    const auto after = [&](double share) {
        return start + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(share * config.time_limit));
    };
    const auto all_messages = [&] {
        return or_why_not(View::Kind::all_messages, 0, [&] {
            return figures_of_all_messages(run, config, after(1));
        });
    };
    if (all_messages_stand_for_partial_views(run)) {
        ObserverFigures all = all_messages();
        ObserverFigures partial = figures_as_of_all_messages(run, all);
        return {std::move(all), std::move(partial)};
    }
    // The page begins with what single agents learn from their neighbours, so this comes first.
    ObserverFigures partial = or_why_not(partial_view_of(run), 1, [&] {
        return figures_of_partial_views(run, config, after(0.5), after(0.25));
    });
    ObserverFigures all = all_messages();
    return {std::move(all), std::move(partial)};
}

namespace {

/// An audit by canaries has no history: only its graph is shown.
void add_attacked_graph(ReportAccount& account, const ReportConfig& config) {
    const BuiltTopography built = build_topography(config.run.graph, config.run.plan);
    const RunFile manifest = json_of_run(config.directory / "manifest.json");
    if (manifest.content.is_object() &&
        manifest.content.value("graph_hash", "") == to_hex(built.topography.graph.hash()))
        account.graph = page_graph(built, {});
    else
        account.missing.emplace_back(
            "The graph is not shown: the one that its options give now is not that of "
            "manifest.json.");
}

void add_figures(ReportAccount& account, const ReportConfig& config, Clock::time_point start) {
    const RecordedRun run = read_recorded_run(config.directory, config.run);
    account.graph = page_graph(run.built, run.history.phases.back().members.gone());
    for (const HeatMap& map : noise_pictures(run)) account.pictures.push_back(page_heat_map(map));
    for (const PrivacyPhase& phase : run.history.phases)
        if (phase.members.size() > most_dense_agents && !phase.plan.noiseless())
            account.pictures.push_back(
                noise_by_degree(phase, run.history.phases.size(), run.built.topography.graph));
    const Graph& graph = run.built.topography.graph;
    for (const ObserverFigures& figures : report_figures(run, config, start)) {
        account.views.push_back(page_figures(figures, graph));
        account.observers += figures.observers;
        if (figures.out_of_time)
            account.left_out.push_back(fmt::format(
                "Observers with {}: {}", observer_words(figures.kind, graph).gist, figures.note));
    }
}

}  // namespace

ReportAccount report_account(const ReportConfig& config, Clock::time_point start) {
    ReportAccount account;
    if (std::filesystem::exists(config.directory / "audit.json") &&
        !std::filesystem::exists(config.directory / "history.json")) {
        add_attacked_graph(account, config);
    } else {
        try {
            add_figures(account, config, start);
        } catch (const DataError& error) {
            account.missing.push_back(fmt::format(
                "Graph, noise and what observers learn are not shown: {}", error.what()));
        }
    }
    account.seconds = seconds_since(start);
    return account;
}

}  // namespace sotto
