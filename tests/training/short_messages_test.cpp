#include "training/short_messages.hpp"

#include <cmath>

#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::message_of;
using test::TemporaryFolder;

/// A logistic run with this precision; the last epsilon is large, so that noise hides little.
TrainConfig of_precision(const TemporaryFolder& folder, std::optional<MessagePrecision> precision) {
    TrainConfig config = test::logistic_config(folder, 6, "pairs", 40);
    config.noise_seed = 5;
    config.precision = precision;
    return config;
}

MessagePrecision settled(const TrainConfig& config) {
    const auto network = make_memory_network(config.graph.topology.agents, 1);
    (void)test::prepare(config, *network);
    return network->message_precision();
}

std::string refused(TrainConfig config) {
    config.precision = MessagePrecision::nibble;
    return message_of<ConfigError>([&] { (void)settled(config); });
}

TEST(SettledPrecision, IsTheShortestThatIsPossible) {
    const TemporaryFolder folder;
    TrainConfig config = of_precision(folder, std::nullopt);
    EXPECT_EQ(settled(config), MessagePrecision::nibble);
    config.plan.precondition_every = 4;
    config.graph.topology.topology = Topology::ring;
    EXPECT_EQ(settled(config), MessagePrecision::float32);
    expect_contains(refused(config), "precision: nibble is not possible with --precondition-every");
    config.plan.precondition_every = 0;
    config.plan.correction = Correction::exact_diffusion;
    EXPECT_EQ(settled(config), MessagePrecision::nibble);
    config.plan.correction = Correction::tracking;
    EXPECT_EQ(settled(config), MessagePrecision::float32);
    expect_contains(refused(config),
                    "precision: nibble is not possible with --correction tracking");
    config.plan.correction = Correction::none;
    config.plan.gossip = GossipRule::optimal;
    EXPECT_EQ(settled(config), MessagePrecision::float32);
    expect_contains(refused(config), "with --gossip optimal, whose weights multiply");
    config.plan.gossip = GossipRule::plain;
    config.secure_sum = true;
    EXPECT_EQ(settled(config), MessagePrecision::float64);
    expect_contains(refused(config), "with --secure-sum on, whose shares");
    expect_contains(refused(config), "(allowed: float64)");
    config.secure_sum = false;
    config.precision = MessagePrecision::float64;
    EXPECT_EQ(settled(config), MessagePrecision::float64);
}

TEST(ExpectedPrecision, IsWhatIsSettledLater) {
    const TemporaryFolder folder;
    for (const char* mechanism : {"pairs", "cdp", "ldp"})
        for (const std::optional<MessagePrecision> asked :
             {std::optional<MessagePrecision>(), std::optional(MessagePrecision::float64)}) {
            TrainConfig config = of_precision(folder, asked);
            config.plan.mechanism = mechanism;
            const auto network = make_memory_network(config.graph.topology.agents, 1);
            const PreparedRun prepared = test::prepare(config, *network);
            EXPECT_EQ(expected_precision(config, prepared.run.topography, false),
                      network->message_precision())
                << mechanism;
        }
}

TEST(SettledPrecision, IsNoNibbleWhereDifferencesMeanNothing) {
    const TemporaryFolder folder;
    const auto with = [&](auto&& change) {
        TrainConfig config = of_precision(folder, std::nullopt);
        change(config);
        return config;
    };
    const TrainConfig receivers = with([](TrainConfig& c) {
        c.plan.mechanism = "zip-dl";
        c.plan.noise_std = 0.1;
    });
    expect_contains(refused(receivers), "with mechanism zip-dl, whose noise enters messages");
    EXPECT_EQ(settled(receivers), MessagePrecision::float32);
    const TrainConfig changing = with([](TrainConfig& c) { c.graph.mixing_schedule = "random"; });
    expect_contains(refused(changing), "with mixing that changes from round to round");
    EXPECT_EQ(settled(changing), MessagePrecision::float32);
    const TrainConfig rows = with([](TrainConfig& c) {
        c.graph.topology.topology = Topology::star;
        c.graph.mixing = "row-stochastic";
    });
    expect_contains(refused(rows), "where the mixing weights of a sender do not sum to 1");
    expect_contains(refused(rows), "(allowed: auto, float32, float64)");
    TrainConfig silent = with([](TrainConfig& c) { c.plan.mechanism = "none"; });
    EXPECT_EQ(settled(silent), MessagePrecision::float32);
    silent.precision = MessagePrecision::nibble;
    EXPECT_EQ(settled(silent), MessagePrecision::nibble);
    const TrainConfig trusted = with([](TrainConfig& c) { c.plan.mechanism = "cdp"; });
    expect_contains(refused(trusted), "whose trusted aggregator adds up float64");
    EXPECT_EQ(settled(trusted), MessagePrecision::float64);
}

TEST(SurveyPrecision, IsNeverShort) {
    TrainConfig config;
    EXPECT_EQ(survey_precision(config), MessagePrecision::float64);
    config.precision = MessagePrecision::float32;
    EXPECT_EQ(survey_precision(config), MessagePrecision::float32);
    for (const auto precision : {std::optional(MessagePrecision::nibble), {}}) {
        config.precision = precision;
        EXPECT_EQ(survey_precision(config), MessagePrecision::float64);
    }
}

TEST(ShortMessages, TrainAsWellInASixteenthOfTheBytes) {
    const TemporaryFolder folder;
    TrainConfig config = of_precision(folder, MessagePrecision::float64);
    config.run_directory = folder.path("wide");
    const TrainResult wide = test::train(config);
    config.precision = MessagePrecision::nibble;
    config.run_directory = folder.path("short");
    const TrainResult narrow = test::train(config);
    const double ratio =
        static_cast<double>(wide.bytes_sent) / static_cast<double>(narrow.bytes_sent);
    EXPECT_GT(ratio, 11);  // of 124 values a message, a tenth is head and room
    EXPECT_LT(ratio, 16);
    EXPECT_NEAR(narrow.evaluation.test_loss_mean_model, wide.evaluation.test_loss_mean_model, 0.01);
    EXPECT_NEAR(narrow.epsilon, wide.epsilon, 1e-9);
    expect_contains(test::Json::parse(read_file(folder.path("short") + "/ledger.json")).dump(),
                    "Messages are sent as differences");
}

TEST(ShortMessages, TrainAsWellWhereNoiseCancelsAtOnce) {
    // On a complete graph a plan may be as loud as --variance-cap says: what nibbles round away
    // would then drown what is learnt.
    const TemporaryFolder folder;
    TrainConfig config = of_precision(folder, MessagePrecision::float64);
    config.graph.topology.topology = Topology::complete;
    config.run_directory = folder.path("wide");
    const double wide = test::train(config).evaluation.test_loss_mean_model;
    config.precision = MessagePrecision::nibble;
    config.run_directory = folder.path("short");
    const TrainResult narrow = test::train(config);
    EXPECT_NEAR(narrow.evaluation.test_loss_mean_model, wide, 0.02);
    EXPECT_NEAR(narrow.evaluation.test_loss, wide, 0.1);
}

}  // namespace
}  // namespace sotto
