#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <sstream>
#include <thread>

#include "page_folder.hpp"
#include "program.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;

using Row = std::map<std::string, std::string>;

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line + ",");
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    return fields;
}

/// A CSV file without quoted fields.
std::vector<Row> rows_of(const fs::path& path) {
    const auto lines = lines_of(content_of(path));
    std::vector<Row> rows;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto names = fields_of(lines[0]), values = fields_of(lines[i]);
        EXPECT_EQ(names.size(), values.size()) << lines[i];
        for (std::size_t k = 0; k < names.size(); ++k) {
            if (k == 0) rows.emplace_back();
            rows.back()[names[k]] = values[k];
        }
    }
    return rows;
}

class Sweep : public ::testing::Test {
  protected:
    /// Two mechanisms, two budgets, two step sizes as given, two seeds.
    [[nodiscard]] std::string grid(int rounds, const std::string& more = "") const {
        return directory_.write(
            "grid.ini",
            fmt::format("# a comment\ndata = {}\nagents = 4\nrounds = {}\nbatch-size = 8\n"
                        "epsilon = 5 50\nstep-size = 0.05 0.2\nseed = 1 2\nvalidation-seeds = 7\n"
                        "noise-seed = seed\ngraph-seed = seed\neval-every = 1000000\n"
                        "choose-further = 0\n{}\n"
                        "[ldp]\nmechanism = ldp\n[corn]\nmechanism = corn\nutility = horizon:20\n",
                        data_,
                        rounds,
                        more));
    }
    [[nodiscard]] Outcome sweep(int ranks, const std::string& output, Arguments more = {}) const {
        more.insert(more.begin(),
                    {"sweep", directory_ / "grid.ini", "--output", directory_ / output});
        return run_sotto(directory_, ranks, more);
    }
    /// Test loss of `sotto train` with the options of a training in the folder `out`, and others.
    [[nodiscard]] double loss_alone(const Row& run,
                                    const std::string& output,
                                    Arguments more) const {
        more.insert(more.begin(),
                    {"train",
                     "--config",
                     directory_ / ("out/" + run.at("run_directory") + "/config.ini"),
                     "--json",
                     "--run-directory",
                     directory_ / output});
        const Outcome alone = run_sotto(directory_, one_process, more);
        EXPECT_EQ(alone.exit_code, 0) << alone.text();
        return nlohmann::json::parse(alone.out).at("test_loss").get<double>();
    }

    TempDir directory_;
    std::string data_ = directory_.write("data.svm", small_data(200));
};

