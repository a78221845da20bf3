#include "commands/report/report_account.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "account/account_job.hpp"
#include "commands/report/report_fixtures.hpp"
#include "config/run_fixtures.hpp"
#include "plan/lagged_noise.hpp"
#include "privacy/protection.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/views/view_losses.hpp"
#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::in_seconds;
using test::logistic_config;
using test::message_of;
using test::quadratic_config;
using test::recorded_run;
using test::report_config;
using test::TemporaryFolder;
using test::train;

TEST(ObserverFigures, AreBlankButSayWhoObservesAndWhyFiguresHold) {
    const test::TemporaryFolder folder;
    const RecordedRun run = test::recorded_run(test::quadratic_config(4, "decor", 10), folder, 4);
    const ObserverFigures all = blank_figures(run, View::Kind::all_messages, 0);
    EXPECT_EQ(all.kind, View::Kind::all_messages);
    EXPECT_EQ(all.agents, 4);
    EXPECT_EQ(all.smallest, 0);
    EXPECT_EQ(all.observers, 0);
    EXPECT_TRUE(all.epsilon.empty());
    EXPECT_EQ(all.argument.text, "all messages seen");
    EXPECT_TRUE(all.argument.sound);
    const ObserverFigures partial = blank_figures(run, View::Kind::neighbours, 1);
    EXPECT_EQ(partial.smallest, 1);
    EXPECT_EQ(partial.argument.text, "non-adaptive ([U] Theorem 8)");
    EXPECT_FALSE(partial.argument.sound) << "gradients of a training follow messages";
}

TEST(ObserverFigures, KeepTheirOrderWhateverTheThreadsAndEndInTime) {
    const std::vector<std::vector<int>> observers{{}, {0}, {1}, {2}, {0, 1}};
    const auto row = [](const std::vector<int>& members) {
        return std::vector<float>{static_cast<float>(members.size()), 1};
    };
    for (const int threads : {1, 3}) {
        ObserverFigures figures;
        add_observers(figures, observers, test::in_seconds(1000), threads, row);
        EXPECT_EQ(figures.observers, 5);
        EXPECT_EQ(figures.epsilon, (std::vector<float>{0, 1, 1, 1, 1, 1, 1, 1, 2, 1}));
        add_observers(figures, observers, test::in_seconds(-1), threads, row);
        EXPECT_EQ(figures.observers, 5) << "only the first of all is there in any case";
        ObserverFigures none;
        add_observers(none, observers, test::in_seconds(-1), threads, row);
        EXPECT_EQ(none.observers, 1);
    }
}

using Names = std::array<std::string, 3>;

TEST(ObserverWords, AreNamedAsTheAccountantIsAsked) {
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}});
    const ObserverWords all = observer_words(View::Kind::all_messages, graph),
                        some = observer_words(View::Kind::neighbours, graph),
                        sums = observer_words(View::Kind::secure_sum, graph);
    EXPECT_EQ(all.names, (Names{"eavesdropper", "all-messages", "all-messages"}));
    EXPECT_EQ(some.names, (Names{"", "node", "coalition"}));
    EXPECT_EQ(sums.names, (Names{"", "secure-sum", "secure-sum"}));
}

TEST(ObserverWords, SayWhatTheySeeAndKnow) {
    const Graph graph = Graph::from_edges(3, {{0, 1}, {1, 2}});
    const ObserverWords all = observer_words(View::Kind::all_messages, graph),
                        some = observer_words(View::Kind::neighbours, graph),
                        sums = observer_words(View::Kind::secure_sum, graph);
    EXPECT_EQ(all.sees, "every message of every agent");
    EXPECT_EQ(some.sees, "what their neighbours send to them");
    EXPECT_EQ(sums.sees, "weighted sums of what their neighbours send (secure sums)");
    EXPECT_EQ(all.nobody, "Whoever records every message");
    EXPECT_EQ(some.one_knows, ", from what its neighbours send and its seeds,");
    EXPECT_EQ(sums.several_know, ", from sums of what their neighbours send and their seeds,");
    EXPECT_EQ(sums.one, some.one);
}

