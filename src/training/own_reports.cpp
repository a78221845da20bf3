#include "training/own_reports.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/file_batch.hpp"

namespace sotto {

std::string to_json(const AgentReport& report) {
    const nlohmann::ordered_json json{{"gradients_set_to_zero", report.gradients_set_to_zero},
                                      {"records_set_to_zero", report.records_set_to_zero},
                                      {"messages_limited", report.messages_limited}};
    return json.dump(2) + "\n";
}

void write_own_reports(const RunDirectory& directory, const Trainer& trainer) {
    FileBatch together;
    for (std::size_t a = 0; a < trainer.agents().size(); ++a)
        directory.write_for(trainer.agents()[a].number, "report.json", to_json(trainer.report(a)));
    together.commit();
}

std::string own_reports_text(const Trainer& trainer) {
    AgentReport total;
    int agents = 0;
    for (std::size_t a = 0; a < trainer.agents().size(); ++a) {
        const AgentReport& report = trainer.report(a);
        if (report.empty()) continue;
        ++agents;
        total.gradients_set_to_zero += report.gradients_set_to_zero;
        total.records_set_to_zero += report.records_set_to_zero;
        total.messages_limited += report.messages_limited;
    }
    if (agents == 0) return {};
    return fmt::format(
        "{} of {} agents: {} gradients and {} gradients of records were not finite and counted as "
        "zero, {} messages held values beyond {:.3g} (agents/<agent>/report.json)",
        agents,
        trainer.agents().size(),
        total.gradients_set_to_zero,
        total.records_set_to_zero,
        total.messages_limited,
        trainer.message_limit());
}

}  // namespace sotto
