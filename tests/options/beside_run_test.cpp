#include "options/beside_run.hpp"

#include "config/run_fixtures.hpp"
#include "options/general_options.hpp"
#include "options/train_options.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;

std::vector<WrittenGroup> groups() { return with_general(train_option_set().written()); }

TEST(OptionsBesideARun, AreThoseThatSayHowTheJobRuns) {
    EXPECT_NO_THROW(require_beside_run(
        groups(), {{"resume", "runs/a"}, {"threads", "2"}, {"json", "-"}, {"quiet", "true"}}, ""));
    const std::string refusal = message_of<ConfigError>([] {
        require_beside_run(
            groups(), {{"resume", "runs/a"}, {"rounds", "3"}}, "cannot be given with --resume");
    });
    expect_contains(refusal, "--rounds: cannot be given with --resume (allowed: ");
    expect_contains(refusal, "resume, without");
    EXPECT_EQ(refusal.find("rounds,"), std::string::npos);
}

TEST(OptionsBesideARun, MayBeMoreForOneCommand) {
    EXPECT_THROW(require_beside_run(groups(), {{"config", "x"}}, ""), ConfigError);
    EXPECT_NO_THROW(require_beside_run(groups(), {{"config", "x"}}, "", {"config"}));
}

}  // namespace
}  // namespace sotto
