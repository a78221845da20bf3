#include "sotto/agent/recorded_view.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sotto/core/files.hpp"
#include "unit/agent/agent_fixtures.hpp"
#include "unit/learn/test_data.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using ::sotto::testing::TemporaryFolder;

constexpr int agents = 5;
constexpr Eigen::Index dimension = 20000;  // delivered in pieces
constexpr long rounds = 4;
const std::vector<int> recorded{0, 2, 4};

enum class Way { messages, sums, mean };

/// Everybody's messages, and what the recorder wrote beside.
struct RecordedRun {
    test::Recording seen;
    std::vector<RecordedView> views;
    NoisePlan plan;
    Topography topography;
};

class Both final : public RoundObserver {
  public:
    Both(RoundObserver& first, RoundObserver* second) : first_(first), second_(second) {}
    void on_message(long round, std::size_t local, const OwnRound& own) override {
        first_.on_message(round, local, own);
        if (second_ != nullptr) second_->on_message(round, local, own);
    }
    void on_received(long round,
                     std::size_t local,
                     Eigen::Index first,
                     Eigen::Index count,
                     std::span<const double* const> columns) override {
        if (second_ != nullptr) second_->on_received(round, local, first, count, columns);
    }
    void on_sum(long round,
                std::size_t local,
                Eigen::Index first,
                std::span<const double> sum) override {
        if (second_ != nullptr) second_->on_sum(round, local, first, sum);
    }
    void on_mixed(long round, std::size_t local) override {
        if (second_ != nullptr) second_->on_mixed(round, local);
    }

  private:
    RoundObserver& first_;
    RoundObserver* second_;
};

RecordedRun run(Way way, const fs::path* folder, int threads = 2) {
    Topography topography = test::topography_of(Topology::erdos_renyi, agents, 0.6);
    const NoisePlan plan = test::plan_of(
        {"", way == Way::mean ? "cdp" : "decor", {}}, topography, test::uneven_limits(agents));
    const auto network = make_memory_network(agents, threads);
    network->connect(topography.graph);
    const auto rings = distribute_seeds(*network, plan, 5);
    std::vector<LocalAgent> local;
    for (int u = 0; u < agents; ++u)
        local.push_back(test::local_agent(
            u,
            std::make_unique<test::FunctionObjective>(
                dimension,
                [u](const Eigen::VectorXd& x) {
                    return Eigen::VectorXd(0.01 * x + test::pattern_gradient(u, dimension));
                }),
            1));
    TrainerOptions options;
    options.steps = {StepSchedule::Kind::inverse_sqrt, 0.1, {}};
    options.threads = threads;
    Trainer trainer(*network,
                    MixingSchedule({topography.mixing}),
                    plan,
                    NoiseSource(plan, rings, threads),
                    std::move(local),
                    Eigen::VectorXd::Constant(dimension, 0.5),
                    options);
    auto secrets = test::pair_secrets(agents);
    if (way == Way::sums) {
        std::vector<SecureSum> sums;
        for (PairSecrets& own : secrets) sums.emplace_back(topography.graph, own, 0, 16);
        trainer.use_secure_sums(std::move(sums));
    }
    test::Recorder recorder(dimension, agents);
    std::optional<ViewRecorder> views;
    if (folder != nullptr) {
        const Received received = way == Way::mean   ? Received::mean
                                  : way == Way::sums ? Received::sum
                                                     : Received::messages;
        views.emplace(*folder,
                      network->local_agents(),
                      recorded,
                      topography.graph,
                      plan,
                      ViewRecorder::Setup{dimension, received, 0});
        for (const KeyRing& ring : rings)
            if (ring.agent() == 2) record_seeds(*folder, plan, ring);
    }
    Both both(recorder, views ? &*views : nullptr);
    trainer.observe(&both);
    for (long t = 0; t < rounds; ++t) trainer.run_round(t);
    recorder.recording.last = trainer.models();
    RecordedRun result{std::move(recorder.recording), {}, plan, topography};
    if (!views) return result;
    views->finish();
    for (const int u : recorded)
        result.views.push_back(read_recorded_view(*folder / std::to_string(u) / "view.bin"));
    return result;
}