TEST(ShownObservers, AreAsManySizesAsAPageHolds) {
    for (const int agents : {2, 5, 12, 20, 40, 100}) {
        const int largest = largest_shown_coalition(agents, {});
        double count = 1, more = 0;
        for (int size = 1; size <= largest; ++size) count += count_coalitions(agents, size);
        EXPECT_LE(count, most_observers) << agents;
        if (largest + 1 < agents) {
            more = count + count_coalitions(agents, largest + 1);
            EXPECT_TRUE(more > most_observers || more * agents * agents * agents > 1e10) << agents;
        }
    }
    EXPECT_EQ(largest_shown_coalition(20, {}), 4);
    EXPECT_EQ(largest_shown_coalition(100, {}), 2);
    EXPECT_EQ(largest_shown_coalition(1000, {}), 1);
    EXPECT_EQ(largest_shown_coalition(1, {}), 0);
    EXPECT_EQ(largest_shown_coalition(100000, {}), 0) << "each is too much work";
}

TEST(ShownObservers, AreOfTheSizeThatIsAskedFor) {
    EXPECT_EQ(largest_shown_coalition(20, 7), 7);
    for (const int size : {-1, 4})
        expect_contains(message_of<ConfigError>([&] { (void)largest_shown_coalition(4, size); }),
                        "is not allowed (0 to 3");
}

TEST(ShownObservers, GoBySizeThenByNumbers) {
    using List = std::vector<std::vector<int>>;
    EXPECT_EQ(coalitions_by_size(3, 0, 2), (List{{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}));
    EXPECT_EQ(coalitions_by_size(3, 1, 1), (List{{0}, {1}, {2}}));
    EXPECT_TRUE(coalitions_by_size(3, 1, 0).empty());
}

TEST(NoisePictures, ShowTheCovarianceOfThePlan) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "pairs", 6), folder, 5);
    const auto pictures = noise_pictures(run);
    ASSERT_EQ(pictures.size(), 1u);
    EXPECT_EQ(pictures[0].values, spatial_covariance(run.history.phases[0].plan));
    EXPECT_LT(pictures[0].values(0, 1), 0) << "pairs share noise of opposite signs";
    EXPECT_EQ(pictures[0].names, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
}

TEST(NoisePictures, ShowHowRoundsAreCorrelated) {
    const TemporaryFolder folder;
    TrainConfig config = logistic_config(folder, 4, "space-time", 12);
    config.plan.adjacency = Adjacency::record;
    config.plan.participation.cycle = 4;
    config.plan.spatial_mechanism = "decor";
    const RecordedRun run = recorded_run(config, folder, 4);
    const auto pictures = noise_pictures(run);
    ASSERT_EQ(pictures.size(), 2U);
    // (C_time^T C_time)^-1
    const Eigen::MatrixXd factor = dense_factor(run.history.phases[0].plan.temporal, 12);
    EXPECT_TRUE((pictures[1].values * (factor.transpose() * factor)).isIdentity(1e-8));
    EXPECT_EQ(pictures[1].names.back(), "11");
}

TEST(NoisePictures, ShowWhatEveryReceiverGets) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "zip-dl", 4), folder, 5);
    const auto pictures = noise_pictures(run);
    ASSERT_EQ(pictures.size(), 1U);
    const NoisePlan& plan = run.history.phases[0].plan;
    for (const NoiseRow& row : plan.rows) {
        double sum = 0;
        for (const double coefficient : row.coefficients)
            sum += plan.scale * plan.scale * coefficient * coefficient;
        EXPECT_NEAR(pictures[0].values(row.sender, row.receiver), sum, 1e-12 * sum);
    }
    EXPECT_EQ(pictures[0].unit, "model units squared");
}

using OrderedJson = nlohmann::ordered_json;

/// 32-bit numbers of base64.
std::vector<float> floats_of(const std::string& text) {
    std::vector<float> values(text.size());
    std::size_t bytes = 0;
    EXPECT_EQ(sodium_base642bin(reinterpret_cast<unsigned char*>(values.data()),
                                values.size() * sizeof(float),
                                text.c_str(),
                                text.size(),
                                nullptr,
                                &bytes,
                                nullptr,
                                sodium_base64_VARIANT_ORIGINAL),
              0);
    values.resize(bytes / sizeof(float));
    return values;
}

