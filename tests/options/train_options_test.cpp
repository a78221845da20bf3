#include "options/train_options.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "config/run_fixtures.hpp"
#include "options/option_set.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

std::set<std::string> names_where(const std::function<bool(const OptionFacts&)>& holds) {
    std::set<std::string> names;
    for (const auto& group : train_option_set().groups())
        for (const auto& option : group.options)
            if (holds(option)) names.insert(option.name);
    return names;
}

/// The keys and values of config.ini.
OptionTexts texts_of(const std::string& ini) {
    OptionTexts texts;
    std::istringstream lines(ini);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t equals = line.find(" = ");
        if (!line.starts_with("#") && equals != std::string::npos)
            texts[line.substr(0, equals)] = line.substr(equals + 3);
    }
    return texts;
}

/// Of the run, its peers and keys; nothing in it has its default.
OptionTexts other_run() {
    return {{"precondition-every", "5"},
            {"eval-every", "6"},
            {"eval-records", "450"},
            {"optimality-gap", "off"},
            {"tensorboard", "on"},
            {"secure-sum", "on"},
            {"pad-rounds", "true"},
            {"view", "node:0;all-nodes"},
            {"protect-against", "node:2"},
            {"record-view", "2,5,eavesdropper"},
            {"checkpoint-every", "8"},
            {"noise-seed", "99"},
            {"roster", "agents.roster"},
            {"identity", "agent%r.identity"},
            {"budget-account", "account%r"},
            {"leave-file", "leave%r"},
            {"spares", "3,5"},
            {"join-file", "join%r"},
            {"neighbours", "near%r"},
            {"bootstrap", "distributed"},
            {"link-encryption", "off"},
            {"precision", "float32"},
            {"round-deadline", "2"},
            {"max-lag", "3"},
            {"robust", "trimmed:2"},
            {"faults", "silent:0.1,lie:little:1+2"},
            {"mask-partners", "3"},
            {"stall-abort", "70"},
            {"threads", "3"}};
}

/// Nothing in it has its default.
OptionTexts everything_else() {
    OptionTexts texts{{"topology", "geometric"},
                      {"agents", "7"},
                      {"edge-probability", "0.3333333333333333"},
                      {"radius", "0.7"},
                      {"graph-seed", "9223372036854775807"},
                      {"directed", "true"},
                      {"graph", "some.edges"},
                      {"mixing", "lazy-metropolis"},
                      {"mixing-schedule", "random"},
                      {"mechanism", "space-time"},
                      {"utility", "final"},
                      {"spatial-mechanism", "decor"},
                      {"temporal", "banded:3"},
                      {"temporal-restart", "40"},
                      {"epsilon", "0.30000000000000004"},
                      {"delta", "1e-7"},
                      {"calibration", "rdp"},
                      {"adjacency", "record-zero-out"},
                      {"unit-agents", "3"},
                      {"clip-norm", "learnt:0.25"},
                      {"rounds", "17"},
                      {"local-steps", "6"},
                      {"client-probability", "0.375"},
                      {"step-size", "1e-3"},
                      {"step-schedule", "piecewise:3:0.5,7:1e-05"},
                      {"noise-schedule", "auto"},
                      {"gossip-steps", "3"},
                      {"gossip", "chebyshev"},
                      {"max-bytes", "1e9"},
                      {"final-gossip", "auto"},
                      {"average", "tail:0.25"},
                      {"correction", "tracking"},
                      {"momentum", "0.9"},
                      {"batch-size", "all"},
                      {"tune", "off"},
                      {"participation", "cyclic-poisson:4"},
                      {"sampling-probability", "0.0427"},
                      {"coalition-size", "2"},
                      {"seed-groups", "circulant:4"},
                      {"common-variance", "true"},
                      {"variance-cap", "2.5e7"},
                      {"plan-gap", "0.03"},
                      {"budgets", "some.budgets"},
                      {"plan", "plan.json"},
                      {"task", "mlp"},
                      {"label", "target>0"},
                      {"label-kind", "classes"},
                      {"baseline", "on"},
                      {"ignore", "id,name"},
                      {"categorical", "cp,thal"},
                      {"missing", "indicator"},
                      {"bounds", "age=0:110,chol=-1.5:600"},
                      {"unit-column", "patient"},
                      {"unit-records", "5"},
                      {"standardise", "none"},
                      {"feature-norm", "3.5"},
                      {"hidden", "5"},
                      {"data", "a.csv,b.csv"},
                      {"test-data", "t.csv"},
                      {"test-fraction", "0.125"},
                      {"partition", "dirichlet:0.1"},
                      {"l2", "0.01"},
                      {"seed", "42"}};
    texts.merge(other_run());
    return texts;
}

