#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulation/disk.hpp"
#include "simulation/observer.hpp"
#include "simulation/run_schedule.hpp"
#include "simulation/wire.hpp"
#include "simulation/world.hpp"

namespace sotto::simulation {

/// One start of a job: its ranks, what is between them and under them, and who watches.
struct Job {
    Job(WorldOptions options, const Uses& before, bool link_encryption)
        : world(std::move(options)),
          wire(world, world.options().seed),
          disk(world, world.options().seed),
          observer(world, before),
          encrypted(link_encryption) {
        for (int place = 0; place < world.size(); ++place)
            randomness.emplace_back(world.options().seed, 100 + static_cast<std::uint64_t>(place));
    }
    World world;
    Wire wire;
    Disk disk;
    Observer observer;
    bool encrypted;
    Planted planted = Planted::nothing;
    std::vector<Random> randomness;  ///< what each rank's operating system gives it
    Random deviation{world.options().seed, 4};
};

/// Of this process. @throws nothing: only called by its ranks.
[[nodiscard]] Job& job();
void set_job(Job* job);

/// Random bytes are a function of this seed from now on, outside ranks.
void seed_randomness(std::uint64_t seed);
/// The identity of a host's start is a file of the host.
[[nodiscard]] std::string boot_file_of(const Rank& rank);
/// Standard error and output of every rank are kept apart.
void keep_lines_apart();

}  // namespace sotto::simulation
