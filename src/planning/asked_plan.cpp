#include "planning/asked_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/files.hpp"
#include "planning/noise_schedule.hpp"
#include "planning/planning.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "sotto/privacy/accountant.hpp"

namespace sotto {

namespace {

class AskedPlanCheck {
  public:
    AskedPlanCheck(const NoisePlan& plan, const PlanConfig& config, const Graph& graph)
        : plan_(plan), config_(config), graph_(graph) {}

    void require_mechanism() const {
        const Mechanism& asked = find_mechanism("mechanism", config_.mechanism);
        require("mechanism", asked.name, plan_.mechanism);
        if (plan_.noiseless()) return;
        require("aggregation",
                aggregations.name_of(asked.aggregation),
                aggregations.name_of(plan_.aggregation));
        require("entry", noise_entries.name_of(asked.entry), noise_entries.name_of(plan_.entry));
        require("distribution",
                stream_distributions.name_of(asked.distribution),
                stream_distributions.name_of(plan_.distribution()));
        if (!asked.correlates_rounds) require_asked_schedule(plan_, config_);
        require_own_seeds();
        if (config_.covariance_file) require_covariance();
    }

    void require_file() const {
        NoisePlan own = *read_given_plan(config_, plan_.agents);
        if (!(plan_.scale >= own.scale))
            require("scale",
                    fmt::format("{:.9g} at least", own.scale),
                    fmt::format("{:.9g}", plan_.scale));
        own.scale = plan_.scale;
        require("plan " + *config_.plan_file, to_hex(own.hash()), to_hex(plan_.hash()));
    }

  private:
    /// Compares covariances up to their scale, which the budget determines.
    void require_covariance() const {
        const Eigen::MatrixXd own = read_npy(*config_.covariance_file);
        const Eigen::MatrixXd found = spatial_covariance(plan_);
        constexpr double alike = 1e-9;
        if (own.rows() == found.rows() && own.cols() == found.cols() &&
            (own / own.trace() - found / found.trace()).norm() <= alike)
            return;
        throw PrivacyError(fmt::format(
            "the plan is not the one asked for here: its covariance is not that of {}; rank 0 must "
            "be started with the same file",
            *config_.covariance_file));
    }

    void require_own_seeds() const {
        const Mechanism& spatial = spatial_part(config_);
        if (spatial.sharing == SeedSharing::everybody) return;
        std::vector<std::vector<int>> allowed;
        const bool by_groups = shares_by_groups(config_, spatial);
        if (by_groups)
            for (SeedGroup& group : configured_seed_groups(config_, graph_))
                allowed.push_back(std::move(group.members));
        std::ranges::sort(allowed);
        for (const SeedGroup& group : plan_.groups) {
            const std::vector<int>& members = group.members;
            if (members.size() == 1 || std::ranges::binary_search(allowed, members)) continue;
            if (!by_groups && spatial.sharing == SeedSharing::neighbours && members.size() == 2 &&
                std::ranges::binary_search(graph_.neighbours(members.front()), members.back()))
                continue;
            throw PrivacyError(fmt::format(
                "the plan lets agents {} share a seed, which mechanism {} does not ask for; rank 0 "
                "must be started with the same options",
                fmt::join(members, ","),
                spatial.name));
        }
    }

    static void require(std::string_view what, std::string_view asked, std::string_view found) {
        if (asked == found) return;
        throw PrivacyError(fmt::format(
            "the plan is not the one asked for here: {} is '{}', asked for is '{}'; rank 0 must be "
            "started with the same options",
            what,
            found,
            asked));
    }

    const NoisePlan& plan_;
    const PlanConfig& config_;
    const Graph& graph_;
};

}  // namespace

void require_asked_plan(const NoisePlan& plan, const PlanConfig& config, const Graph& graph) {
    const AskedPlanCheck asked(plan, config, graph);
    if (config.plan_file)
        asked.require_file();
    else
        asked.require_mechanism();
}

}  // namespace sotto