TEST(TrainOptions, ThatAllRanksMustAgreeOn) {
    EXPECT_EQ(names_where([](const OptionFacts& o) { return o.ranks_must_agree; }),
              (std::set<std::string>{"task",
                                     "standardise",
                                     "feature-norm",
                                     "label",
                                     "label-kind",
                                     "ignore",
                                     "categorical",
                                     "missing",
                                     "bounds",
                                     "unit-column",
                                     "unit-records",
                                     "protect-against",
                                     "local-steps",
                                     "client-probability",
                                     "hidden",
                                     "partition",
                                     "test-fraction",
                                     "l2",
                                     "step-size",
                                     "step-schedule",
                                     "noise-schedule",
                                     "seed",
                                     "rounds",
                                     "tune",
                                     "gossip-steps",
                                     "gossip",
                                     "max-bytes",
                                     "final-gossip",
                                     "average",
                                     "correction",
                                     "momentum",
                                     "temporal",
                                     "temporal-restart",
                                     "eval-every",
                                     "precondition-every",
                                     "eval-records",
                                     "dry-run",
                                     "noise-seed",
                                     "link-encryption",
                                     "secure-sum",
                                     "mask-partners",
                                     "optimality-gap",
                                     "record-view",
                                     "checkpoint-every",
                                     "without",
                                     "precision",
                                     "round-deadline",
                                     "max-lag",
                                     "robust",
                                     "faults",
                                     "network",
                                     "finish",
                                     "joining",
                                     "spares"}));
}

TEST(TrainOptions, ThatMayStandBesideARunThatIsTakenUp) {
    EXPECT_EQ(names_where([](const OptionFacts& o) { return o.beside_run; }),
              (std::set<std::string>{"resume",         "without",          "finish",
                                     "data",           "test-data",        "roster",
                                     "identity",       "budget-account",   "threads",
                                     "stall-abort",    "checkpoint-every", "eval-every",
                                     "eval-records",   "link-encryption",  "view",
                                     "dry-run",        "bootstrap",        "network",
                                     "optimality-gap", "baseline",         "verbose",
                                     "tensorboard",    "neighbours",       "leave-file",
                                     "joining",        "spares",           "join-file"}));
}

TEST(TrainOptions, ThatDoNotReproduceTheRun) {
    EXPECT_EQ(names_where([](const OptionFacts& o) { return !o.reproduces_run; }),
              (std::set<std::string>{"resume",
                                     "without",
                                     "joining",
                                     "finish",
                                     "dry-run",
                                     "verbose",
                                     "network",
                                     "run-directory"}));
}