TEST(PageData, CarriesFiguresAsTheyAre) {
    const Graph graph = Graph::from_edges(2, {{0, 1}});
    ObserverFigures figures;
    figures.kind = View::Kind::secure_sum;
    figures.argument = {"non-adaptive ([U] Theorem 8)", false};
    figures.agents = 2;
    figures.smallest = 1;
    figures.observers = 2;
    figures.epsilon = {std::numeric_limits<float>::quiet_NaN(),
                       1.25F,
                       std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()};
    figures.note = "some";
    const OrderedJson json = page_figures(figures, graph);
    EXPECT_EQ(json["view"], "partial");
    EXPECT_EQ(json["guarantee"], false);
    EXPECT_EQ(json["words"]["names"], OrderedJson::array({"", "secure-sum", "secure-sum"}));
    EXPECT_EQ(json["argument"], figures.argument.text);
    EXPECT_EQ(json["sound"], false);
    EXPECT_EQ(json["smallest"], 1);
    EXPECT_EQ(json["observers"], 2);
    EXPECT_EQ(json["note"], "some");
    const auto values = floats_of(json["epsilon"]);
    ASSERT_EQ(values.size(), 4U);
    EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[3]));
    EXPECT_EQ(values[1], 1.25F);
    EXPECT_TRUE(std::isinf(values[2]));
    figures.kind = View::Kind::all_messages;
    EXPECT_EQ(page_figures(figures, graph)["view"], "all-messages");
}

TEST(PageData, CarriesPicturesRowByRow) {
    HeatMap map;
    map.title = "Noise";
    map.rows = "sender";
    map.columns = "receiver";
    map.names = {"a", "b"};
    map.values.resize(2, 2);
    map.values << 1, 2, 3, 4;
    const OrderedJson json = page_heat_map(map);
    EXPECT_EQ(floats_of(json["values"]), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(json["axes"], OrderedJson::array({"sender", "receiver"}));
    EXPECT_EQ(json["names"], OrderedJson::array({"a", "b"}));
}

TEST(PageData, CarriesTheGraphOfARun) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(4, "ldp", 3), folder, 4);
    const OrderedJson json = page_graph(run.built, run.history.phases.back().members.gone());
    EXPECT_EQ(json["labels"], OrderedJson::array({"0", "1", "2", "3"}));
    EXPECT_EQ(json["edges"].size(), run.built.topography.graph.edges().size());
    EXPECT_EQ(json["edges"][0], OrderedJson::array({0, 1}));
    EXPECT_EQ(json["directed"], false);
    EXPECT_TRUE(json["gone"].empty());
}

TEST(FullFigures, AreTheGuaranteesOfThePlanAgainstEveryCoalition) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(4, "pairs", 6), folder, 4);
    const ObserverFigures figures =
        figures_of_all_messages(run, report_config(run.config, 1), in_seconds(1000));
    EXPECT_EQ(figures.kind, View::Kind::all_messages);
    EXPECT_EQ(figures.smallest, 0);
    ASSERT_EQ(figures.observers, 5);
    ASSERT_EQ(figures.epsilon.size(), 20U);
    EXPECT_EQ(figures.note, "coalitions of up to 1 agent are in this page");
    const PrivacyPhase& phase = run.history.phases.front();
    for (int observer = -1; observer < 4; ++observer) {
        const std::vector<int> members =
            observer < 0 ? std::vector<int>{} : std::vector<int>{observer};
        const Eigen::VectorXd precision = observed_precision(phase.plan, {members});
        for (int u = 0; u < 4; ++u) {
            const float said = figures.epsilon[static_cast<std::size_t>(4 * (observer + 1) + u)];
            EXPECT_EQ(std::isnan(said), u == observer);
            if (u == observer) continue;
            const double mu =
                phase.sensitivity[static_cast<std::size_t>(u)] * std::sqrt(6 * precision(u));
            const double epsilon = guarantee_of(phase.plan, mu, run.config.plan.delta).epsilon;
            EXPECT_NEAR(said, epsilon, 1e-5 * epsilon);
        }
    }
}

