#include "audit/audit_options.hpp"

#include <sstream>

#include "config/run_fixtures.hpp"
#include "core/temporary_folder.hpp"
#include "options/train_options.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

TEST(AuditOptions, HaveDefaultsOfTheirAttack) {
    EXPECT_EQ(read_audit_config({}).train.plan.rounds, 20);
    EXPECT_EQ(read_audit_config({{"rounds", "7"}}).train.plan.rounds, 7);
    const AuditConfig reconstruction = read_audit_config({{"attack", "reconstruction"}});
    EXPECT_EQ(reconstruction.train.plan.rounds, 20);
    EXPECT_EQ(name_of(*reconstruction.train.task.partition), "iid");
    EXPECT_EQ(read_audit_config({{"attack", "membership"}}).train.plan.rounds, 1000);
}

TEST(AuditOptions, WithoutMeaningForTheAttackAreRefused) {
    const auto refusal = [](const OptionTexts& given) {
        return message_of<ConfigError>([&] { (void)read_audit_config(given); });
    };
    expect_contains(refusal({{"attack", "likelihood"}, {"data", "x.svm"}}),
                    "--data: has no meaning with --attack likelihood (it has one with "
                    "reconstruction, membership");
    expect_contains(refusal({{"data", "x.svm"}, {"adjacency", "record-add-remove"}}),
                    "--data: has no meaning with --attack canary-records");
    expect_contains(refusal({{"attack", "reconstruction"}, {"trials", "5"}}),
                    "--trials: has no meaning with --attack reconstruction");
    expect_contains(refusal({{"attack", "reconstruction"}, {"task", "mlp"}}),
                    "--task: has no meaning with --attack reconstruction (it has one with "
                    "membership");
    expect_contains(refusal({{"attack", "membership"}, {"hypothesis", "worst"}}),
                    "--hypothesis: has no meaning with --attack membership");
    // One that says its default says nothing.
    EXPECT_NO_THROW((void)read_audit_config({{"task", "logistic"}, {"test-fraction", "0.20"}}));
    EXPECT_NO_THROW((void)read_audit_config({{"attack", "membership"}, {"data", "x.svm"}}));
}

TEST(AuditOptions, OfDataMeanATrainingWithAnAgentAFile) {
    const TemporaryFolder folder;
    for (const char* site : {"a.csv", "b.csv", "c.csv"}) (void)folder.write(site, "x,y\n1,2\n");
    const AuditConfig config = read_audit_config({{"data", folder.path("*.csv")}});
    EXPECT_EQ(config.attack, "membership");
    EXPECT_EQ(config.train.graph.topology.agents, 3);
}

TEST(ConfigurationFileOfAnAudit, StartsItAgain) {
    const AuditConfig config = read_audit_config({{"mechanism", "decor"},
                                                  {"view", "coalition:2,5"},
                                                  {"trials", "500"},
                                                  {"width", "0.1"},
                                                  {"seed", "3"}});
    const std::string ini = as_ini(config);
    expect_contains(ini, "# Start this run again: sotto audit --config THIS_FILE\n");
    expect_contains(
        ini,
        "\n# Audit\nattack = likelihood\nview = coalition:2,5\ntargets = all\nhypothesis = all\n"
        "trials = 500\nwidth = 0.1\nchoice-shape = 1\nconfidence = 0.99\n");
    OptionTexts texts;
    std::istringstream lines(ini);
    for (std::string line; std::getline(lines, line);)
        if (const std::size_t equals = line.find(" = "); equals != std::string::npos)
            texts[line.substr(0, equals)] = line.substr(equals + 3);
    EXPECT_EQ(as_ini(read_audit_config(texts)), ini);
}

TEST(AuditOptions, AreCheckedLikeThoseOfATraining) {
    expect_contains(message_of<ConfigError>([] {
                        (void)read_audit_config({{"roster", "x"}});
                    }),
                    "--identity is needed too");
    expect_contains(message_of<ConfigError>([] {
                        (void)read_audit_config({{"attack", "x"}});
                    }),
                    "--attack");
}

TEST(ConfigOfARun, IsThatOfTheTrainingWhicheverCommandStartedIt) {
    const TemporaryFolder folder;
    const TrainConfig config = test::quadratic_config(5, "corn", 12);
    (void)folder.write("config.ini", as_ini(config));
    EXPECT_EQ(as_ini(train_config_of_run("--run", folder.path(""))), as_ini(config));

    const TemporaryFolder of_audit;
    const AuditConfig audit = read_audit_config({{"agents", "4"}, {"rounds", "7"}});
    (void)of_audit.write("config.ini", as_ini(audit));
    (void)of_audit.write("audit.json", "{}");
    EXPECT_EQ(as_ini(train_config_of_run("--run", of_audit.path(""))), as_ini(audit.train));
}

}  // namespace
}  // namespace sotto