TEST(TrainOptions, ThatProtectAnAgentAreNeverSetByOthers) {
    const auto never = names_where([](const OptionFacts& o) { return !o.peers_may_set; });
    for (const char* name : {"epsilon",
                             "delta",
                             "noise-std",
                             "budgets",
                             "calibration",
                             "client-probability",
                             "adjacency",
                             "clip-norm",
                             "mechanism",
                             "coalition-size",
                             "participation",
                             "batch-size",
                             "plan",
                             "covariance",
                             "seed-groups",
                             "roster",
                             "identity",
                             "task",
                             "data",
                             "test-data",
                             "standardise",
                             "feature-norm",
                             "noise-seed",
                             "record-view",
                             "secure-sum",
                             "mask-partners",
                             "link-encryption",
                             "optimality-gap",
                             "eval-records",
                             "bootstrap",
                             "spatial-mechanism",
                             "budget-account",
                             "neighbours",
                             "leave-file",
                             "label",
                             "label-kind",
                             "ignore",
                             "categorical",
                             "missing",
                             "bounds",
                             "unit-column",
                             "spares",
                             "faults",
                             "unit-records",
                             "protect-against",
                             "noise-schedule",
                             "unit-agents"})
        EXPECT_TRUE(never.contains(name)) << name;
    for (const char* name : {"topology", "rounds", "seed", "step-size", "partition", "l2", "view"})
        EXPECT_FALSE(never.contains(name)) << name;
}

TEST(TrainOptions, ThatDoNotChangeResults) {
    for (const char* name : {"budget-account", "threads", "stall-abort", "tensorboard"})
        EXPECT_FALSE(changes_results(name)) << name;
    for (const char* name : {"epsilon", "data", "seed", "no-such-option"})
        EXPECT_TRUE(changes_results(name)) << name;
}

TEST(TrainOptions, ThatShapeWhatSumsHideAreAnAgentsOwnWithSums) {
    const std::set<std::string> shaping{"topology",
                                        "agents",
                                        "edge-probability",
                                        "radius",
                                        "graph-seed",
                                        "directed",
                                        "graph",
                                        "mixing",
                                        "mixing-schedule",
                                        "gossip-steps",
                                        "final-gossip",
                                        "eval-every"};
    EXPECT_EQ(names_where([](const OptionFacts& o) { return o.shapes_sums; }), shaping);
    for (const std::string& name : shaping) EXPECT_TRUE(is_own_with_secure_sums_only(name)) << name;
    for (const char* name : {"secure-sum", "mask-partners", "epsilon", "rounds", "none-such"})
        EXPECT_FALSE(is_own_with_secure_sums_only(name)) << name;
    EXPECT_EQ(own_options(TrainConfig{}).at("topology"), "erdos-renyi");
}

TEST(ConfigurationFile, KeepsItsKeysGroupsAndOrder) {
    EXPECT_EQ(
        as_ini(TrainConfig{}),
        "# Start this run again: sotto train --config THIS_FILE\n"
        "\n# Graph\ntopology = erdos-renyi\nagents = 20\nedge-probability = 0.5\n"
        "graph-seed = 0\ndirected = false\nmixing = metropolis\nmixing-schedule = fixed\n"
        "\n# Noise plan\nmechanism = pairs\nutility = horizon:200\n"
        "spatial-mechanism = pairs\ntemporal = auto\nepsilon = 10\ndelta = 1e-5\n"
        "calibration = exact\nadjacency = agent\nunit-agents = 1\nclip-norm = 0.1\nrounds = 1000\n"
        "step-size = 0.05\nstep-schedule = constant\nnoise-schedule = constant\nlocal-steps = "
        "1\nbatch-size = "
        "128\nparticipation = every\n"
        "gossip-steps = 1\ngossip = plain\nfinal-gossip = 0\naverage = none\ncorrection = none\n"
        "momentum = 0\n"
        "common-variance = false\nvariance-cap = 1e4\n"
        "\n# Task\ntask = logistic\ndata = synthetic\n"
        "test-fraction = 0.2\nlabel-kind = auto\nmissing = refuse\nunit-records = 0\n"
        "l2 = 0\nseed = 1\n"
        "\n# Run\nprecondition-every = 0\neval-every = 0\neval-records = auto\nbaseline = "
        "off\ntensorboard = "
        "off\nsecure-sum = "
        "off\npad-rounds = "
        "false\nprotect-against = eavesdropper\ncheckpoint-every = 0\n"
        "\n# Peers and keys\nbootstrap = central\nlink-encryption = on\nprecision = float64\n"
        "mask-partners = 16\nmax-lag = 0\nrobust = off\nstall-abort = "
        "300\nthreads "
        "= 0\n");
}