TEST(FullFigures, EndWhenTheirTimeIsOver) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "ldp", 4), folder, 5);
    ReportConfig config = report_config(run.config, 2);
    config.time_limit = 7;
    const ObserverFigures figures = figures_of_all_messages(run, config, in_seconds(-1));
    EXPECT_EQ(figures.observers, 1) << "the eavesdropper, whatever it takes";
    EXPECT_EQ(figures.epsilon.size(), 5U);
    EXPECT_TRUE(figures.out_of_time);
    expect_contains(figures.note,
                    "1 of 16 observers are in this page, because of the time they take");
    expect_contains(figures.note, "--time-limit 7;");
}

TEST(PartialFigures, AreOfSumsWhereMessagesAreSummed) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 5);
    EXPECT_EQ(partial_view_of(recorded_run(config, folder, 4)), View::Kind::neighbours);
    config.secure_sum = true;
    const TemporaryFolder other;
    EXPECT_EQ(partial_view_of(recorded_run(config, other, 4)), View::Kind::secure_sum);
}

TEST(PartialFigures, AreThoseOfTheView) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "decor", 6), folder, 5);
    const ObserverFigures figures = figures_of_partial_views(
        run, report_config(run.config, 1), in_seconds(1000), in_seconds(1000));
    EXPECT_EQ(figures.smallest, 1);
    ASSERT_EQ(figures.observers, 5);
    EXPECT_TRUE(figures.note.empty());
    const auto subject = account_subject_of(run);
    const std::vector<int> targets{0, 1, 2, 4};
    const auto expected =
        view_losses(subject->process, subject->use, {View::Kind::neighbours, {3}}, targets, {});
    for (std::size_t t = 0; t < targets.size(); ++t) {
        const auto target = static_cast<std::size_t>(targets[t]);
        const double mu =
            subject->exposures[target].sensitivity * std::sqrt(expected[t].certified());
        const double epsilon = guarantee_of(subject->plan, mu, subject->delta).epsilon;
        EXPECT_NEAR(figures.epsilon[5 * 3 + target], epsilon, 1e-5 * epsilon);
    }
    EXPECT_TRUE(std::isnan(figures.epsilon[5 * 3 + 3]));
}

TEST(PartialFigures, AreThoseOfAllMessagesWhereTheAccountantTakesThem) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "pairs", 6);
    EXPECT_FALSE(all_messages_stand_for_partial_views(recorded_run(config, folder, 4)));
    const TemporaryFolder other;
    config.plan.final_gossip = 3;
    const RecordedRun run = recorded_run(config, other, 4);
    EXPECT_TRUE(all_messages_stand_for_partial_views(run));
    const ObserverFigures all =
        figures_of_all_messages(run, report_config(run.config, 1), in_seconds(1000));
    const ObserverFigures figures = figures_as_of_all_messages(run, all);
    EXPECT_EQ(figures.kind, View::Kind::neighbours);
    ASSERT_EQ(figures.observers, 4);
    const std::vector<float> rest(all.epsilon.begin() + 4, all.epsilon.end());
    for (std::size_t i = 0; i < rest.size(); ++i)
        EXPECT_TRUE(figures.epsilon[i] == rest[i] || i % 5 == 0) << i;
}

TEST(PartialFigures, EndWhenTheirTimeIsOver) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(5, "ldp", 4), folder, 5);
    const ReportConfig config = report_config(run.config, 2);
    ObserverFigures figures =
        figures_of_partial_views(run, config, in_seconds(1000), in_seconds(-1));
    EXPECT_EQ(figures.observers, 5) << "no coalition";
    figures = figures_of_partial_views(run, config, in_seconds(-1), in_seconds(1000));
    EXPECT_EQ(figures.observers, 1);
    EXPECT_TRUE(figures.out_of_time);
    expect_contains(figures.note,
                    "of 15 observers are in this page, because of the time they take");
}

TEST(PartialFigures, OfRunsThatAreTooLongAreRefused) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(2, "ldp", 5001), folder, 2);
    expect_contains(message_of<ConfigError>([&] {
                        (void)figures_of_partial_views(
                            run, report_config(run.config), in_seconds(1000), in_seconds(1000));
                    }),
                    "partial views of 5001 rounds are too much work");
}

