// The history of a run that is resumed: rank 0's file, and what it broadcasts of it with the plans
// of the phases. First byte: whether the packed message, the history or a plan is changed.

#include "config/config.hpp"
#include "core/bytes.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/run_history.hpp"
#include "support.hpp"
#include "training/resume.hpp"

using namespace sotto;

namespace {

NoisePlan private_plan(int agents) {
    NoisePlan plan;
    plan.mechanism = "ldp";
    plan.agents = agents;
    plan.scale = 0.5;
    plan.grid_step_log2 = -30;
    for (int u = 0; u < agents; ++u) {
        plan.groups.push_back({{u}});
        plan.streams.push_back({u, 0, StreamDistribution::gaussian});
        plan.rows.push_back({u, NoiseRow::all_receivers, {u}, {1}});
    }
    return plan;
}

PrivacyPhase phase_of(std::vector<int> numbers, long first_round, long rounds) {
    PrivacyPhase phase;
    phase.members = {3, std::move(numbers)};
    phase.plan = private_plan(phase.members.size());
    phase.sensitivity.assign(phase.members.numbers.size(), 0.2);
    phase.use.steps.first_round = first_round;
    phase.use.own_weights = Eigen::VectorXd::Constant(phase.members.size(), 0.5);
    phase.sampling_probability.assign(phase.members.numbers.size(), 1);
    phase.sessions.resize(1);
    phase.sessions.front().fill(static_cast<std::uint8_t>(first_round));
    phase.rounds = rounds;
    return phase;
}

/// Of three agents, one of which left after 20 of 60 rounds.
RunHistory real_history() {
    RunHistory history;
    history.rounds = 60;
    history.starts = 2;
    history.phases = {phase_of({0, 1, 2}, 0, 22), phase_of({0, 2}, 20, 40)};
    history.phases[1].key_epoch = 1;
    return history;
}

/// What is accepted fits together, and comes back from its own text.
void check(const RunHistory& history) {
    fuzz::require(!history.phases.empty() && history.rounds > 0 && history.starts >= 0);
    std::vector<std::string> plans;
    for (const PrivacyPhase& phase : history.phases) {
        phase.plan.validate();
        fuzz::require(phase.plan.agents == phase.members.size());
        fuzz::require(phase.sensitivity.size() == phase.members.numbers.size());
        fuzz::require(phase.members.all == history.phases.front().members.all);
        fuzz::require(phase.rounds >= 0 && phase.rounds <= history.rounds);
        for (const double sensitivity : phase.sensitivity) fuzz::require(sensitivity >= 0);
        plans.push_back(to_json(phase.plan));
    }
    const std::string text = to_json(history);
    fuzz::require(to_json(history_from_json(text, plans, "again")) == text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Changes changes(data, size);
    const std::uint8_t kind = changes.byte();
    const RunHistory real = real_history();
    std::vector<std::string> texts{to_json(real)};
    for (const PrivacyPhase& phase : real.phases) texts.push_back(to_json(phase.plan));
    const std::size_t changed = kind % 4;
    if (changed < texts.size()) texts[changed] = changes.apply(std::move(texts[changed]));
    ByteWriter writer;
    for (const std::string& text : texts) writer.put_text(text);
    std::string packed = writer.take();
    if (changed == texts.size()) packed = changes.apply(std::move(packed));
    fuzz::ScriptedNetwork network(3, 1, packed, nullptr);
    RunHistory history;
    if (fuzz::accepts([&] { history = share_history(network, ResumeConfig{}, 1e6); }))
        check(history);
    return 0;
}