TEST(TrainOptions, KeepNoiseLowForARobustRuleUnlessTheyAreTold) {
    EXPECT_EQ(read_train_config({{"robust", "clip"}}).plan.variance_cap, 1.5);
    EXPECT_EQ(read_train_config({{"robust", "clip"}, {"variance-cap", "20"}}).plan.variance_cap,
              20);
    EXPECT_EQ(read_train_config({{"robust", "off"}}).plan.variance_cap, 1e4);
}

TEST(ConfigurationFile, RestoresEveryValueExactly) {
    const OptionTexts given = everything_else();
    const TrainConfig config = read_train_config(given);
    const OptionTexts written = texts_of(as_ini(config));
    EXPECT_EQ(written, given);
    const TrainConfig again = read_train_config(written);
    EXPECT_EQ(as_ini(again), as_ini(config));
    EXPECT_EQ(again.plan.epsilon, 0.1 + 0.2);
    EXPECT_EQ(again.graph.topology.edge_probability, 1.0 / 3);
    EXPECT_EQ(again.plan.steps.pieces.at(1).factor, 1e-5);
    EXPECT_EQ(again.record_views, (std::vector<int>{2, 5}));
    EXPECT_TRUE(again.record_wire);
    EXPECT_EQ(again.trust->identity, "agent%r.identity");
    // The test holds every option of config.ini but the other sources of noise.
    auto keys = names_where([](const OptionFacts& o) { return o.reproduces_run; });
    keys.erase("noise-std");
    keys.erase("covariance");
    for (const auto& [name, text] : given) keys.erase(name);
    EXPECT_EQ(keys, std::set<std::string>{});
}

TEST(ConfigurationFile, ComesFromValuesThatNobodyTyped) {
    TrainConfig config = test::quadratic_config(5, "corn", 12);
    const TrainConfig again = read_train_config(texts_of(as_ini(config)));
    EXPECT_EQ(as_ini(again), as_ini(config));
    EXPECT_EQ(again.plan.mechanism, "corn");
    EXPECT_EQ(again.plan.utility.horizon, 10);
    EXPECT_EQ(again.noise_seed, 17U);
}

TEST(ConfigurationFile, OfTheLastVersionIsRead) {
    // Other spellings of the same numbers, and a budget beside the noise that replaced it.
    const TrainConfig config = read_train_config({{"delta", "0.00001"},
                                                  {"variance-cap", "10000"},
                                                  {"epsilon", "10"},
                                                  {"noise-std", "1.50"},
                                                  {"record-view", "5,2"},
                                                  {"common-variance", "false"}});
    EXPECT_EQ(config.plan.delta, PlanConfig{}.delta);
    EXPECT_EQ(config.plan.variance_cap, PlanConfig{}.variance_cap);
    EXPECT_EQ(config.plan.noise_std, 1.5);
    expect_contains(as_ini(config), "record-view = 2,5\n");
    expect_contains(as_ini(config), "\nnoise-std = 1.5\n");
}

TEST(ConfigurationFile, RefusesAValueItCannotHoldBeforeAnythingStarts) {
    expect_contains(message_of<ConfigError>([] {
                        (void)read_train_config({{"data", "a#b.svm"}});
                    }),
                    "--data: 'a#b.svm' holds a # or a line break");
}

TEST(AgreementOfRanks, IsAboutValuesAndNotAboutTheirSpelling) {
    const auto lines = [](const OptionTexts& given) {
        return agreement_lines(read_train_config(given));
    };
    EXPECT_EQ(lines({}), lines({{"test-fraction", "0.20"}, {"seed", "1"}, {"epsilon", "3"}}));
    EXPECT_NE(lines({}), lines({{"rounds", "999"}}));
    expect_contains(lines({}), "--rounds 1000\n");
    expect_contains(lines({}), "--dry-run off\n");
    expect_contains(lines({}), "--partition not given\n");
    EXPECT_NE(lines({{"noise-seed", "1"}}), lines({{"noise-seed", "2"}}));
    EXPECT_NE(lines({{"noise-seed", "1"}}), lines({}));
}