/// Every observer of the figures, with what it learns.
std::map<std::vector<int>, std::vector<float>> by_observer(const ObserverFigures& figures) {
    std::map<std::vector<int>, std::vector<float>> result;
    long place = 0;
    for (int size = figures.smallest; size < figures.agents && place < figures.observers; ++size)
        for_each_coalition(figures.agents, size, [&](const std::vector<int>& members) {
            if (place >= figures.observers) return;
            const auto begin = figures.epsilon.begin() + place++ * figures.agents;
            result[members] = {begin, begin + figures.agents};
        });
    EXPECT_EQ(place, figures.observers);
    EXPECT_EQ(std::ssize(figures.epsilon), place * figures.agents);
    return result;
}

/// As `sotto account` calls an observer.
std::string name_of_observer(const View& view, const Graph& graph) {
    const ViewRecord* const record = record_of(view, graph);
    return name_of(ViewQuery{record, {view.members, 0}, {}});
}

/// @return how many figures are infinite.
int expect_figures_are_the_accountants(const TrainConfig& config, int size) {
    const RecordedRun run = read_recorded_run(*config.run_directory, config);
    const auto all = report_figures(run, report_config(config, size), Clock::now());
    EXPECT_EQ(all.size(), 2u);
    const auto subject = account_subject_of(run);
    const auto network = make_memory_network(1, 1);
    int infinite = 0;
    for (const ObserverFigures& figures : all) {
        EXPECT_GT(figures.observers, 0) << figures.note;
        for (const auto& [members, epsilon] : by_observer(figures)) {
            AccountConfig account;
            account.subject = subject_config_of(run);
            account.view = name_of_observer({figures.kind, members}, *subject->process.graph);
            const AccountResult result = run_account(account, *subject, *network);
            std::size_t known = 0;
            for (const float value : epsilon) known += std::isnan(value) ? 0 : 1;
            EXPECT_EQ(known, result.pairs.size()) << account.view;
            for (const PairFigure& pair : result.pairs) {
                const float said = epsilon[static_cast<std::size_t>(pair.target)];
                EXPECT_EQ(pair.argument.text, figures.argument.text);
                if (pair.guarantee.infinite()) {
                    ++infinite;
                    EXPECT_TRUE(std::isinf(said)) << account.view << " " << pair.target;
                } else {
                    EXPECT_NEAR(said, pair.guarantee.epsilon, 1e-6 * pair.guarantee.epsilon)
                        << account.view << " about " << pair.target;
                }
            }
        }
    }
    return infinite;
}

TEST(ReportFigures, AreTheAccountants) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"pairs", "ldp", "cdp", "homomorphic", "zip-dl"}) {
        SCOPED_TRACE(mechanism);
        TrainConfig config = quadratic_config(5, mechanism, 12);
        config.run_directory = folder.path(mechanism);
        train(config, 5);
        (void)expect_figures_are_the_accountants(config, 2);
    }
}

TEST(ReportFigures, AreTheAccountantsWhereAllMessagesBoundPartialViews) {
    const TemporaryFolder folder;
    for (const std::string mechanism : {"pairs", "ldp", "cdp", "homomorphic"}) {
        SCOPED_TRACE(mechanism);
        TrainConfig config = quadratic_config(5, mechanism, 12);
        if (mechanism != "homomorphic") config.plan.final_gossip = 4;
        config.run_directory = folder.path(mechanism);
        train(config, 5);
        (void)expect_figures_are_the_accountants(config, 2);
    }
    TrainConfig config = logistic_config(folder, 4, "pairs", 12);
    config.plan.adjacency = Adjacency::record_add_remove;
    config.plan.participation.poisson = true;
    config.plan.batch_size = 20;
    config.run_directory = folder.path("sampled");
    train(config, 4);
    (void)expect_figures_are_the_accountants(config, 2);
}

TEST(ReportFigures, EndWithTheirTime) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(6, "pairs", 30), folder, 6);
    ReportConfig config = report_config(run.config, 4);
    config.time_limit = 0;
    for (const ObserverFigures& figures : report_figures(run, config, Clock::now())) {
        EXPECT_EQ(figures.observers, 1);
        EXPECT_TRUE(figures.out_of_time);
    }
    config.time_limit = 1e6;
    const auto once = report_figures(run, config, Clock::now());
    config.threads = 2;
    const auto again = report_figures(run, config, Clock::now());
    for (std::size_t i = 0; i < once.size(); ++i) {
        EXPECT_FALSE(once[i].out_of_time);
        EXPECT_EQ(std::memcmp(once[i].epsilon.data(),
                              again[i].epsilon.data(),
                              once[i].epsilon.size() * sizeof(float)),
                  0);
    }
}

