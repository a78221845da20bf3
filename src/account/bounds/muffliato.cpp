#include "account/bounds/equal_noise.hpp"
#include "account/bounds/table.hpp"
#include "sotto/views/muffliato_bound.hpp"

namespace sotto {

namespace {

constexpr double most_work_for_bound = 1e9;  // rounds times agents times edges

/// Every round is alike: the same mixing among the same agents, and equal steps; nothing else is
/// sent.
bool has_equal_rounds(const MessageProcess& process) {
    return has_gossip_bound(process) && process.phases.size() == 1 &&
           process.phases.front().mixing.fixed() && process.step_sizes.empty();
}

std::optional<Eigen::VectorXd> muffliato_of_view(const ViewBoundInput& input,
                                                 const View& view,
                                                 std::span<const int> targets) {
    const MessageProcess& process = input.subject.process;
    const Graph& graph = *process.graph;
    const double work = static_cast<double>(input.plan.rounds) * graph.agents() *
                        static_cast<double>(graph.edges().size() + 1);
    if (view.kind != View::Kind::neighbours || view.members.size() != 1 ||
        !has_equal_rounds(process) || !(work < most_work_for_bound))
        return std::nullopt;
    const std::optional<double> variance = equal_noise_variance(input.plan, input.subject.plan);
    if (!variance) return std::nullopt;
    const Eigen::VectorXd bound =
        muffliato_bound(
            graph, process.phases.front().mixing.at(0), view.members.front(), input.plan.rounds) /
        *variance;
    Eigen::VectorXd of_targets(std::ssize(targets));
    for (std::size_t t = 0; t < targets.size(); ++t)
        of_targets(static_cast<Eigen::Index>(t)) = bound(targets[t]);
    return of_targets;
}

}  // namespace

PublishedBound muffliato_record() {
    return {.name = "muffliato_bound",
            .title = "muffliato",
            .source = "Cyffers et al. 2022",
            .says =
                "epsilon of one gossip step a round for inputs fixed in advance, by Muffliato's "
                "analysis",
            .of_view = muffliato_of_view};
}

}  // namespace sotto