TEST(TrainConfigThatIsRead, IsThatOfItsTask) {
    const TrainConfig config = read_train_config({{"task", "averaging"}});
    EXPECT_EQ(config.plan.steps.step_size, 1);
    EXPECT_EQ(config.plan.batch_size, std::nullopt);
    EXPECT_EQ(config.l2, 1);
    EXPECT_EQ(name_of(*config.task.partition), "iid");
}

TEST(TrainConfigThatIsRead, IsChecked) {
    EXPECT_THROW((void)read_train_config({{"roster", "x"}}), ConfigError);
    EXPECT_THROW((void)read_train_config({{"without", "1"}}), ConfigError);
    EXPECT_THROW((void)read_train_config({{"noise-std", "1"}, {"epsilon", "3"}}), ConfigError);
}

TEST(EveryTrainOption, HasHelpAndAGroupAndOneName) {
    std::set<std::string> names;
    for (const auto& group : train_option_set().groups()) {
        EXPECT_FALSE(group.title.empty());
        for (const auto& option : group.options) {
            EXPECT_TRUE(names.insert(option.name).second) << option.name;
            EXPECT_FALSE(option.help.empty()) << option.name;
        }
    }
}

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
                        "x.ini: '" + name + "' is not an option that a run keeps");
    }
}

TEST(NoiseOfAGivenDeviation, LeavesNoRoomForABudget) {
    PlanConfig config;
    config.epsilon = 3;
    require_one_source_of_noise(config);
    config.noise_std = 1;
    expect_contains(message_of<ConfigError>([&] { require_one_source_of_noise(config); }),
                    "--noise-std: --epsilon is given too");
    config.epsilon = PlanConfig{}.epsilon;
    require_one_source_of_noise(config);
    config.budgets_file = "budgets";
    expect_contains(message_of<ConfigError>([&] { require_one_source_of_noise(config); }),
                    "--noise-std: --budgets is given too");
}

TEST(CovarianceOfOnesOwn, IsThereWhereTheMechanismTakesOne) {
    PlanConfig config;
    require_covariance_file(config);
    config.covariance_file = "R.npy";
    expect_contains(message_of<ConfigError>([&] { require_covariance_file(config); }),
                    "--covariance: not possible with mechanism pairs (allowed: covariance)");
    config.mechanism = "covariance";
    require_covariance_file(config);
    config.covariance_file.reset();
    expect_contains(message_of<ConfigError>([&] { require_covariance_file(config); }),
                    "--mechanism: covariance needs --covariance FILE.npy too");
}

TEST(RosterAndIdentity, AreNeededTogether) {
    TrainConfig config;
    require_roster_with_identity(config);
    config.trust = TrustConfig{"roster", ""};
    expect_contains(message_of<ConfigError>([&] { require_roster_with_identity(config); }),
                    "--roster: --identity is needed too");
    config.trust = TrustConfig{"", "identity"};
    expect_contains(message_of<ConfigError>([&] { require_roster_with_identity(config); }),
                    "--identity: --roster is needed too");
    config.trust = TrustConfig{"roster", "identity"};
    require_roster_with_identity(config);
}

TEST(AgentsThatLeave, LeaveARunThatIsTakenUp) {
    TrainConfig config;
    require_resumed_run(config);
    config.resume = ResumeConfig{"", {1}};
    expect_contains(message_of<ConfigError>([&] { require_resumed_run(config); }),
                    "--without: --resume DIR is needed too");
    config.resume->directory = "runs/a";
    require_resumed_run(config);
}