TEST(ReportFigures, SayThatAProtectionIsBroken) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "corn", 12);
    config.run_directory = folder.path("corn");
    train(config, 5);
    EXPECT_GT(expect_figures_are_the_accountants(config, 2), 0);
    config = quadratic_config(4, "none", 5);
    config.run_directory = folder.path("none");
    train(config, 4);
    EXPECT_GT(expect_figures_are_the_accountants(config, 1), 12);
}

TEST(ReportFigures, CountGossipStepsSchedulesAndRoundsThatAreCorrelated) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "muffliato", 8);
    config.plan.gossip_steps = 3;
    config.plan.steps.kind = StepSchedule::Kind::inverse_sqrt;
    config.run_directory = folder.path("gossip");
    train(config, 5);
    (void)expect_figures_are_the_accountants(config, 2);

    config = quadratic_config(4, "ldp", 9);
    config.graph.mixing_schedule = "random";
    config.graph.topology.topology = Topology::erdos_renyi;
    config.run_directory = folder.path("schedule");
    train(config, 4);
    (void)expect_figures_are_the_accountants(config, 1);

    config = quadratic_config(5, "ldp", 9);
    config.secure_sum = true;
    config.run_directory = folder.path("sums");
    train(config, 5);
    EXPECT_EQ(report_figures(read_recorded_run(*config.run_directory, config),
                             report_config(config, 1),
                             Clock::now())[1]
                  .kind,
              View::Kind::secure_sum);
    (void)expect_figures_are_the_accountants(config, 2);

    config = logistic_config(folder, 4, "space-time", 12);
    config.plan.adjacency = Adjacency::record;
    config.plan.participation.cycle = 4;
    config.plan.spatial_mechanism = "decor";
    config.run_directory = folder.path("correlated");
    train(config, 4);
    (void)expect_figures_are_the_accountants(config, 1);
}

TEST(ReportFigures, CountEveryPhaseOfARunInWhichAnAgentLeft) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(6, "ldp", 40);
    config.graph.topology.topology = Topology::complete;
    config.checkpoint_every = 10;
    config.noise_seed.reset();
    config.run_directory = folder.path("run");
    train(config, 6, 25);
    TrainConfig resumed = config;
    resumed.resume = ResumeConfig{*config.run_directory, {2}};
    train(resumed, 5);
    const RecordedRun run = read_recorded_run(*config.run_directory, config);
    ASSERT_EQ(run.history.phases.size(), 2u);
    EXPECT_EQ(account_subject_of(run)->process.phases.size(), 2u);
    (void)expect_figures_are_the_accountants(config, 1);
    // The ledger's headline is against the eavesdropper.
    const auto all = report_figures(run, report_config(config, 0), Clock::now());
    const auto ledger = test::read_json(folder.path("run") + "/ledger.json");
    for (const auto& agent : ledger["agents"]) {
        const auto u = agent["agent"].get<std::size_t>();
        EXPECT_NEAR(all[0].epsilon[u], agent["epsilon"].get<double>(), 1e-5) << u;
    }
}

TEST(ReportFigures, OfACoalitionThatCannotBeAreRefused) {
    const TemporaryFolder folder;
    const RecordedRun run = recorded_run(quadratic_config(4, "ldp", 5), folder, 4);
    expect_contains(message_of<ConfigError>([&] {
                        (void)report_figures(run, report_config(run.config, 4), Clock::now());
                    }),
                    "0 to 3");
}

TEST(ReportFigures, SayWhyThereAreNone) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "zip-dl", 6);
    config.l2 = 0.1;  // which partial views of noise on messages do not account for
    config.run_directory = folder.path("run");
    train(config, 5);
    const auto all = report_figures(
        read_recorded_run(*config.run_directory, config), report_config(config), Clock::now());
    EXPECT_GT(all[0].observers, 0);
    EXPECT_EQ(all[1].observers, 0);
    expect_contains(all[1].note, "no figures of this view: l2: 0.1 is not possible");
}

