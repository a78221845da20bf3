#include "training/recorders.hpp"

#include "training/training_fixtures.hpp"

namespace sotto {
namespace {

using test::expect_contains;
using test::Json;
using test::quadratic_config;
using test::TemporaryFolder;
using test::train;

TEST(Recorders, RecordsEveryKindOfRun) {
    const TemporaryFolder folder;
    const auto views = [&](const std::string& name, auto&& change) {
        TrainConfig config = quadratic_config(5, "ldp", 4);
        config.run_directory = folder.path(name);
        config.record_views = {1};
        config.record_wire = true;
        change(config);
        (void)train(config);
        return folder.path(name + "/views");
    };
    const auto view_of = [](const std::string& recorded) {
        return read_recorded_view(recorded + "/1/view.bin");
    };
    const std::string steps = views("steps", [](TrainConfig& c) {
        c.plan.mechanism = "muffliato";
        c.plan.gossip_steps = 3;
    });
    EXPECT_EQ(view_of(steps).header.gossip_steps, 3);
    EXPECT_EQ(view_of(steps).records.size(), 12U);
    EXPECT_EQ(WireReader(steps + "/wire/3/messages.bin").records(), 12U);
    EXPECT_EQ(WireReader(steps + "/wire/3/messages.bin").header().content, WireContent::messages);

    const std::string schedule = views("schedule", [](TrainConfig& c) {
        c.graph.topology.topology = Topology::exponential;
        c.graph.mixing_schedule = "one-peer";
    });
    const RecordedView changing = view_of(schedule);
    EXPECT_FALSE(changing.records[0].mixing_row == changing.records[1].mixing_row);

    for (const std::string mechanism : {"zip-dl", "homomorphic"}) {
        const std::string own =
            views(mechanism, [&](TrainConfig& c) { c.plan.mechanism = mechanism; });
        EXPECT_EQ(view_of(own).header.outputs, (std::vector<int>{0, 1, 2}));
        EXPECT_EQ(WireReader(own + "/wire/1/messages.bin").header().outputs,
                  (std::vector<int>{0, 2}));
    }

    const std::string sums = views("sums", [](TrainConfig& c) { c.secure_sum = true; });
    EXPECT_EQ(WireReader(sums + "/wire/0/messages.bin").header().content, WireContent::shares);
    const Json manifest = test::read_json(folder.path("sums/manifest.json"));
    EXPECT_EQ(manifest["recorded_wire"], true);
    expect_contains(test::read_json(folder.path("sums/ledger.json"))["statements"].dump(),
                    "The masked shares of all agents are recorded");
    expect_contains(test::read_json(folder.path("steps/ledger.json"))["statements"].dump(),
                    "The messages of all agents are recorded");

    // The wire alone: no gradients, no seeds, and no word of them.
    const std::string wire = views("wire", [](TrainConfig& c) { c.record_views = {}; });
    EXPECT_FALSE(std::filesystem::exists(wire + "/1"));
    EXPECT_EQ(test::read_json(folder.path("wire/ledger.json"))["statements"].dump().find("seeds"),
              std::string::npos);

    // A trusted mean: of agents only, and one exchange a round.
    const std::string mean = views("mean", [](TrainConfig& c) {
        c.plan.mechanism = "cdp";
        c.plan.gossip_steps = 2;
        c.record_wire = false;
    });
    EXPECT_EQ(view_of(mean).header.gossip_steps, 1);
    EXPECT_EQ(view_of(mean).records.size(), 4U);
    EXPECT_FALSE(std::filesystem::exists(mean + "/wire"));
}

TEST(Recorders, RecordsViewsAndUsesSecureSumsAsConfigured) {
    const TemporaryFolder folder;
    TrainConfig config = quadratic_config(5, "decor", 12);
    const auto models = [&](const std::string& name) {
        config.run_directory = folder.path(name);
        (void)train(config);
        std::vector<Eigen::MatrixXd> all;
        for (int u = 0; u < 5; ++u)
            all.push_back(
                read_npy(folder.path(name + "/agents/" + std::to_string(u) + "/model.npy")));
        return all;
    };
    const auto plain = models("plain");
    EXPECT_FALSE(std::filesystem::exists(folder.path("plain/views")));
    config.record_views = {1, 4};
    EXPECT_EQ(models("recorded") == plain, true);
    const RecordedView view = read_recorded_view(folder.path("recorded/views/4/view.bin"));
    EXPECT_EQ(view.records.size(), 12U);
    EXPECT_EQ(view.header.neighbours, (std::vector<int>{0, 3}));
    EXPECT_EQ(view.header.received, Received::messages);
    EXPECT_TRUE(std::filesystem::exists(folder.path("recorded/views/1/seeds.json")));

    config.secure_sum = true;
    const auto sums = models("sums");
    for (std::size_t u = 0; u < plain.size(); ++u) {
        EXPECT_FALSE(sums[u] == plain[u]);
        EXPECT_LT((sums[u] - plain[u]).cwiseAbs().maxCoeff(), 1e-9);
    }
    const RecordedView of_sums = read_recorded_view(folder.path("sums/views/1/view.bin"));
    EXPECT_EQ(of_sums.header.received, Received::sum);
    EXPECT_EQ(of_sums.records.front().received.cols(), 1);
    const Json manifest = test::read_json(folder.path("sums/manifest.json"));
    EXPECT_EQ(manifest["secure_sum"], true);
    EXPECT_EQ(manifest["recorded_views"], (std::vector<int>{1, 4}));
    expect_contains(manifest["link_encryption"], "one process");
    const std::string statements =
        test::read_json(folder.path("sums/ledger.json"))["statements"].dump();
    expect_contains(statements, "views of agents 1, 4 are recorded");
    expect_contains(statements, "learns only the weighted sum");
}

}  // namespace
}  // namespace sotto
