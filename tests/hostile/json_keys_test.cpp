// Every key of every JSON document that is read, changed into something else or missing: it is
// read all the same, or refused with a message of ours that names the document.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "agent/recording/recorded_wire.hpp"
#include "audit/canaries.hpp"
#include "audit/known_models.hpp"
#include "commands/doctor/doctor.hpp"
#include "commands/sweep/sweep_folder.hpp"
#include "config/peer_notes.hpp"
#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "hostile/hostile_input.hpp"
#include "hostile/hostile_run.hpp"
#include "net/memory_network.hpp"
#include "sotto/core/error.hpp"
#include "sotto/plan/noise_plan.hpp"
#include "store/budget_account_file.hpp"
#include "store/checkpoint_store.hpp"
#include "store/recorded_ledger.hpp"
#include "store/run_history.hpp"
#include "tasks/predictions.hpp"
#include "tasks/task_fixtures.hpp"
#include "training/run_subject.hpp"
#include "training/training_fixtures.hpp"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

struct Document {
    std::string name;  ///< in messages
    std::string text;  ///< a good one
    std::function<void(const std::string& text)> read;
};

/// Places of all values; of an array the first and the last element stand for the others.
void collect_places(const OrderedJson& json,
                    const std::string& pointer,
                    std::vector<std::string>& places) {
    if (!pointer.empty()) places.push_back(pointer);
    if (json.is_object())
        for (const auto& [key, value] : json.items()) {
            std::string escaped;
            for (const char letter : key)
                escaped += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
            collect_places(value, pointer + "/" + escaped, places);
        }
    if (!json.is_array() || json.empty()) return;
    collect_places(json.front(), pointer + "/0", places);
    if (json.size() > 1)
        collect_places(json.back(), fmt::format("{}/{}", pointer, json.size() - 1), places);
}

std::vector<OrderedJson> other_values() {
    return {nullptr,
            true,
            -1,
            std::uint64_t{1} << 63,
            1e300,
            0.5,
            "",
            "x",
            std::string(1000, 'f'),
            OrderedJson::array(),
            OrderedJson::object(),
            OrderedJson::array({OrderedJson::array({1})})};
}

void text_to(const fs::path& file, const std::string& content) { text(content)(file); }

/// @return whether it was refused.
bool read_changed(const Document& document, const OrderedJson& changed, const std::string& how) {
    try {
        document.read(changed.dump());
        return false;
    } catch (const Error& error) {
        const std::string message = error.what();
        EXPECT_EQ(message.find("exception"), std::string::npos) << how << ": " << message;
        EXPECT_NE(message.find(document.name), std::string::npos) << how << ": " << message;
        EXPECT_NE(error.exit_code(), ExitCode::other) << how << ": " << message;
    } catch (const std::exception& error) {
        ADD_FAILURE() << how << ": no error of ours: " << error.what();
    }
    return true;
}

void expect_our_errors(const Document& document) {
    const OrderedJson good = OrderedJson::parse(document.text);
    ASSERT_NO_THROW(document.read(document.text));
    std::vector<std::string> places;
    collect_places(good, "", places);
    ASSERT_FALSE(places.empty());
    long refused = 0;
    for (const std::string& place : places) {
        const OrderedJson::json_pointer pointer(place);
        for (const OrderedJson& value : other_values()) {
            OrderedJson changed = good;
            changed[pointer] = value;
            refused += read_changed(document, changed, place + " = " + value.dump()) ? 1 : 0;
        }
        OrderedJson without = good;
        OrderedJson& around = without[pointer.parent_pointer()];
        if (around.is_object())
            around.erase(pointer.back());
        else
            around.erase(around.begin() + std::stol(pointer.back()));
        refused += read_changed(document, without, "without " + place) ? 1 : 0;
    }
    // A reader that took everything would have read nothing.
    EXPECT_GT(refused, static_cast<long>(places.size())) << document.name;
}

/// A document in the directory of a run, of which each test has a copy.
class OfARun : public ::testing::Test {
  protected:
    OfARun() { fs::copy(hostile_run(), run, fs::copy_options::recursive); }

    /// @param name of the document in messages; empty: its file's.
    void expect_our_errors_in(const std::string& file,
                              const std::function<void()>& read,
                              const std::string& name = {}) {
        const std::string good = read_file(run / file);
        expect_our_errors({name.empty() ? fs::path(file).filename().string() : name,
                           good,
                           [&](const std::string& text) {
                               text_to(run / file, text);
                               read();
                           }});
        text_to(run / file, good);
    }

    TemporaryFolder folder;
    fs::path run = folder.path() / "run";
};

TEST_F(OfARun, APlanIsReadOrRefusedByName) {
    expect_our_errors({"plan.json", read_file(run / "plan.json"), [](const std::string& text) {
                           (void)plan_from_json(text, "plan.json");
                       }});
}

TEST_F(OfARun, AHistoryIsReadOrRefusedByName) {
    expect_our_errors_in("history.json", [&] { (void)read_history(run); });
}

TEST_F(OfARun, ALedgerIsReadOrRefusedByName) {
    const std::string manifest = read_file(run / "manifest.json");
    expect_our_errors_in("ledger.json",
                         [&] { (void)read_recorded_run(run, hostile_run_config()); });
    expect_our_errors({"ledger", read_file(run / "ledger.json"), [&](const std::string& text) {
                           (void)recorded_ledger_from(text, manifest, "ledger");
                       }});
}

