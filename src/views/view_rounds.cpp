#include "views/view_rounds.hpp"

namespace sotto {

ViewRounds::ViewRounds(const MessageProcess& process,
                       const View& view,
                       const std::vector<LaggedNoise>& noises)
    : process_(process),
      view_(view),
      noises_(noises),
      same_to_all_(process.plan->same_message_to_all()),
      rounds_(process_rounds(process)) {
    for (std::size_t i = 0; i < process.phases.size(); ++i)
        phases_.push_back(phase_agents(process, view, i));
    for (const NoiseStretch& stretch : rounds_.stretches)
        sources_.push_back(noise_sources(*stretch.plan, view));
}

}  // namespace sotto