TEST(ReportAccount, HasGraphNoiseAndWhatObserversLearn) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "decor", 5);
    config.run_directory = folder.path("run");
    train(config, 4);
    const ReportAccount account = report_account(report_config(config, 1), Clock::now());
    EXPECT_EQ(account.graph.at("labels").size(), 4U);
    EXPECT_EQ(account.views.size(), 2U);
    EXPECT_FALSE(account.pictures.empty());
    EXPECT_EQ(account.observers, 1 + 4 + 4);
    EXPECT_TRUE(account.missing.empty());
    EXPECT_GT(account.seconds, 0);
    expect_contains(message_of<ConfigError>(
                        [&] { (void)report_account(report_config(config, 4), Clock::now()); }),
                    "0 to 3");
}

TEST(NoiseByDegree, AddsUpToTheNoiseOfThePlan) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(9, "pairs", 6);
    config.graph.topology.topology = Topology::grid;
    const RecordedRun run = recorded_run(config, folder, 9);
    const PrivacyPhase& phase = run.history.phases[0];
    const Eigen::MatrixXd covariance = spatial_covariance(phase.plan);
    const OrderedJson json = noise_by_degree(phase, 1, run.built.topography.graph);
    double sum = 0, least = 1e300, most = 0, agents = 0;
    for (const auto& row : json.at("by_degree")) {
        EXPECT_EQ(row["degrees"][0], row["degrees"][1]) << "few degrees: one row each";
        sum += row["variance"].get<double>() * row["agents"].get<double>();
        agents += row["agents"].get<double>();
        least = std::min(least, row["least"].get<double>());
        most = std::max(most, row["most"].get<double>());
        EXPECT_GT(row["shared_streams"], 1);
        EXPECT_LT(row["private"], 0.9);
    }
    EXPECT_EQ(json.at("by_degree").size(), 3u) << "corners, edges, and the middle";
    EXPECT_EQ(agents, 9);
    EXPECT_NEAR(sum, covariance.trace(), 1e-9 * sum);
    EXPECT_NEAR(least, covariance.diagonal().minCoeff(), 1e-9);
    EXPECT_NEAR(most, covariance.diagonal().maxCoeff(), 1e-9);
}

TEST(ReportAccount, OfVeryManyAgentsHasGroupsAndBoundsForEveryCuriousAgent) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(2100, "pairs", 2);
    config.plan.seed_groups = "edges";
    config.plan.plan_gap = 0.5;
    config.run_directory = folder.path("run");
    train(config, 2100);
    const ReportAccount account = report_account(report_config(config), Clock::now());
    ASSERT_EQ(account.pictures.size(), 1u);
    EXPECT_EQ(account.pictures[0].at("by_degree").size(), 1u) << "a ring";
    EXPECT_EQ(account.observers, 1) << "the eavesdropper";
    const OrderedJson& bound = account.views[0].at("bound");
    EXPECT_EQ(bound.at("size"), 1);
    const std::vector<float> outsider = floats_of(account.views[0].at("epsilon")),
                             curious = floats_of(bound.at("epsilon"));
    ASSERT_EQ(curious.size(), 2100u);
    for (std::size_t u = 0; u < curious.size(); ++u) {
        EXPECT_GE(curious[u], outsider[u]);
        EXPECT_LE(curious[u], config.plan.epsilon * 1.0001);
    }
    EXPECT_LT(account.views.dump().size() + account.pictures.dump().size(), 100'000u);
}

TEST(ReportAccount, SaysWhyThereIsNone) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(4, "ldp", 5);
    config.graph.file = folder.write("graph.edges", "0 1\n1 2\n2 3\n3 0\n");
    config.run_directory = folder.path("run");
    train(config, 4);
    (void)folder.write("graph.edges", "0 1\n1 2\n2 3\n3 0\n0 2\n");
    const ReportAccount account = report_account(report_config(config), Clock::now());
    EXPECT_TRUE(account.graph.is_null());
    EXPECT_EQ(account.observers, 0);
    ASSERT_EQ(account.missing.size(), 1U);
    expect_contains(account.missing.front(), "has changed since");
}

}  // namespace
}  // namespace sotto
