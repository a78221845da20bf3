#include "audit/membership_attack.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "audit/known_models.hpp"
#include "audit/membership_figures.hpp"
#include "planning/budgets.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"
#include "sotto/core/names.hpp"
#include "sotto/plan/plan_json.hpp"
#include "sotto/plan/plan_size.hpp"
#include "sotto/privacy/accountant.hpp"
#include "tasks/record_task.hpp"

namespace sotto {

namespace {

using Eigen::Index;

/// What the accountant says of every agent against who sees all messages, with the members' seeds.
/// @param records of every agent.
std::vector<Guarantee> claims(const PlanConfig& config,
                              const AuditSubject& subject,
                              const NoisePlan& plan,
                              const std::vector<Index>& records) {
    const CountedPlan counted = count_plan(plan,
                                           config,
                                           subject.topography,
                                           build_exposures(config, plan.agents, records),
                                           build_budgets(config, plan.agents));
    return guarantees(plan, {subject.view.members}, counted.exposures, config.delta);
}

void require_attackable(const TaskConfig& task) {
    const std::vector<std::string> allowed{"logistic", "softmax", "mlp", "cnn"};
    if (std::ranges::find(allowed, task.task) == allowed.end())
        throw ConfigError(fmt::format(
            "--task: '{}' is not possible with --attack membership, which needs records that "
            "were held out (allowed: {})",
            task.task,
            join(allowed, ", ")));
}

std::string finding_of(const MembershipFigures& figures) {
    return fmt::format(
        "agent {}: epsilon of a record is at least {:.4g}, the accountant says {:.4g}",
        figures.target,
        figures.epsilon_certain,
        figures.claim_epsilon);
}

class MembershipAttack final : public Attack {
  public:
    using Attack::Attack;

    void gather(const std::filesystem::path& folder, Network& network) override {
        network.agree([&] {
            if (network.process() == 0) read_recordings(folder);
        });
        const TaskConfig& task = config().train.task;
        const LocalData data =
            read_local_data(task, network, Membership::everybody(network.agents()));
        Eigen::Index dimension = 0;
        network.agree([&] {
            const AgentData& own = data.agents.front();
            dimension = make_record_objective(task, data, own.shard, own.test)->dimension();
        });
        known_.models = share_models(known_.models, dimension, network);
        std::vector<AskedAgent> own;
        network.agree([&] { own = ask(data, network.local_agents()); });
        asked_ = share_figures(own, network);
    }
    std::unique_ptr<AuditResult> analyse(const std::filesystem::path&) const override {
        const PlanConfig& plan = config().train.plan;
        auto result = std::make_unique<MembershipResult>();
        result->mechanism = plan_->mechanism;
        result->task = config().train.task.task;
        result->averaged_rounds = averaged_rounds();
        result->adjacency = plan.adjacency;
        result->delta = plan.delta;
        result->targets = compared_targets();
        for (const MembershipFigures& figures : result->targets)
            if (figures.exceeds()) result->findings.push_back(finding_of(figures));
        std::ranges::stable_sort(result->targets, {}, &MembershipFigures::distance);
        return result;
    }

  private:
    [[nodiscard]] std::vector<int> targets() const {
        return agents_outside(subject().view, subject().topography.graph.agents());
    }
    [[nodiscard]] long averaged_rounds() const { return (config().train.plan.rounds + 9) / 10; }

    void read_recordings(const std::filesystem::path& folder) {
        const std::string file = (folder / "plan.json").string();
        plan_ = plan_from_json(read_file(file, most_plan_bytes), file);
        const long rounds = config().train.plan.rounds;
        known_ = read_known_models(
            folder / "views", subject().view, *plan_, rounds, rounds - averaged_rounds());
    }

    /// Figures of the agents of this process; nothing of members.
    [[nodiscard]] std::vector<AskedAgent> ask(const LocalData& data,
                                              std::span<const int> agents) const {
        const std::vector<int> outside = targets();
        const double risk = (1 - config().level) / static_cast<double>(outside.size());
        std::vector<AskedAgent> asked;
        for (std::size_t a = 0; a < agents.size(); ++a) {
            const AgentData& own = data.agents[a];
            AskedAgent& agent = asked.emplace_back();
            agent.records = own.shard.records();
            agent.figures.target = agents[a];
            if (std::ranges::binary_search(outside, agents[a]))
                agent.figures = measure_membership(
                    agents[a], own, data, config(), known_.models.col(agents[a]), risk);
        }
        return asked;
    }

    /// What was found out about agents that are no members, and what the accountant says.
    [[nodiscard]] std::vector<MembershipFigures> compared_targets() const {
        std::vector<Index> records;
        for (const AskedAgent& agent : asked_) records.push_back(agent.records);
        const auto claimed = claims(config().train.plan, subject(), *plan_, records);
        const auto distances = distances_from_members(subject().view, subject().topography.graph);
        std::vector<MembershipFigures> result;
        for (const int target : targets()) {
            const auto u = static_cast<std::size_t>(target);
            MembershipFigures& figures = result.emplace_back(asked_[u].figures);
            figures.distance = distances[u];
            figures.heard = known_.heard[u];
            figures.claim_epsilon = claimed[u].epsilon;
        }
        return result;
    }

    std::optional<NoisePlan> plan_;  // process 0 alone
    KnownModels known_;              // who was heard: process 0 alone
    std::vector<AskedAgent> asked_;  // of every agent
};

std::unique_ptr<Attack> start_membership_attack(AuditConfig config,
                                                AuditSubject subject,
                                                Network& network) {
    network.agree([&] { require_attackable(config.train.task); });
    return std::make_unique<MembershipAttack>(std::move(config), std::move(subject));
}

}  // namespace

AttackRecord membership_attack() {
    return {.name = "membership",
            .help = "which records agents trained on",
            .fixed_inputs = false,
            .sampled = false,
            .options = {},
            .defaults = {},
            .start = start_membership_attack};
}

}  // namespace sotto
