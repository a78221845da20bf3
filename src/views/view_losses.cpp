#include "sotto/views/view_losses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/core/names.hpp"
#include "sotto/privacy/accountant.hpp"
#include "views/convex_view.hpp"
#include "views/process_checks.hpp"
#include "views/tight_sensitivity.hpp"
#include "views/view_parameter.hpp"

namespace sotto {

namespace {

/// Secretly sampled rounds are accounted for an observer of all messages who knows what the members
/// know. If phases have noise of different sizes, all rounds count with the smallest.
std::vector<SquaredSensitivity> sampled_losses(const MessageProcess& process,
                                               const PlanUse& use,
                                               const View& view,
                                               std::span<const int> targets) {
    const std::vector<long> training = process.training_rounds();
    const auto patterns = participation_patterns(training, use.participation);
    Eigen::MatrixXd squared = Eigen::MatrixXd::Zero(process.plan->agents, std::ssize(patterns));
    Eigen::VectorXd precision = Eigen::VectorXd::Zero(process.plan->agents);
    long begin = 0;
    for (const Phase& phase : process.phases) {
        if (!phase.departed.empty())
            throw ConfigError(fmt::format(
                "participation: views after agents have left are not accounted for with {} "
                "(allowed: the ledger's own figure)",
                name_of(use.participation)));
        const NoisePlan& own = process.plan_of(phase);
        PlanUse phase_use = use;
        phase_use.steps.first_round = training[static_cast<std::size_t>(begin)];
        const Eigen::MatrixXd here = pattern_sensitivity_squared(own, phase_use, phase.rounds);
        squared.leftCols(here.cols()) += here;
        precision = precision.cwiseMax(observed_precision(own, {view.members}));
        begin += phase.rounds;
    }
    std::vector<SquaredSensitivity> result;
    for (const int u : targets)
        result.push_back(view.has_member(u) ? SquaredSensitivity::unbounded()
                                            : SquaredSensitivity::all_messages(
                                                  squared.row(u).maxCoeff() * precision(u)));
    return result;
}

}  // namespace

bool counts_all_messages(const MessageProcess& process,
                         const Participation& participation,
                         const View& view) {
    return process.plan->distribution() == StreamDistribution::laplace ||
           participation.is_secret() || !has_exact_figures(process, view);
}

std::vector<SquaredSensitivity> view_losses(const MessageProcess& process,
                                            const PlanUse& use,
                                            const View& view,
                                            std::span<const int> targets,
                                            const ViewOptions& options) {
    const NoisePlan& plan = *process.plan;
    check_smoothing(process);
    if (options.inputs == Inputs::convex && !view.sound_for_training())
        return convex_sensitivity(process, view, targets, use.participation, options);
    if (use.participation.is_secret()) return sampled_losses(process, use, view, targets);
    if (plan.distribution() == StreamDistribution::gaussian)
        return view_sensitivity(
            process,
            has_exact_figures(process, view) ? view : View{View::Kind::all_messages, view.members},
            targets,
            use.participation,
            options);
    if (view.kind == View::Kind::secure_sum && !plan.same_message_to_all())
        throw PrivacyError(
            fmt::format("view: secure-sum is not possible with mechanism {}, which gives every "
                        "receiver a message of its own (allowed: views of messages)",
                        plan.mechanism));
    // Noise of different phases is independent, so pure epsilons add up; the same agents take part
    // in every round of every phase.
    const std::vector<long> training = process.training_rounds();
    Eigen::VectorXd loss = Eigen::VectorXd::Zero(plan.agents);
    long begin = 0;
    for (const Phase& phase : process.phases) {
        const NoisePlan& own = process.plan_of(phase);
        PlanUse phase_use = use;
        phase_use.steps.first_round = training[static_cast<std::size_t>(begin)];
        loss += run_sensitivity_squared(own, phase_use, phase.rounds)
                    .cwiseProduct(observed_precision(own, {view.members}))
                    .cwiseSqrt();
        begin += phase.rounds;
    }
    std::vector<SquaredSensitivity> result;
    for (const int u : targets)
        result.push_back(SquaredSensitivity::all_messages(loss(u) * loss(u)));
    return result;
}

namespace {

using Takes = ViewRecord::Takes;

int parse_size(std::string_view option, std::string_view text, const Graph& graph) {
    const long long size = parse_integer(option, text);
    if (size < 1 || size >= graph.agents())
        throw ConfigError(
            fmt::format("{}: a coalition of {} is not allowed (must be 1 to {}, one less than "
                        "there are agents)",
                        option,
                        size,
                        graph.agents() - 1));
    return static_cast<int>(size);
}

/// The view of several agents that receive the same kind of messages.
const ViewRecord* for_several(const ViewRecord& record) {
    const auto& all = view_records().records();
    const auto found = std::ranges::find_if(all, [&](const ViewRecord& other) {
        return other.takes == Takes::agents && other.receives == record.receives;
    });
    return found == all.end() ? nullptr : &*found;
}

std::vector<int> parse_one_agent(std::string_view option,
                                 const ViewRecord& record,
                                 std::string_view text,
                                 std::string_view agents,
                                 const Graph& graph) {
    std::vector<int> named = parse_agent_list(option, agents, graph);
    if (named.size() == 1) return named;
    const ViewRecord* several = for_several(record);
    throw ConfigError(fmt::format(
        "{}: '{}' names several agents{}",
        option,
        text,
        several == nullptr ? std::string() : fmt::format("; use {}:{}", several->name, agents)));
}

/// @param text of the whole view.
/// @param rest the part after the colon.
ViewArguments parse_arguments(std::string_view option,
                              const ViewRecord& record,
                              std::string_view text,
                              std::string_view rest,
                              const Graph& graph) {
    if (rest.empty()) {
        const ViewParameter parameter = parameter_of(record.takes);
        throw ConfigError(fmt::format("{}: '{}' needs {} (example: {}:{})",
                                      option,
                                      text,
                                      parameter.what,
                                      record.name,
                                      parameter.example));
    }
    if (record.takes == Takes::size) return {{}, parse_size(option, rest, graph)};
    if (record.takes == Takes::one_agent)
        return {parse_one_agent(option, record, text, rest, graph), 0};
    return {parse_agent_list(option, rest, graph), 0};
}

}  // namespace

const View* ViewQuery::one_observer() const {
    const bool one = record->asks == ViewRecord::Asks::one_observer && observers.size() == 1;
    return one ? &observers.front() : nullptr;
}

ViewQuery parse_view(std::string_view option, std::string_view text, const Graph& graph) {
    const std::size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    const bool more = colon != std::string_view::npos;
    ViewQuery query;
    query.record = &view_records().find(option, word);
    if (query.record->takes != Takes::nothing)
        query.arguments = parse_arguments(
            option, *query.record, text, more ? text.substr(colon + 1) : std::string_view(), graph);
    else if (more)
        throw ConfigError(
            fmt::format("{}: '{}' takes nothing after it, '{}' given", option, word, text));
    query.observers = query.record->observers(query.arguments, graph);
    return query;
}

std::vector<ViewQuery> parse_views(std::string_view option,
                                   std::string_view text,
                                   const Graph& graph) {
    std::vector<ViewQuery> queries;
    for (const auto part : split(text, ';')) queries.push_back(parse_view(option, part, graph));
    return queries;
}

std::string name_of(const ViewQuery& query) {
    switch (query.record->takes) {
        case Takes::nothing:
            break;
        case Takes::one_agent:
        case Takes::agents:
            return fmt::format("{}:{}", query.record->name, fmt::join(query.arguments.agents, ","));
        case Takes::size:
            return fmt::format("{}:{}", query.record->name, query.arguments.size);
    }
    return query.record->name;
}

}  // namespace sotto
