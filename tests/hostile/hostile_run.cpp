#include "hostile/hostile_run.hpp"

#include "training/training_fixtures.hpp"

namespace sotto::test {

namespace {

const TemporaryFolder& run_folder() {
    static const TemporaryFolder made;
    return made;
}

std::filesystem::path make_run() {
    const TrainConfig config = hostile_run_config();
    (void)train(config);
    const std::filesystem::path run = *config.run_directory;
    write_file_atomically(run / "own.checkpoint",
                          checkpoints_in(run / "checkpoints/000000000008").read(0));
    return run;
}

}  // namespace

TrainConfig hostile_run_config() {
    TrainConfig config = quadratic_config(3, "decor", 12);
    config.threads = 1;
    config.checkpoint_every = 4;
    config.record_views = {0};
    config.record_wire = true;
    config.run_directory = run_folder().path("run");
    return config;
}

const std::filesystem::path& hostile_run() {
    static const std::filesystem::path run = make_run();
    return run;
}

}  // namespace sotto::test
