#include "agent/local_agent.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "agent/agent_fixtures.hpp"
#include "learn/record_objective.hpp"

namespace sotto {
namespace {

/// Counts whose gradients are computed.
class CountedRecords final : public RecordObjective {
  public:
    explicit CountedRecords(long& count) : RecordObjective(shard(), nullptr), count_(count) {}
    Eigen::Index dimension() const override { return 2; }

  private:
    static Dataset shard() {
        Dataset data;
        data.dense = RealRows(Eigen::VectorXd::LinSpaced(24, -2, 2).reshaped(12, 2));
        data.labels = Eigen::VectorXd::Ones(12);
        return data;
    }
    Loss record_loss(const Eigen::Ref<const Eigen::VectorXd>&,
                     const Dataset&,
                     Eigen::Index) override {
        return {};
    }
    void record_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                         const Dataset& data,
                         Eigen::Index row,
                         Eigen::Ref<Eigen::VectorXd> gradient) override {
        ++count_;
        gradient = model + std::get<RealRows>(*data.dense).row(row).transpose();
    }
    long& count_;
};

TEST(BatchPadding, WorksThroughAsManyRecordsInEveryRoundAndChangesNothing) {
    const Topography alone = test::topography_of(Topology::complete, 1);
    constexpr long rounds = 13;
    std::vector<Eigen::MatrixXd> models;
    for (const Eigen::Index padded : {0, 7}) {
        long count = 0;
        // Round t has t records.
        LocalAgent agent{
            0,
            std::make_unique<CountedRecords>(count),
            BatchSampler::drawn(
                12,
                [](std::uint64_t round, Eigen::Index, std::vector<Eigen::Index>& rows) {
                    rows.resize(round);
                    std::iota(rows.begin(), rows.end(), 0);
                }),
            4};
        agent.padding = BatchPadding(padded);
        TrainerOptions options;
        options.adjacency = Adjacency::record_add_remove;
        std::vector<LocalAgent> agents;
        agents.push_back(std::move(agent));
        test::SilentTraining training(
            alone, std::move(agents), Eigen::Vector2d(0.4, -1.5), options);
        for (long t = 0; t < rounds; ++t) {
            count = 0;
            training.trainer->run_round(t);
            EXPECT_EQ(count, std::max<long>(t, padded)) << "round " << t;
        }
        models.push_back(training.trainer->models());
    }
    EXPECT_EQ(models[0], models[1]);
}

}  // namespace
}  // namespace sotto
