// Data of four hospitals as a user has them: CSV with missing cells, sites of different size.

#include "program.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;

/// The files of the hospitals in the folder of a test.
class Hospitals : public ::testing::Test {
  protected:
    void SetUp() override { fs::copy(SOTTO_SOURCE_DIR "/examples/heart", directory_ / "heart"); }
    [[nodiscard]] static Arguments training(const std::string& run, const Arguments& more = {}) {
        Arguments arguments{"train",
                            "--data",
                            "heart/*.csv",
                            "--label",
                            "target>0",
                            "--missing",
                            "indicator",
                            "--categorical",
                            "cp,restecg,slope,thal",
                            "--bounds",
                            "heart/bounds",
                            "--adjacency",
                            "record-add-remove",
                            "--topology",
                            "complete",
                            "--epsilon",
                            "4",
                            "--batch-size",
                            "0.2",
                            "--clip-norm",
                            "1",
                            "--step-size",
                            "0.5",
                            "--rounds",
                            "200",
                            "--noise-seed",
                            "3",
                            "--run-directory",
                            run};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    TempDir directory_;
};

TEST_F(Hospitals, TrainAModelThatPredicts) {
    const Outcome outcome = run_sotto(directory_, one_process, training("run"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    for (const char* line : {"predicts \"target > 0\" (2 classes: target <= 0, target > 0) from 13 "
                             "columns",
                             "agent 0 is cleveland.csv: 242 records to train, ",
                             "agent 2 is switzerland.csv: 98 records to train, "})
        EXPECT_NE(outcome.out.find(line), std::string::npos) << outcome.text();
    const auto summary = json_of(directory_ / "run/summary.json");
    EXPECT_GT(summary.at("test_accuracy_mean_model").get<double>(), 0.75) << "constant: 0.55";
    EXPECT_LE(summary.at("epsilon").get<double>(), 4);

    const Outcome predicted = run_sotto(directory_,
                                        one_process,
                                        {"predict",
                                         "--run",
                                         "run",
                                         "--data",
                                         "heart/hungarian.csv",
                                         "--out",
                                         "predictions.csv",
                                         "--json",
                                         "predicted.json"});
    ASSERT_EQ(predicted.exit_code, 0) << predicted.text();
    const auto json = json_of(directory_ / "predicted.json");
    EXPECT_EQ(json.at("records"), 294);
    EXPECT_GT(json.at("accuracy").get<double>(), 0.75);
    EXPECT_LT(json.at("constant_accuracy").get<double>(), 0.65);
    EXPECT_EQ(lines_of(content_of(directory_ / "predictions.csv")).size(), 295U);
}

TEST_F(Hospitals, HaveTheSameModelOverMpi) {
    ASSERT_EQ(run_sotto(directory_, one_process, training("alone", {"--quiet"})).exit_code, 0);
    const Outcome mpi = run_sotto(directory_, 4, training("mpi", {"--quiet"}));
    ASSERT_EQ(mpi.exit_code, 0) << mpi.text();
    for (int agent = 0; agent < 4; ++agent) {
        const std::string model = "agents/" + std::to_string(agent) + "/model.npy";
        EXPECT_EQ(content_of(directory_ / ("alone/" + model)),
                  content_of(directory_ / ("mpi/" + model)));
    }
}

TEST_F(Hospitals, AskForWhatIsMissing) {
    const Outcome label = run_sotto(directory_, one_process, {"train", "--data", "heart/*.csv"});
    EXPECT_EQ(label.exit_code, 2) << label.text();
    EXPECT_NE(label.err.find("--label \"target\""), std::string::npos) << label.text();
    EXPECT_NE(label.err.find("age, sex, cp, trestbps"), std::string::npos) << label.text();
    const Outcome scale = run_sotto(
        directory_, one_process, {"train", "--data", "heart/*.csv", "--label", "target>0"});
    EXPECT_EQ(scale.exit_code, 2) << scale.text();
    for (const char* part : {"columns of numbers need a scale: age, sex, cp, ",
                             "--bounds with the limits",
                             "--standardise private",
                             "--standardise public",
                             "which no guarantee counts"})
        EXPECT_NE(scale.err.find(part), std::string::npos) << scale.text();
    EXPECT_FALSE(fs::exists(directory_ / "runs")) << "before any round";
    const Outcome missing = run_sotto(
        directory_,
        one_process,
        {"train", "--data", "heart/*.csv", "--label", "target>0", "--standardise", "public"});
    EXPECT_EQ(missing.exit_code, 3) << missing.text();
    EXPECT_NE(missing.err.find("--missing indicator"), std::string::npos) << missing.text();
    const Outcome agents =
        run_sotto(directory_, one_process, training("run", {"--agents", "3", "--quiet"}));
    EXPECT_EQ(agents.exit_code, 2) << agents.text();
    EXPECT_NE(agents.err.find("4 files"), std::string::npos) << agents.text();
}

TEST(Values, WithBoundsArePredictedInTheirOwnUnits) {
    const TempDir directory;
    std::string text = "rooms;kind;price\n";
    for (int i = 0; i < 300; ++i)
        text += std::to_string(i % 9 + 1) + (i % 2 == 0 ? ";flat;" : ";house;") +
                std::to_string(100000 + 20000 * (i % 9 + 1) + 50000 * (i % 2)) + ".5\n";
    (void)directory.write("prices.csv", text);
    const auto train = [&](const Arguments& more) {
        Arguments words{
            "train",    "--data",          "prices.csv", "--label",     "price", "--task",
            "mlp",      "--mechanism",     "none",       "--agents",    "2",     "--topology",
            "complete", "--clip-norm",     "10",         "--step-size", "0.1",   "--rounds",
            "400",      "--run-directory", "run",        "--quiet"};
        words.insert(words.end(), more.begin(), more.end());
        return run_sotto(directory, one_process, words);
    };
    const Outcome open = train({"--standardise", "private"});
    EXPECT_EQ(open.exit_code, 2) << open.text();
    EXPECT_NE(open.err.find("private is given without --bounds"), std::string::npos) << open.err;
    const Outcome half = train({"--bounds", "rooms=0:20"});
    EXPECT_EQ(half.exit_code, 2) << half.text();
    EXPECT_NE(half.err.find("column \"price\" has none"), std::string::npos) << half.err;
    const Outcome whole = train({"--bounds", "rooms=0:20,price=0:1000000"});
    ASSERT_EQ(whole.exit_code, 0) << whole.text();
    EXPECT_NE(json_of(directory / "run/ledger.json")
                  .at("statements")
                  .dump()
                  .find("bounds that are public"),
              std::string::npos);
    const auto card = json_of(directory / "run/agents/0/model.json");
    EXPECT_EQ(card.at("inputs").at(0).at("high"), 20);
    EXPECT_EQ(card.at("target_low"), 0);
    EXPECT_EQ(card.at("target_offset"), 500000);
    const Outcome predicted = run_sotto(directory,
                                        one_process,
                                        {"predict",
                                         "--run",
                                         "run",
                                         "--data",
                                         "prices.csv",
                                         "--out",
                                         "out.csv",
                                         "--json",
                                         "out.json"});
    ASSERT_EQ(predicted.exit_code, 0) << predicted.text();
    const auto lines = lines_of(content_of(directory / "out.csv"));
    EXPECT_NEAR(std::stod(lines.at(1)), 120000.5, 30000) << "one room, a flat";
    EXPECT_NEAR(std::stod(lines.at(18)), 330000.5, 30000) << "nine rooms, a house";
}

/// Persons with many records each; persons differ, records of one are alike.
TEST(Persons, AreProtectedAsOne) {
    const TempDir directory;
    std::string text = "patient;dose;sick\n";
    for (int person = 0; person < 300; ++person)
        for (int visit = 0; visit <= person % 4; ++visit)
            text += "p" + std::to_string(person) + ";" + std::to_string(person % 10 + 0.1 * visit) +
                    ";" + (person % 10 > 4 ? "yes" : "no") + "\n";
    (void)directory.write("visits.csv", text);
    const auto train = [&](const Arguments& more) {
        Arguments words{"train",
                        "--data",
                        "visits.csv",
                        "--label",
                        "sick",
                        "--partition",
                        "iid",
                        "--agents",
                        "4",
                        "--topology",
                        "complete",
                        "--adjacency",
                        "record-add-remove",
                        "--batch-size",
                        "0.5",
                        "--bounds",
                        "dose=0:10"};
        words.insert(words.end(), more.begin(), more.end());
        return run_sotto(directory, one_process, words);
    };
    const auto train_persons = [&](const std::string& run, const Arguments& more) {
        Arguments words{"--unit-column",
                        "patient",
                        "--epsilon",
                        "8",
                        "--clip-norm",
                        "1",
                        "--step-size",
                        "1",
                        "--rounds",
                        "100",
                        "--run-directory",
                        run};
        words.insert(words.end(), more.begin(), more.end());
        return train(words);
    };
    const Outcome outcome = train_persons("run", {});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_GT(json_of(directory / "run/summary.json").at("test_accuracy").get<double>(), 0.8);
    const auto ledger = json_of(directory / "run/ledger.json");
    EXPECT_NE(ledger.at("statements").dump().find("everything that one value of the column"),
              std::string::npos);
    // 240 of 300 persons are dealt to four agents; half of the 60 of each are drawn.
    EXPECT_NEAR(ledger.at("agents").at(0).at("sensitivity").get<double>(), 1.0 / 30, 1e-12);
    EXPECT_EQ(ledger.at("unit_column"), "patient");
    EXPECT_NE(outcome.out.find("for all records of one patient at one agent"), std::string::npos)
        << outcome.out;
    const auto says = [&](const Arguments& words) {
        return run_sotto(directory, one_process, words).text();
    };
    EXPECT_NE(says({"ledger", "run"}).find("adjacency record-add-remove, unit column patient"),
              std::string::npos);
    // Of a person's records one in every gradient: less exact, and no less private.
    const Outcome of_one = train_persons("one", {"--unit-records", "1"});
    ASSERT_EQ(of_one.exit_code, 0) << of_one.text();
    EXPECT_GT(json_of(directory / "one/summary.json").at("test_accuracy").get<double>(), 0.7);
    EXPECT_EQ(json_of(directory / "one/ledger.json").at("agents").at(0).at("sensitivity"),
              ledger.at("agents").at(0).at("sensitivity"));
    EXPECT_NE(train({"--ignore", "patient", "--unit-records", "1"}).err.find("--unit-column"),
              std::string::npos);
    // An account of records does not count what persons lose.
    Arguments open{"ledger",
                   "--open-account",
                   "account.json",
                   "--epsilon",
                   "3",
                   "--delta",
                   "1e-5",
                   "--adjacency",
                   "record-add-remove",
                   "--unit-column",
                   "patient"};
    EXPECT_NE(says(open).find("unit column patient"), std::string::npos);
    const Arguments short_run{
        "--epsilon", "1", "--rounds", "10", "--budget-account", "account.json", "--run-directory"};
    Arguments of_records = short_run, of_persons = short_run;
    of_records.insert(of_records.end(), {"records", "--ignore", "patient"});
    of_persons.insert(of_persons.end(), {"persons", "--unit-column", "patient"});
    const Outcome refused = train(of_records);
    EXPECT_EQ(refused.exit_code, 4) << refused.text();
    EXPECT_NE(refused.err.find("it counts losses of all records of one patient at one agent"),
              std::string::npos)
        << refused.err;
    EXPECT_EQ(train(of_persons).exit_code, 0);
    const Outcome agents =
        run_sotto(directory,
                  one_process,
                  {"train", "--data", "visits.csv", "--label", "sick", "--unit-column", "patient"});
    EXPECT_EQ(agents.exit_code, 2) << agents.text();
    EXPECT_NE(agents.err.find("unit-column: patient"), std::string::npos) << agents.text();
}

}  // namespace
}  // namespace sotto::test