TEST_F(OfARun, AManifestIsReadOrRefusedByName) {
    const std::string ledger = read_file(run / "ledger.json");
    expect_our_errors({"of-a-run", read_file(run / "manifest.json"), [&](const std::string& text) {
                           (void)recorded_ledger_from(ledger, text, "of-a-run");
                       }});
}

TEST_F(OfARun, AManifestOfCheckpointsIsReadOrRefusedByName) {
    expect_our_errors_in("checkpoints/000000000008/manifest.json", [&] {
        const auto network = make_memory_network(3, 1);
        const FoundCheckpoint found = find_checkpoint(run, *network, std::vector<int>{0, 1, 2});
        // Damaged ones are passed over, and that is said.
        if (!found.notes.empty()) throw DataError(found.notes.front());
    });
}

TEST_F(OfARun, RecordedSeedsAreReadOrRefusedByName) {
    const NoisePlan plan = plan_from_json(read_file(run / "plan.json"), "plan.json");
    expect_our_errors_in("views/0/seeds.json",
                         [&] { (void)read_recorded_seeds(run / "views/0/seeds.json", plan); });
}

/// A run whose data are tables with categories, missing values and classes of a number.
class OfARunOnTables : public ::testing::Test {
  protected:
    OfARunOnTables() {
        for (const char* site : {"site0.csv", "site1.csv"})
            text_to(folder.path(site),
                    "age,sex,severity\n50,m,0\n60,f,2\n,m,0\n40,f,3\n70,m,1\n30,f,0\n");
        config.task = on(folder.path("site%r.csv"));
        config.task.table.label = "severity>0";
        config.task.table.missing = parse_missing("indicator");
        config.task.table.bounds = parse_bounds("age=0:110");
        config.threads = 1;
        config.run_directory = folder.path("run");
        (void)train(config);
    }

    TemporaryFolder folder;
    TrainConfig config = quadratic_config(2, "ldp", 2);
};

TEST_F(OfARunOnTables, AHistoryIsReadOrRefusedByName) {
    const fs::path run = *config.run_directory;
    RunHistory whole = read_history(run);
    whole.scaling = scaling_by_bounds(*whole.table, config.task.table);
    expect_our_errors({"history.json", to_json(whole), [&](const std::string& text) {
                           text_to(run / "history.json", text);
                           const RunHistory history = read_history(run);
                           TaskConfig known = config.task;
                           known.known_table = history.table;
                           known.known_labels = history.labels;
                           known.known_features = history.features;
                           known.known_scaling = history.scaling;
                           try {
                               const auto network = make_memory_network(2, 1);
                               (void)read_local_data(known, *network, Membership::everybody(2));
                           } catch (const Error&) {
                               // Data that do not fit what a history says are refused by their
                               // name.
                           }
                       }});
}

TEST_F(OfARunOnTables, AModelIsReadOrRefusedByName) {
    const fs::path card = fs::path(*config.run_directory) / "agents/0/model.json";
    expect_our_errors({"model.json", read_file(card), [&](const std::string& text) {
                           (void)model_card_from_json(text, "model.json");
                           text_to(card, text);
                           try {
                               (void)predict(*config.run_directory, 0, folder.path("site0.csv"));
                           } catch (const Error&) {
                               // A model or data that do not fit the card are refused by their
                               // name.
                           }
                       }});
}

TEST(JsonKeys, OfCanariesAreReadOrRefusedByName) {
    AuditDesign design;
    design.trials = 400;
    design.contribution = 1;
    design.hypotheses.push_back({"all", Eigen::Vector3d(1, -1, 1), 1, 1});
    expect_our_errors({"canaries.json", canaries_json(design), [](const std::string& text) {
                           (void)canaries_from_json(text, "canaries.json");
                       }});
}

TEST(JsonKeys, OfCanaryRecordsAreReadOrRefusedByName) {
    CanaryRecords canaries;
    canaries.trials = 400;
    canaries.members = {1, 3};
    expect_our_errors({"canary-records.json", to_json(canaries), [](const std::string& text) {
                           (void)canary_records_from_json(text, "canary-records.json");
                       }});
}

TEST(JsonKeys, OfOutcomesAreReadOrRefusedByName) {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "outcome.json";
    expect_our_errors({"outcome.json",
                       R"({"status":"done","exit_code":0,"seconds":1.5,"message":"",)"
                       R"("metrics":{"mu":1.0,"test_loss":0.5}})",
                       [&](const std::string& text) {
                           text_to(file, text);
                           (void)outcome_from_json(file);
                       }});
}

TEST(JsonKeys, OfBudgetAccountsAreReadOrRefusedByName) {
    const BudgetAccount account(AccountLimit{10, 1e-5, Adjacency::agent});
    expect_our_errors(
        {"account.json", account_text(account, 1, nullptr), [](const std::string& text) {
             (void)account_from_text(text, "account.json");
         }});
}

TEST(JsonKeys, OfFindingsOfRanksAreReadOrRefusedByName) {
    expect_our_errors({"findings", to_json(RankFindings{}), [](const std::string& text) {
                           (void)findings_from_json(text);
                       }});
}

TEST(JsonKeys, OfNotesOfPeersAreReadOrRefusedByName) {
    expect_our_errors({"rank 2",
                       fmt::format(R"({{"host":"a","network":"b","keys_locked":true,)"
                                   R"("commitments":[{{"agent":0,"group":0,"blake2b":"{}"}}]}})",
                                   std::string(64, '0')),
                       [](const std::string& text) { (void)process_note_from_json(text, 2); }});
}

}  // namespace
}  // namespace sotto::test