TEST(RunsThatEnd, AreTakenUpByAll) {
    TrainConfig config;
    config.resume = ResumeConfig{.directory = "", .without = {}, .finish = true};
    expect_contains(message_of<ConfigError>([&] { require_resumed_run(config); }),
                    "--finish: --resume DIR is needed too");
    config.resume->directory = "runs/a";
    require_resumed_run(config);
    config.resume->without = {1};
    expect_contains(message_of<ConfigError>([&] { require_resumed_run(config); }),
                    "--finish: not possible with --without");
}

TEST(NetworksThatAreNotThere, AreForDryRuns) {
    TrainConfig config;
    require_dry_run_with_network(config);
    config.network = NetworkSpec{0.01, 1e8, std::nullopt, std::nullopt};
    expect_contains(message_of<ConfigError>([&] { require_dry_run_with_network(config); }),
                    "--network: --dry-run is needed too");
    config.dry_run = true;
    require_dry_run_with_network(config);
}

TEST(PaddedRounds, AreThoseOfSampledBatches) {
    TrainConfig config;
    config.pad_rounds = true;
    EXPECT_THROW(require_sampling_with_padding(config), ConfigError);
    config.plan.participation.poisson = true;
    EXPECT_NO_THROW(require_sampling_with_padding(config));
    EXPECT_NO_THROW(require_sampling_with_padding(TrainConfig{}));
}

TEST(UnitsOfRecords, AreProtectedWhereRecordsAre) {
    TrainConfig config;
    config.task.table.unit = "patient";
    expect_contains(message_of<ConfigError>([&] { require_records_of_units(config); }),
                    "unit-column: patient");
    config.plan.adjacency = Adjacency::record;
    EXPECT_NO_THROW(require_records_of_units(config));
}

TEST(AllChecks, AreMade) {
    TrainConfig config;
    settle_train_config(config);
    TrainConfig noise = config, trust = config, resume = config;
    noise.plan.noise_std = 1;
    noise.plan.epsilon = 3;
    trust.trust = TrustConfig{"roster", ""};
    resume.resume = ResumeConfig{"", {1}};
    TrainConfig units = config;
    units.task.table.unit = "patient";
    for (TrainConfig* bad : {&noise, &trust, &resume, &units})
        EXPECT_THROW(settle_train_config(*bad), ConfigError);
}

OptionSet<TrainConfig> run_option_set() { return OptionSet<TrainConfig>().add(run_options()); }

TEST(RecordedViews, FillTwoMembersAndComeBackAsOneText) {
    const TrainConfig config = run_option_set().read({{"record-view", "eavesdropper,3"}});
    EXPECT_EQ(config.record_views, (std::vector<int>{3}));
    EXPECT_TRUE(config.record_wire);
    EXPECT_EQ(find_option(run_option_set().written(config), "record-view")->text, "3,eavesdropper");
    EXPECT_EQ(find_option(run_option_set().written(), "record-view")->text, std::nullopt);
}

TEST(ResumedRun, IsADirectoryAndAgentsThatLeave) {
    const TrainConfig config = run_option_set().read({{"resume", "runs/a"}, {"without", "4,1"}});
    ASSERT_TRUE(config.resume);
    EXPECT_EQ(config.resume->directory, "runs/a");
    EXPECT_EQ(config.resume->without, (std::vector<int>{1, 4}));
    EXPECT_EQ(find_option(run_option_set().written(config), "without")->text, "1,4");
    EXPECT_FALSE(run_option_set().read({}).resume);
    EXPECT_EQ(find_option(run_option_set().written(), "resume")->text, std::nullopt);
}

TEST(OptimalityGap, IsLeftOpenUnlessItIsGiven) {
    EXPECT_EQ(run_option_set().read({}).optimality_gap, std::nullopt);
    EXPECT_EQ(run_option_set().read({{"optimality-gap", "off"}}).optimality_gap, false);
}

}  // namespace
}  // namespace sotto
