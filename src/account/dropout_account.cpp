#include "account/dropout_account.hpp"

#include <algorithm>

#include "sotto/core/error.hpp"
#include "sotto/privacy/coalitions.hpp"
#include "sotto/privacy/dropouts.hpp"
#include "sotto/views/agent_list.hpp"

namespace sotto {

namespace {

using Eigen::VectorXd;

/// Every coalition that the query may mean.
std::vector<std::vector<int>> asked_coalitions(const ViewQuery& query, int agents) {
    std::vector<std::vector<int>> coalitions;
    if (query.is_search()) {
        check_coalition_size(agents, query.arguments.size);
        for_each_coalition(agents, query.arguments.size, [&](const std::vector<int>& members) {
            coalitions.push_back(members);
        });
    }
    for (const View& view : query.observers) coalitions.push_back(view.members);
    return coalitions;
}

/// About every agent from whichever coalition it is not in.
DropoutPrecision precision_without(const NoisePlan& plan,
                                   const std::vector<std::vector<int>>& coalitions,
                                   const std::vector<int>& missing) {
    const VectorXd nothing = VectorXd::Zero(plan.agents);
    DropoutPrecision worst{nothing, nothing, nothing};
    for (const std::vector<int>& members : coalitions) {
        DropoutPrecision precision = dropout_precision(plan, {members}, missing);
        for (const auto& [largest, found] : {std::pair(&worst.silent, &precision.silent),
                                             std::pair(&worst.revealed, &precision.revealed),
                                             std::pair(&worst.late, &precision.late)}) {
            for (const int member : members) (*found)(member) = 0;
            *largest = largest->cwiseMax(*found);
        }
    }
    return worst;
}

DropoutPrecision worst_precision(const NoisePlan& plan, const ViewQuery& query, int dropouts) {
    if (const View* const one = query.one_observer())
        return worst_dropout_precision(plan, Observer{one->members}, dropouts);
    std::size_t size = static_cast<std::size_t>(query.arguments.size);
    for (const View& view : query.observers) size = std::max(size, view.members.size());
    return worst_dropout_precision(plan, static_cast<int>(size), dropouts);
}

void keep_larger(std::optional<Guarantee>& worst, const std::optional<Guarantee>& found) {
    if (found && (!worst || *worst < *found)) worst = found;
}

}  // namespace

std::optional<DropoutAccount> account_for_dropouts(const AccountConfig& config,
                                                   const AccountSubject& subject,
                                                   const ViewQuery& query,
                                                   const std::vector<int>& targets) {
    if (!config.dropouts && config.missing.empty()) return std::nullopt;
    if (config.dropouts && !config.missing.empty())
        throw ConfigError("--missing: --dropouts is given too; one of them says who is missing");
    if (subject.process.phases.size() != 1)
        throw ConfigError("--departures: not with --dropouts and --missing (allowed: one phase)");
    DropoutAccount account;
    if (!config.missing.empty())
        account.missing = parse_agent_list("--missing", config.missing, *subject.process.graph);
    account.most = config.dropouts.value_or(static_cast<int>(account.missing.size()));
    const DropoutPrecision precision =
        config.dropouts
            ? worst_precision(subject.plan, query, *config.dropouts)
            : precision_without(
                  subject.plan, asked_coalitions(query, subject.plan.agents), account.missing);
    const auto guarantee = [&](const VectorXd& known, int u) -> std::optional<Guarantee> {
        if (!(known(u) > 0)) return std::nullopt;
        const Exposure& exposure = subject.exposures[static_cast<std::size_t>(u)];
        return guarantee_of(subject.plan,
                            exposure,
                            exposure.sensitivity_squared_over_rounds * known(u),
                            subject.delta);
    };
    for (const int u : targets) {
        const DropoutFigure& figure =
            account.figures.emplace_back(DropoutFigure{u,
                                                       guarantee(precision.silent, u),
                                                       guarantee(precision.revealed, u),
                                                       guarantee(precision.late, u)});
        keep_larger(account.worst.silent, figure.silent);
        keep_larger(account.worst.revealed, figure.revealed);
        keep_larger(account.worst.late, figure.late);
    }
    return account;
}

}  // namespace sotto
