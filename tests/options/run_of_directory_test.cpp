#include "options/run_of_directory.hpp"

#include "config/run_fixtures.hpp"
#include "options/train_options.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

TEST(RunOfADirectory, IsWhatItsConfigurationFileSays) {
    const TemporaryFolder folder;
    const TrainConfig config = test::quadratic_config(5, "corn", 12);
    (void)folder.write("config.ini", as_ini(config));
    const ConfigText kept = config_of_run("--run", folder.path(""));
    expect_contains(kept.source, "config.ini");
    EXPECT_EQ(as_ini(train_config_of(kept)), as_ini(config));
}

TEST(RunOfADirectory, IsRefusedWithTheOptionThatNamedIt) {
    const TemporaryFolder folder;
    expect_contains(
        message_of<ConfigError>([&] { (void)config_of_run("--resume", folder.path("none")); }),
        "holds no run (there is no config.ini)");
    expect_contains(message_of<ConfigError>([] {
                        (void)train_config_of({"epsilom = 3\n", "x.ini"});
                    }),
                    "x.ini: there is no option 'epsilom'; did you mean 'epsilon'?");
}

TEST(RunOfADirectory, KeepsNothingThatEveryStartDecides) {
    EXPECT_NO_THROW(require_kept_options({as_ini(test::quadratic_config(5, "corn", 12)), "x.ini"}));
    for (const char* line : {"without = 1,2",
                             "dry-run = true",
                             "resume = elsewhere",
                             "run-directory = elsewhere",
                             "json = out",
                             "config = other.ini"}) {
        const std::string name(line, std::string_view(line).find(' '));
        expect_contains(message_of<ConfigError>([&] {
                            require_kept_options({std::string(line) + "\n", "x.ini"});
                        }),
                        "x.ini: '" + name + "' is nothing that a run keeps");
    }
}

}  // namespace
}  // namespace sotto
