#include "options/default_participation.hpp"

#include <gtest/gtest.h>

#include "options/train_options.hpp"

namespace sotto {
namespace {

std::string participation(const OptionTexts& given) {
    return name_of(read_train_config(given).plan.participation);
}

TEST(DefaultParticipation, SamplesInSecretWhereRecordsComeAndGo) {
    EXPECT_EQ(participation({{"adjacency", "record-add-remove"}}), "poisson");
    EXPECT_EQ(participation({{"adjacency", "record-zero-out"}, {"mechanism", "cdp"}}), "poisson");
    for (const char* mechanism : {"ldp", "decor", "corn", "corn-hbc", "pairs", "muffliato"})
        EXPECT_EQ(participation({{"adjacency", "record-zero-out"}, {"mechanism", mechanism}}),
                  "poisson")
            << mechanism;
}

TEST(DefaultParticipation, CountsEveryRoundElsewhere) {
    EXPECT_EQ(participation({}), "every");
    EXPECT_EQ(participation({{"adjacency", "record"}}), "every");
    EXPECT_EQ(participation({{"adjacency", "record-add-remove"}, {"batch-size", "all"}}), "every");
    EXPECT_EQ(participation({{"adjacency", "record-add-remove"}, {"mechanism", "anti-pgd"}}),
              "every");
    EXPECT_EQ(participation({{"adjacency", "record-add-remove"}, {"calibration", "rdp"}}), "every");
}

TEST(DefaultParticipation, SamplesAgentsWhereTheirProbabilityIsGiven) {
    EXPECT_EQ(participation({{"client-probability", "0.1"}}), "poisson");
    EXPECT_EQ(participation({{"client-probability", "0.1"}, {"participation", "every"}}), "every");
}

TEST(DefaultParticipation, OfAPlanWithoutDataNeedsAProbability) {
    const OptionTexts records{{"adjacency", "record-add-remove"}};
    EXPECT_EQ(with_participation_without_data(records), records);
    for (const char* option : {"sampling-probability", "client-probability"}) {
        OptionTexts given = records;
        given[option] = "0.1";
        EXPECT_EQ(with_participation_without_data(given).at("participation"), "poisson") << option;
    }
}

TEST(DefaultParticipation, LeavesWhatIsAskedFor) {
    for (const char* asked : {"every", "cyclic:4", "poisson"})
        EXPECT_EQ(participation({{"adjacency", "record-add-remove"}, {"participation", asked}}),
                  asked);
}

}  // namespace
}  // namespace sotto
