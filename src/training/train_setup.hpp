#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "options/general_options.hpp"
#include "options/written_options.hpp"
#include "sotto/net/network.hpp"
#include "store/restored_files.hpp"

namespace sotto {

/// What a training was asked for, by every process for itself.
struct TrainSetup {
    TrainConfig config;
    GeneralOptions general;
    /// What rank 0 had lost of the run and was given back; gone with this after a dry run.
    std::shared_ptr<RestoredFiles> restored;
};

/// Reads the options of a training; of one that is taken up, config.ini as rank 0 has it, beside
/// them. COLLECTIVE. @param ranks where processes agree about options, before anybody knows about
/// agents.  @param alone whether this process was started by itself.
/// @param options of `sotto train`.
/// @throws ConfigError, NetworkError, the same on every process.
[[nodiscard]] TrainSetup read_train_setup(Network& ranks,
                                          const std::vector<std::string>& arguments,
                                          bool alone,
                                          const std::vector<WrittenGroup>& options);

/// Agents of this process, where it is alone. LOCAL.
[[nodiscard]] int agents_alone(const TrainConfig& config);
/// Agents of all ranks; of a run that is taken up rank 0 knows them. COLLECTIVE.
[[nodiscard]] int agents_of_ranks(Network& ranks, const TrainConfig& config);

}  // namespace sotto
