#include "audit/likelihood_attack.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "audit/audit_design.hpp"
#include "audit/likelihood_analysis.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

namespace {

/// The canaries of a run that was made before, and what the accountant says about them.
AuditDesign recorded_design(const AuditConfig& config, const AuditSubject& subject) {
    const std::string file = (std::filesystem::path(*config.run) / "canaries.json").string();
    AuditDesign design = canaries_from_json(read_file(file), file);
    if (design.target >= subject.topography.graph.agents() ||
        design.hypotheses.front().signs.size() != subject.process.rounds())
        throw DataError(fmt::format("{}: canaries of another run", file));
    if (config.target && *config.target != design.target)
        throw ConfigError(fmt::format(
            "--target: {} is not possible with --run {}, whose canaries are of agent {}",
            *config.target,
            *config.run,
            design.target));
    if (std::ranges::binary_search(subject.view.members, design.target))
        throw ConfigError(
            fmt::format("--view: {} holds agent {}, whose canaries the run has; name others",
                        config.view,
                        design.target));
    return accounted(std::move(design), subject, config.train.threads);
}

class LikelihoodAttack final : public Attack {
  public:
    LikelihoodAttack(AuditConfig config, AuditSubject subject, AuditDesign design)
        : Attack(std::move(config), std::move(subject)), design_(std::move(design)) {}

    std::function<LocalTask()> inputs(const Network& network) const override {
        return [this, &network] { return make_canary_task(design_, divisor(), network); };
    }
    void write_inputs(const RunDirectory& directory) const override {
        directory.write("canaries.json", canaries_json(design_));
    }
    std::unique_ptr<AuditResult> analyse(const std::filesystem::path& folder) const override {
        return std::make_unique<LikelihoodResult>(analyse_likelihood(folder / "views",
                                                                     subject().process,
                                                                     subject().view,
                                                                     design_,
                                                                     subject().account->delta,
                                                                     config().level,
                                                                     config().train.threads));
    }

  private:
    /// One record of the target is that part of a contribution.
    [[nodiscard]] double divisor() const {
        if (protects_agents(config().train.plan.adjacency)) return 1;
        const auto target = static_cast<std::size_t>(design_.target);
        return static_cast<double>(subject().account->exposures[target].batch_size);
    }

    AuditDesign design_;
};

std::unique_ptr<Attack> start_likelihood_attack(AuditConfig config,
                                                AuditSubject subject,
                                                Network& network) {
    AuditDesign design;
    network.agree([&] {
        design = config.run ? recorded_design(config, subject) : design_audit(config, subject);
    });
    return std::make_unique<LikelihoodAttack>(
        std::move(config), std::move(subject), std::move(design));
}

}  // namespace

AttackRecord likelihood_attack() {
    return {.name = "likelihood",
            .help = "which of two contributions an agent made",
            .fixed_inputs = true,
            .sampled = false,
            .options = {"target", "hypothesis", "trials", "width"},
            .defaults = {{"rounds", "20"}},
            .start = start_likelihood_attack};
}

}  // namespace sotto