TEST(RecordedView, HoldsWhatTheAgentMadeSentAndReceived) {
    for (const Way way : {Way::messages, Way::sums, Way::mean}) {
        const TemporaryFolder temporary;
        const fs::path folder = temporary.path("views");
        const RecordedRun made = run(way, &folder);
        for (const RecordedView& view : made.views) {
            const int u = view.header.agent;
            const auto neighbours = made.topography.graph.neighbours(u);
            EXPECT_EQ(view.header.agents, agents);
            EXPECT_EQ(view.header.dimension, dimension);
            EXPECT_EQ(view.header.neighbours,
                      std::vector<int>(neighbours.begin(), neighbours.end()));
            EXPECT_EQ(view.header.plan_hash, to_hex(made.plan.hash()));
            ASSERT_EQ(view.records.size(), static_cast<std::size_t>(rounds));
            const auto row = made.topography.mixing.weights(u);
            for (std::size_t t = 0; t < view.records.size(); ++t) {
                const RecordedRound& round = view.records[t];
                EXPECT_EQ(round.round, static_cast<long>(t));
                EXPECT_EQ(round.step_size, 0.1 / std::sqrt(static_cast<double>(t + 1)));
                EXPECT_TRUE(round.before == made.seen.before[t].col(u));
                EXPECT_TRUE(round.gradient == made.seen.gradients[t].col(u));
                EXPECT_TRUE(round.message == made.seen.messages[t].col(u));
                EXPECT_TRUE(round.message ==
                            round.before - round.step_size * (round.gradient + round.noise));
                // The aggregator adds all noise.
                EXPECT_EQ(round.noise.cwiseAbs().maxCoeff() > 0, way != Way::mean || u == 0);
                ASSERT_EQ(round.mixing_row.size(), static_cast<Eigen::Index>(row.size()));
                for (std::size_t j = 0; j < row.size(); ++j)
                    EXPECT_EQ(round.mixing_row[static_cast<Eigen::Index>(j)], row[j]);
                if (way == Way::messages) {
                    ASSERT_EQ(round.received.cols(), static_cast<Eigen::Index>(neighbours.size()));
                    for (std::size_t j = 0; j < neighbours.size(); ++j)
                        EXPECT_TRUE(round.received.col(static_cast<Eigen::Index>(j)) ==
                                    made.seen.messages[t].col(neighbours[j]));
                    continue;
                }
                ASSERT_EQ(round.received.cols(), 1);
                const Eigen::VectorXd after = t + 1 < view.records.size()
                                                  ? Eigen::VectorXd(made.seen.before[t + 1].col(u))
                                                  : Eigen::VectorXd(made.seen.last.col(u));
                if (way == Way::mean) {
                    EXPECT_TRUE(round.received.col(0) == after);
                    continue;
                }
                EXPECT_TRUE(made.topography.mixing.weight(u, u) * round.message +
                                round.received.col(0) ==
                            after);
            }
        }
    }
}

TEST(RecordedView, ChangesNothingOfTheRun) {
    for (const Way way : {Way::messages, Way::sums, Way::mean}) {
        const TemporaryFolder temporary;
        const fs::path folder = temporary.path("views");
        EXPECT_TRUE(run(way, &folder).seen.last == run(way, nullptr).seen.last);
    }
}

TEST(RecordedView, OfSecureSumsDiffersFromThePlainRunByFixedPointRoundingOnly) {
    const Eigen::MatrixXd sums = run(Way::sums, nullptr).seen.last;
    const Eigen::MatrixXd plain = run(Way::messages, nullptr).seen.last;
    EXPECT_FALSE(sums == plain);
    // At most half a step a neighbour and round, doubles beside; the gradient's 0.01 x hardly adds.
    EXPECT_LE((sums - plain).cwiseAbs().maxCoeff(), rounds * agents * 0x1p-41 * 1.1);
}

TEST(RecordedView, CanBeReadByItsOwnerOnly) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    (void)run(Way::messages, &folder);
    using fs::perms;
    for (const char* file : {"2/view.bin", "2/seeds.json"})
        EXPECT_EQ(fs::status(folder / file).permissions(), perms::owner_read | perms::owner_write)
            << file;
    EXPECT_EQ(fs::status(folder / "2").permissions(), perms::owner_all);
    EXPECT_FALSE(fs::exists(folder / "1"));
    // Never into another run's files.
    EXPECT_THROW((void)run(Way::messages, &folder), ConfigError);
}

TEST(RecordedView, HoldsExactlyTheSeedsOfTheAgent) {
    const TemporaryFolder temporary;
    const fs::path folder = temporary.path("views");
    const RecordedRun made = run(Way::messages, &folder);
    const auto json = nlohmann::json::parse(read_file(folder / "2" / "seeds.json"));
    EXPECT_EQ(json.at("agent"), 2);
    std::size_t held = 0;
    for (const auto& group : made.plan.groups)
        held += std::ranges::count(group.members, 2) > 0 ? 1 : 0;
    ASSERT_EQ(json.at("seeds").size(), held);
    const auto network = make_memory_network(agents, 1);
    const auto rings = distribute_seeds(*network, made.plan, 5);
    for (const auto& entry : json.at("seeds"))
        EXPECT_EQ(entry.at("seed"), to_hex(rings[2].seed(entry.at("group")).bytes()));
}

