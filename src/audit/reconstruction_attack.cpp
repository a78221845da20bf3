#include "audit/reconstruction_attack.hpp"

#include "audit/contributed_rows.hpp"
#include "audit/reconstruction_analysis.hpp"
#include "sotto/core/files.hpp"

namespace sotto {

namespace {

constexpr const char* rows_file = "rows.npy";

class ReconstructionAttack final : public Attack {
  public:
    ReconstructionAttack(AuditConfig config, AuditSubject subject, Rows rows)
        : Attack(std::move(config), std::move(subject)), rows_(std::move(rows)) {}

    std::function<LocalTask()> inputs(const Network& network) const override {
        return [this, &network] { return make_rows_task(rows_, network); };
    }
    void write_inputs(const RunDirectory& directory) const override {
        write_npy(directory.path() / rows_file, rows_.values, Readers::owner);
    }
    std::unique_ptr<AuditResult> analyse(const std::filesystem::path& folder) const override {
        return std::make_unique<ReconstructionResult>(
            analyse_reconstruction(folder / "views",
                                   subject().process,
                                   subject().view,
                                   rows_,
                                   config().level,
                                   config().train.threads));
    }

  private:
    Rows rows_;
};

std::unique_ptr<Attack> start_reconstruction_attack(AuditConfig config,
                                                    AuditSubject subject,
                                                    Network& network) {
    Rows rows;
    network.agree([&] {
        rows = public_rows(config.train.plan, *subject.account);
        if (config.run)
            rows.values = recorded_rows(std::filesystem::path(*config.run) / rows_file,
                                        subject.topography.graph.agents());
    });
    if (!config.run)
        rows =
            read_rows(std::move(rows), config.train, subject.account->plan.distribution(), network);
    return std::make_unique<ReconstructionAttack>(
        std::move(config), std::move(subject), std::move(rows));
}

}  // namespace

AttackRecord reconstruction_attack() {
    return {.name = "reconstruction",
            .help = "the data of all agents, in private mean estimation",
            .fixed_inputs = true,
            .sampled = false,
            .options = {"data", "partition"},
            .defaults = {{"rounds", "20"}, {"partition", "iid"}},
            .start = start_reconstruction_attack};
}

}  // namespace sotto
