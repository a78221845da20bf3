#include "audit/recorded_innovations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sotto/core/error.hpp"

namespace sotto {

namespace {

MessageProcess with_plan(MessageProcess process, const NoisePlan& plan) {
    process.plan = &plan;
    return process;
}

Eigen::Index checked(const RecordedMessages& messages,
                     Eigen::Index dimension,
                     const std::filesystem::path& views,
                     const std::string& reason) {
    if (messages.dimension() != dimension)
        throw DataError(fmt::format("{}: models of {} coordinates are recorded, {}",
                                    views.string(),
                                    messages.dimension(),
                                    reason));
    return dimension;
}

}  // namespace

RecordedInnovations::RecordedInnovations(const std::filesystem::path& views,
                                         const View& view,
                                         const MessageProcess& process,
                                         Eigen::Index dimension,
                                         const std::string& reason,
                                         int threads)
    : plan_(*process.plan),
      messages_(views, view, process, threads),
      seen_(with_plan(process, messages_.knowledge())),
      test_(seen_, view, Eigen::VectorXd::Zero(checked(messages_, dimension, views, reason))) {}

std::optional<ViewInnovations::Innovation> RecordedInnovations::next() {
    if (!messages_.next()) return std::nullopt;
    return test_.next(messages_.step());
}

std::vector<std::string> RecordedInnovations::leak_findings() const {
    std::vector<std::string> findings;
    for (const auto& [agent, group] : messages_.leaked_seeds())
        findings.push_back(
            fmt::format("agent {} holds the seed of group {}, whose members are {}",
                        agent,
                        group,
                        fmt::join(plan_.groups[static_cast<std::size_t>(group)].members, ", ")));
    return findings;
}

}  // namespace sotto