class DamagedView : public ::testing::Test {
  protected:
    void SetUp() override {
        (void)run(Way::sums, &folder_);
        content_ = read_file(folder_ / "2" / "view.bin");
    }
    std::string why(const std::string& content) {
        const std::string file = temporary_.write("damaged.bin", content);
        try {
            (void)read_recorded_view(file);
        } catch (const DataError& error) {
            EXPECT_NE(std::string(error.what()).find("damaged.bin"), std::string::npos);
            return error.what();
        }
        return "it was read";
    }
    TemporaryFolder temporary_;
    fs::path folder_ = temporary_.path("views");
    std::string content_;
};

TEST_F(DamagedView, IsRefusedWhereverItIsCut) {
    EXPECT_EQ(why(content_), "it was read");
    const std::size_t size = content_.size();
    for (const std::size_t kept : {std::size_t{1},
                                   std::size_t{7},
                                   std::size_t{8},
                                   std::size_t{15},
                                   std::size_t{16},
                                   std::size_t{40},
                                   std::size_t{200},
                                   size / 2,
                                   size - 1,
                                   size - 8,
                                   size - 16,
                                   size - 17})
        EXPECT_NE(why(content_.substr(0, kept)), "it was read") << kept;
    EXPECT_NE(why(content_.substr(0, size - 16)).find("no end after 4 whole rounds"),
              std::string::npos)
        << why(content_.substr(0, size - 16));
    EXPECT_NE(why(content_.substr(0, size - 30)).find("cut short in round 3"), std::string::npos)
        << why(content_.substr(0, size - 30));
    EXPECT_NE(why(content_ + "more"), "it was read");
}

TEST_F(DamagedView, IsRefusedForWhatItHolds) {
    const auto changed = [&](std::size_t at, const std::string& bytes) {
        std::string copy = content_;
        copy.replace(at, bytes.size(), bytes);
        return why(copy);
    };
    EXPECT_NE(changed(0, "X").find("does not start"), std::string::npos);
    EXPECT_NE(changed(8, std::string(8, '\xff')).find("header is cut short"), std::string::npos);
    const std::size_t format = content_.find("sotto-view");
    EXPECT_NE(changed(format, "other-view").find("another format"), std::string::npos);
    const std::size_t dimension_at = content_.find("20000");
    EXPECT_NE(changed(dimension_at, "20001").find("values a round"), std::string::npos);
    const std::size_t sum = content_.find("\"sum\"");
    EXPECT_NE(changed(sum, "\"mud\""), "it was read");
    const std::size_t body = content_.find('\n') + 1;
    EXPECT_NE(changed(body + 80, std::string(8, '\xff')).find("not finite"), std::string::npos);
    const double half = 0.5;
    EXPECT_NE(changed(body, {reinterpret_cast<const char*>(&half), 8}).find("has number 0.5"),
              std::string::npos);
    const double seven = 7;  // before round 1
    EXPECT_NE(changed(body, {reinterpret_cast<const char*>(&seven), 8}).find("has number 1"),
              std::string::npos);
    EXPECT_NE(changed(content_.size() - 8, "\x05").find("counts 5 rounds"), std::string::npos);
    EXPECT_NE(changed(content_.size() - 16, "X").find("SOTTOEND"), std::string::npos);
    EXPECT_THROW((void)read_recorded_view(folder_ / "nothing"), DataError);
    EXPECT_THROW((void)read_recorded_view(folder_), DataError);
}

TEST(ViewRecorder, WithoutTheEndOfTheRunLeavesAnUnfinishedFile) {
    const TemporaryFolder temporary;
    const Graph graph = Graph::from_edges(2, {{0, 1}});
    const std::vector<int> local{0, 1};
    {
        const ViewRecorder recorder(temporary.path("views"),
                                    local,
                                    local,
                                    graph,
                                    test::silent_plan(2),
                                    ViewRecorder::Setup{3, Received::messages, 0});
    }
    EXPECT_THROW((void)read_recorded_view(fs::path(temporary.path("views")) / "1" / "view.bin"),
                 DataError);
}

}  // namespace
}  // namespace sotto