TEST_F(Sweep, ChoosesMeasuresAndSumsUp) {
    (void)grid(30, "plot = epsilon");
    const Outcome outcome = sweep(one_process, "out", {"--json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto summary = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(summary.at("cells"), 4);
    EXPECT_EQ(summary.at("trainings"), 4 * 2 + 4 * 2);
    EXPECT_EQ(summary.at("done"), 16);
    const auto cells = rows_of(directory_ / "out/results.csv");
    const auto runs = rows_of(directory_ / "out/runs.csv");
    ASSERT_EQ(cells.size(), 4U);
    ASSERT_EQ(runs.size(), 16U);
    for (const Row& cell : cells) {
        // The best of the validation runs was chosen, and the mean is over the test runs.
        std::map<std::string, double> losses;
        double sum = 0;
        int tests = 0;
        for (const Row& run : runs) {
            if (run.at("variant") != cell.at("variant") || run.at("epsilon") != cell.at("epsilon"))
                continue;
            if (run.at("purpose") == "validation") {
                losses[run.at("step_size")] = std::stod(run.at("test_loss"));
            } else {
                EXPECT_EQ(run.at("step_size"), cell.at("step_size"));
                sum += std::stod(run.at("test_loss"));
                ++tests;
            }
        }
        ASSERT_EQ(losses.size(), 2U);
        ASSERT_EQ(tests, 2);
        const std::string other = cell.at("step_size") == "0.05" ? "0.2" : "0.05";
        EXPECT_LE(losses.at(cell.at("step_size")), losses.at(other));
        EXPECT_NEAR(std::stod(cell.at("test_loss")), sum / 2, 1e-8);
        EXPECT_NEAR(std::stod(cell.at("epsilon_spent")), std::stod(cell.at("epsilon")), 1e-3);
    }
    // Every run is one that `sotto train` gives.
    const Row& last = runs.back();
    EXPECT_NEAR(
        loss_alone(last, "alone", {"--threads", "1"}), std::stod(last.at("test_loss")), 1e-8);
}

TEST_F(Sweep, RanksGiveTheSameFiguresAndASecondStartDoesNothingAgain) {
    (void)grid(20);
    ASSERT_EQ(sweep(one_process, "one", {"--threads", "1"}).exit_code, 0);
    const Outcome spread = sweep(3, "three");
    ASSERT_EQ(spread.exit_code, 0) << spread.text();
    EXPECT_EQ(content_of(directory_ / "one/results.csv"),
              content_of(directory_ / "three/results.csv"));
    const auto written = fs::last_write_time(
        directory_ / ("three/" + rows_of(directory_ / "three/runs.csv")[0].at("run_directory") +
                      "/summary.json"));
    const Outcome again = sweep(2, "three", {"--json"});
    ASSERT_EQ(again.exit_code, 0) << again.text();
    EXPECT_EQ(nlohmann::json::parse(again.out).at("reused"), 16);
    EXPECT_EQ(
        fs::last_write_time(
            directory_ / ("three/" + rows_of(directory_ / "three/runs.csv")[0].at("run_directory") +
                          "/summary.json")),
        written);
    EXPECT_EQ(content_of(directory_ / "one/results.csv"),
              content_of(directory_ / "three/results.csv"));
}

TEST_F(Sweep, GoesOnWhereTheEdgeWinsAndCountsThoseTrainingsToo) {
    // The best step size is 0.032, for `near` the last one given.
    (void)directory_.write("grid.ini",
                           "task = quadratic\nagents = 4\nrounds = 20\nclip-norm = 100\n"
                           "mechanism = ldp\nepsilon = 200\nnoise-seed = seed\nseed = 1\n"
                           "budget-account = mine\nchoose-further = 2\nkeep-runs = off\n"
                           "[near]\nstep-size = 0.016 0.032\n[far]\nstep-size = 0.001 0.002\n");
    const auto run = [&](const Arguments& words) {
        const Outcome outcome = run_sotto(directory_, one_process, words);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return outcome.out;
    };
    const Arguments account{
        "ledger", "--open-account", "mine", "--epsilon", "100000", "--delta", "1e-2"};
    (void)run(account);
    const Outcome outcome = sweep(3, "three");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_NE(outcome.out.find("2 cells, at least 6 trainings"), std::string::npos)
        << outcome.text();
    const auto cells = rows_of(directory_ / "three/results.csv");
    ASSERT_EQ(cells.size(), 2U);
    EXPECT_EQ(cells[0].at("step_size"), "0.032");
    EXPECT_EQ(cells[0].at("at_edge"), "no") << "0.064 was tried";
    EXPECT_EQ(cells[1].at("step_size"), "0.008");
    EXPECT_EQ(cells[1].at("at_edge"), "yes") << "two further values are all that are allowed";
    constexpr long trained = 3 + 4 + 2;
    EXPECT_EQ(rows_of(directory_ / "three/runs.csv").size(), trained);
    const auto length_of = [&](const Arguments& words, const std::string& key) {
        return static_cast<long>(nlohmann::json::parse(run(words)).at(key).size());
    };
    EXPECT_EQ(length_of({"ledger", "--budget-account", "mine", "--json", "-"}, "entries"), trained);
    EXPECT_EQ(length_of({"ledger", directory_ / "three", "--json", "-"}, "runs"), trained);

    const Outcome again = sweep(2, "three", {"--json"});
    ASSERT_EQ(again.exit_code, 0) << again.text();
    EXPECT_EQ(nlohmann::json::parse(again.out).at("reused"), trained);
    ASSERT_EQ(sweep(one_process, "one", {"--threads", "1"}).exit_code, 0);
    EXPECT_EQ(content_of(directory_ / "one/results.csv"),
              content_of(directory_ / "three/results.csv"));
}

TEST_F(Sweep, WithoutNoiseIsOneTrainingForAllBudgets) {
    (void)directory_.write("grid.ini",
                           fmt::format("data = {}\nagents = 4\nrounds = 20\nmechanism = none\n"
                                       "epsilon = 5 50\ndelta = 1e-5 1e-6\nseed = 1\n",
                                       data_));
    const Outcome outcome = sweep(2, "out");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto rows = rows_of(directory_ / "out/runs.csv");
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(std::ranges::distance(fs::directory_iterator(directory_ / "out/trainings")), 1);
    for (const Row& row : rows) {
        const std::string epsilon = row.at("epsilon"), delta = row.at("delta");
        EXPECT_NEAR(
            loss_alone(row, "alone" + epsilon + delta, {"--epsilon", epsilon, "--delta", delta}),
            std::stod(row.at("test_loss")),
            1e-8);
    }
}

TEST_F(Sweep, GoesOnAfterAKill) {
    (void)grid(80'000);
    Process process(
        sotto_command(2, {"sweep", directory_ / "grid.ini", "--output", directory_ / "out"}),
        directory_.path());
    const auto known = [&] {
        std::error_code missing;
        long count = 0;
        for (const auto& entry : fs::directory_iterator(directory_ / "out/trainings", missing))
            count += entry.path().extension() == ".json" ? 1 : 0;
        return count;
    };
    ASSERT_TRUE(happens([&] { return known() >= 2; }));
    // Ranks would go on for a while without their launcher.
    for (const pid_t rank : ranks_with(directory_ / "grid.ini")) ::kill(rank, SIGKILL);
    process.signal_group(SIGKILL);
    (void)process.wait();
    ASSERT_TRUE(all_ended(directory_.path()));
    const long before = known();
    ASSERT_GE(before, 2);
    ASSERT_LT(before, 16);
    const Outcome rest = sweep(2, "out", {"--json"});
    ASSERT_EQ(rest.exit_code, 0) << rest.text();
    const auto summary = nlohmann::json::parse(rest.out);
    EXPECT_EQ(summary.at("reused"), before);
    EXPECT_EQ(summary.at("done"), 16);
    ASSERT_EQ(sweep(one_process, "whole", {"--threads", "1"}).exit_code, 0);
    EXPECT_EQ(content_of(directory_ / "out/results.csv"),
              content_of(directory_ / "whole/results.csv"));
}

TEST_F(Sweep, StopsWhenAskedAndGoesOn) {
    (void)grid(200'000);
    Process process(
        sotto_command(
            one_process,
            {"sweep", directory_ / "grid.ini", "--output", directory_ / "out", "--threads", "1"}),
        directory_.path());
    ASSERT_TRUE(happens([&] { return fs::exists(directory_ / "out/runs"); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    process.signal_group(SIGINT);
    const Outcome stopped = process.wait();
    EXPECT_LT(stopped.seconds, 30) << stopped.text();
    EXPECT_EQ(stopped.exit_code, 8) << stopped.text();
    EXPECT_NE(stopped.out.find("run the same command again to go on"), std::string::npos)
        << stopped.text();
    EXPECT_EQ(rows_of(directory_ / "out/results.csv").size(), 4U);
}

TEST_F(Sweep, TrainsAgainWhenTheDataHaveChanged) {
    (void)grid(5);
    const auto reused = [&] {
        const Outcome outcome = sweep(2, "out", {"--json"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        return nlohmann::json::parse(outcome.out).at("reused").get<long>();
    };
    EXPECT_EQ(reused(), 0);
    EXPECT_EQ(reused(), 16);
    (void)directory_.write("data.svm", small_data(201));
    EXPECT_EQ(reused(), 0);
    EXPECT_EQ(rows_of(directory_ / "out/results.csv").size(), 4U);
}

TEST_F(Sweep, DivergedAndFailedTrainingsLeaveTheOthersAlone) {
    (void)directory_.write(
        "grid.ini",
        fmt::format("data = {}\nagents = 4\nrounds = 2000\nbatch-size = 8\nseed = 1\n"
                    "task = logistic\nepsilon = 10\n"
                    "[good]\nmechanism = ldp\n"
                    "[explodes]\nmechanism = none\nstep-size = 1e100\nclip-norm = 1e6\n"
                    "[refused]\nmechanism = corn\ncoalition-size = 2\n",
                    data_));
    const Outcome outcome = sweep(one_process, "out");
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_NE(outcome.err.find("1 of 3 trainings failed"), std::string::npos) << outcome.text();
    const auto cells = rows_of(directory_ / "out/results.csv");
    ASSERT_EQ(cells.size(), 3U);
    EXPECT_FALSE(cells[0].at("test_loss").empty());
    EXPECT_EQ(cells[1].at("diverged"), "1");
    EXPECT_TRUE(cells[1].at("test_loss").empty());
    EXPECT_EQ(cells[2].at("failed"), "1");
}

TEST_F(Sweep, EndsOnAllRanksWhereOneCannotGoOn) {
    (void)directory_.write("grid.ini",
                           "task = quadratic\nagents = 4\nrounds = 20\nmechanism = none\n"
                           "step-size = 0.01 0.02\nchoose-by = test_accuracy\n");
    const Outcome outcome = sweep(3, "out");
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_NE(outcome.err.find("the trainings have no test_accuracy"), std::string::npos)
        << outcome.text();
    EXPECT_LT(outcome.seconds, 60);
}

TEST_F(Sweep, RefusesBadFilesBeforeAnythingIsTrained) {
    const auto refused = [&](const std::string& content, const std::string& part) {
        (void)directory_.write("grid.ini", content);
        expect_refused(directory_,
                       {"sweep", directory_ / "grid.ini", "--output", directory_ / "out"},
                       2,
                       part);
        EXPECT_FALSE(fs::exists(directory_ / "out/runs.csv"));
    };
    refused("epsilom = 1 2\n", "did you mean 'epsilon'?");
    refused("epsilon = 1 1\n", "the value 1 is given twice");
    refused("epsilon =\n", "a value is needed");
    refused("epsilon = 1 x\n", "'x'");
    refused("epsilon = 1\nepsilon = 2\n", "set twice");
    refused("resume = runs/a\n", "belongs to a single run");
    refused("[a]\nseed = 1 2\n", "before the first [section]");
    refused("seed = 1 2\nvalidation-seeds = 2\n", "2 is among the --seed values");
    refused("choose = mechanisms\n", "'mechanisms' is not an option");
    refused("mechanism = ldp lpd\n", "did you mean 'ldp'?");
    refused("plot = epsilon\n", "plot: 'epsilon'");
    expect_refused(directory_, {"sweep"}, 2, "FILE is missing");
    expect_refused(directory_, {"sweep", directory_ / "none.ini"}, 3, "none.ini");
}

TEST(Compare, HasATableOfPlansAndTrainingsAtTheSameEpsilon) {
    const TempDir directory;
    const Outcome outcome = run_sotto(directory,
                                      2,
                                      {"compare",
                                       "--mechanisms",
                                       "ldp,corn+utility=one-step,none",
                                       "--agents",
                                       "4",
                                       "--rounds",
                                       "5",
                                       "--task",
                                       "quadratic",
                                       "--epsilon",
                                       "3",
                                       "--train",
                                       "--seeds",
                                       "1,2",
                                       "--output",
                                       "out",
                                       "--json",
                                       "out.json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto rows = rows_of(directory / "out/comparison.csv");
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[1].at("mechanism"), "corn+utility=one-step");
    EXPECT_NEAR(std::stod(rows[0].at("epsilon_outsider")), 3, 1e-6);
    EXPECT_EQ(rows[1].at("epsilon_curious"), "infinite");
    EXPECT_EQ(rows_of(directory / "out/runs.csv").size(), 6U);
    const auto json = json_of(directory / "out.json");
    EXPECT_EQ(json.at("mechanisms")[1].at("curious_infinite"), true);
    EXPECT_NE(outcome.out.find("corn+utility=one-step"), std::string::npos) << outcome.text();

    const Outcome refused = run_sotto(
        directory,
        1,
        {"compare", "--agents", "3", "--mechanisms", "pairs+coalition-size=9", "--output", "none"});
    EXPECT_EQ(refused.exit_code, 2) << "no mechanism has a plan";
    EXPECT_NE(refused.out.find("coalition-size"), std::string::npos) << refused.text();
    expect_refused(directory, {"compare", "--mechanism", "ldp"}, 2, "--mechanisms sets it");
    expect_refused(directory, {"compare", "--run-directory", "x"}, 2, "belongs to a single run");
    expect_refused(directory, {"compare", "--mechanisms", "cron"}, 2, "did you mean 'corn'?");
}

TEST(Compare, TakesWhatAPlanCannotTellFromTheLedgersOfTrainings) {
    const TempDir directory;
    for (int site = 0; site < 3; ++site) {
        std::string text = "x,label\n";
        for (int r = 0; r < 60 + 20 * site; ++r)
            text +=
                fmt::format("{},{}\n", (r * 7 + site) % 20, (r * 7 + site) % 20 > 9 ? "b" : "a");
        (void)directory.write(fmt::format("site_{}.csv", site), text);
    }
    const Outcome outcome = run_sotto(directory,
                                      one_process,
                                      {"compare",
                                       "--mechanisms",
                                       "decor,pairs",
                                       "--data",
                                       "site_*.csv",
                                       "--label",
                                       "label",
                                       "--bounds",
                                       "x=0:20",
                                       "--adjacency",
                                       "record-add-remove",
                                       "--batch-size",
                                       "0.2",
                                       "--rounds",
                                       "20",
                                       "--topology",
                                       "complete",
                                       "--epsilon",
                                       "2",
                                       "--seeds",
                                       "1,2",
                                       "--output",
                                       "out"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto rows = rows_of(directory / "out/comparison.csv");
    ASSERT_EQ(rows.size(), 2U);
    // decor keeps its promise against outsiders, pairs against one of the agents, too.
    const auto figure = [&](std::size_t row, const char* column) {
        return std::stod(rows[row].at(column));
    };
    EXPECT_NEAR(figure(0, "epsilon_outsider"), 2, 0.01);
    EXPECT_GT(figure(0, "epsilon_curious"), 2.05);
    EXPECT_LT(figure(1, "epsilon_outsider"), figure(1, "epsilon_curious"));
    EXPECT_NEAR(figure(1, "epsilon_curious"), 2, 0.01);
    EXPECT_EQ(rows[0].at("noise_of_ldp"), "");
    EXPECT_NE(outcome.out.find("--sampling-probability Q"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("privacy    4 trainings together: epsilon "), std::string::npos)
        << outcome.out;
}

/// The block of a page that begins with this line.
std::string block_of(const std::string& page, const std::string& first_line) {
    const std::string begin = "```\n";
    const std::size_t from = page.find(begin + first_line) + begin.size();
    return page.substr(from, page.find("```", from) - from);
}

TEST(PrivateChoicePage, ReleasesAModelThatPredicts) {
    const PageFolder folder;
    const std::string page = content_of(SOTTO_SOURCE_DIR "/docs/sweeps.md");
    const std::string ini = block_of(page, "# choice.ini");
    const std::string commands = block_of(page, "sotto sweep choice.ini");
    if (!folder.missing_file(ini).empty()) GTEST_SKIP() << "needs " << folder.missing_file(ini);
    const Outcome outcome = folder.run("cat > choice.ini <<'END'\n" + ini + "END\n" + commands +
                                       "cat chosen/released/choice.json");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto choice = nlohmann::json::parse(outcome.out.substr(outcome.out.find("\n{\n")));
    EXPECT_NEAR(choice.at("epsilon").get<double>(), 1.56, 0.03);
    EXPECT_NEAR(choice.at("epsilon_one").get<double>(), 1, 1e-6);
    const std::size_t accuracy = outcome.out.find("accuracy   ");
    ASSERT_NE(accuracy, std::string::npos) << outcome.text();
    EXPECT_GT(std::stod(outcome.out.substr(accuracy + 11)), 0.75);
    EXPECT_NEAR(
        choice.at("score").get<double>(), std::stod(outcome.out.substr(accuracy + 11)), 0.04);
}

/// Over MPI each rank trains what it claims, and one releases.
TEST(PrivateChoice, OverMpiIsReleasedOnce) {
    const TempDir directory;
    const std::string data = directory.write("data.svm", small_data(200));
    (void)directory.write("grid.ini",
                          fmt::format("private-choice = 4\ndata = {}\nagents = 4\nrounds = 10\n"
                                      "adjacency = record-zero-out\nbatch-size = all\ntune = off\n"
                                      "epsilon = 5\nclip-norm = 1\nstep-size = 0.05 0.2\n",
                                      data));
    const Arguments arguments{
        "sweep", directory / "grid.ini", "--output", directory / "out", "--json"};
    const Outcome outcome = run_sotto(directory, 2, arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const auto choice = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(choice, nlohmann::json::parse(content_of(directory / "out/released/choice.json")));
    EXPECT_LT(choice.at("epsilon").get<double>(), 2 * choice.at("epsilon_one").get<double>());
    EXPECT_TRUE(fs::exists(directory / "out/released/agents/3/model.npy"));
    EXPECT_TRUE(fs::is_empty(directory / "out/runs"));
    EXPECT_EQ(run_sotto(directory, 2, arguments).exit_code, 2);
    // An option of single runs is refused rather than ignored.
    const Outcome dry =
        run_sotto(directory,
                  one_process,
                  {"sweep", directory / "grid.ini", "--output", directory / "dry", "--dry-run"});
    EXPECT_EQ(dry.exit_code, 2) << dry.text();
    EXPECT_FALSE(fs::exists(directory / "dry"));
    const Outcome ledger =
        run_sotto(directory, one_process, {"ledger", directory / "out/released"});
    EXPECT_EQ(ledger.exit_code, 3) << ledger.text();
}

}  // namespace
}  // namespace sotto::test
