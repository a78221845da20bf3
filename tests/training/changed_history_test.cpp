// Rank 0's files of a run that died are changed in every place, and the run is resumed: what every
// agent has revealed is counted all the same, or the run is refused.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "account/composed_runs.hpp"
#include "sotto/privacy/ledger.hpp"
#include "store/budget_account_file.hpp"
#include "store/own_record.hpp"
#include "store/run_history.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto {
namespace {

using test::agents;
using test::expect_contains;
using test::Json;
using test::read_json;
using test::resumed;
using test::run;
using test::run_until_killed;

namespace fs = std::filesystem;
using Pointer = Json::json_pointer;

/// A file of a run, changed in one place.
struct Mutation {
    std::string file, place, what;
    Json json;
};

/// Places of all values; of arrays the first and the last.
void add_places(const Json& json, const Pointer& at, std::vector<Pointer>& places) {
    if (!at.empty()) places.push_back(at);
    if (json.is_object())
        for (const auto& [key, value] : json.items()) add_places(value, at / key, places);
    if (json.is_array())
        for (std::size_t i = 0; i < json.size(); ++i)
            if (i == 0 || i + 1 == json.size()) add_places(json[i], at / i, places);
}

std::vector<Json> other_values(const Json& value) {
    if (value.is_number_integer()) {
        const auto number = value.get<long>();
        return {number + 1, number / 2, 0};
    }
    if (value.is_number()) return {value.get<double>() / 2, value.get<double>() * 2, 0};
    if (value.is_boolean()) return {!value.get<bool>()};
    if (value.is_string()) {
        std::string text = value;
        if (text.size() == 64) {
            text[5] = text[5] == 'a' ? 'b' : 'a';
            return {text, "x"};
        }
        return {"cyclic:2", "inverse", "x"};
    }
    if (!value.is_array() || value.empty()) return {};
    Json shorter = value, longer = value;
    shorter.erase(shorter.size() - 1);
    longer.push_back(value.back());
    return {shorter, longer, Json::array()};
}

std::vector<Mutation> mutations_of(const std::string& file, const Json& json) {
    std::vector<Pointer> places;
    add_places(json, Pointer(), places);
    std::vector<Mutation> all;
    for (const Pointer& place : places) {
        for (const Json& value : other_values(json.at(place))) {
            if (value == json.at(place)) continue;
            Mutation& one = all.emplace_back(
                Mutation{file, place.to_string(), value.dump().substr(0, 60), json});
            one.json[place] = value;
        }
        if (!json.at(place.parent_pointer()).is_object()) continue;
        Mutation& without = all.emplace_back(Mutation{file, place.to_string(), "removed", json});
        without.json[place.parent_pointer()].erase(place.back());
    }
    return all;
}

/// A run of two phases that died in both.
class ChangedHistory : public test::ResumableRun {
  protected:
    void die_twice(const std::string& mechanism) {
        first = config("run", mechanism);
        first.plan.epsilon = 2;
        first.plan.rounds = 40;
        first.checkpoint_every = 10;
        first.budget_account = path("account");
        BudgetAccountFile::create(path("account"), {2, 1e-5, Adjacency::agent}, nullptr);
        run_until_killed(first, 14);
        run_until_killed(resumed(first, path("run")), 23);
        history = read_history(path("run"));
        history.phases[1].rounds = 13;
        for (const char* file : {"history.json", "plan.json", "plan-1.json"})
            for (Mutation& one : mutations_of(file, read_json(path("run") + "/" + file)))
                mutations.push_back(std::move(one));
    }
    void add_changed_phases() {
        const Json json = read_json(path("run") + "/history.json");
        const auto add = [&](const std::string& what, auto&& change) {
            Mutation& one = mutations.emplace_back(Mutation{"history.json", "/phases", what, json});
            change(one.json["phases"]);
        };
        add("without the last phase", [](Json& phases) { phases.erase(1); });
        add("without the first phase", [](Json& phases) { phases.erase(0); });
        add("in the other order", [](Json& phases) { std::swap(phases[0], phases[1]); });
        for (const long rounds : {0L, 1L, 20L})
            for (const bool shorter : {false, true})
                add(fmt::format("with a phase of {} rounds, {}", rounds, shorter),
                    [&](Json& phases) {
                        phases.push_back(phases[1]);
                        if (shorter) phases[1]["rounds"] = 3;
                        phases[2]["first_round"] = shorter ? 13 : 20;
                        phases[2]["rounds"] = rounds;
                        phases[2]["key_epoch"] = 2;
                        phases[2]["sessions"] = {std::string(64, 'a')};
                        phases[2]["plan"] = "plan-2.json";
                        phases[2]["sensitivity"] = std::vector<double>(agents, 1e-9);
                    });
    }
    /// What all have sent, by an independent sum of what is in the files as they were, and the last
    /// phase, which began after the change.
    double revealed(int agent, const RecordedLedger& after) const {
        PrivacyLosses before(agents);
        for (const PrivacyPhase& phase : history.phases)
            before.add(phase, phase.rounds, phase.plan.coalition_size);
        const PrivacyLoss whole = compose(
            before.bound_of(agent), after.phases.back().losses.at(static_cast<std::size_t>(agent)));
        return whole.epsilon(after.delta).upper;
    }
    /// Takes up a copy of the run with this change. @return why it was refused; empty: it was not,
    /// and everything is counted.
    std::string resume(const Mutation& mutation, int number) {
        const std::string name = fmt::format("run{}", number);
        fs::copy(path("run"), path(name), fs::copy_options::recursive);
        for (const char* file : {"account", "account.serial"})
            fs::copy(path(file), path(name) + "." + file);
        fs::copy(path(name) + "/plan-1.json", path(name) + "/plan-2.json");
        std::ofstream(path(name) + "/" + mutation.file) << mutation.json.dump();
        TrainConfig again = resumed(first, path(name));
        again.budget_account = path(name) + ".account";
        again.resume->given = {"budget-account"};
        std::string why;
        try {
            (void)run(again);
            expect_all_counted(name);
        } catch (const Error& error) {
            why = error.what();
        }
        fs::remove_all(path(name));
        return why;
    }
    void expect_all_counted(const std::string& name) const {
        const RecordedLedger after = read_recorded_ledger(path(name));
        long rounds = after.phases.back().rounds;
        for (const PrivacyPhase& phase : history.phases) rounds += phase.rounds;
        EXPECT_GE(after.rounds_accounted, rounds);
        const double spent =
            BudgetAccountFile::look(path(name) + ".account").account.epsilon_spent();
        for (int agent = 0; agent < agents; ++agent) {
            const double all = revealed(agent, after) * (1 - 1e-6);
            const auto place = static_cast<std::size_t>(agent);
            EXPECT_GE(after.agents[place].loss.epsilon(after.delta).upper, all) << agent;
            EXPECT_GE(spent, all) << agent;
        }
    }
    TrainConfig first;
    RunHistory history;
    std::vector<Mutation> mutations;
};

TEST_F(ChangedHistory, CountsNoLessOfAnyAgentOrIsRefusedNamingTheField) {
    die_twice("ldp");
    add_changed_phases();
    EXPECT_EQ(resume({"history.json", "", "", read_json(path("run") + "/history.json")}, -1), "");
    int number = 0, refused = 0;
    for (const Mutation& mutation : mutations) {
        SCOPED_TRACE(mutation.file + mutation.place + " = " + mutation.what);
        const std::string why = resume(mutation, number++);
        if (why.empty()) continue;
        ++refused;
        if (mutation.file != "history.json") continue;
        // Labels and features are no part of any count; the data refuse them.
        if (mutation.place.starts_with("/labels") || mutation.place.starts_with("/features"))
            continue;
        // A phase that never was is more than the budget allows.
        if (why.find("the rounds so far have spent") != std::string::npos) continue;
        // The field, or the one that holds it.
        std::string field = mutation.place;
        while (field.find_last_of("0123456789") == field.size() - 1) field.resize(field.rfind('/'));
        field = field.substr(field.rfind('/') + 1);
        const std::string word = field == "phases"      ? "phase"
                                 : field == "completed" ? "complete"
                                                        : field;
        EXPECT_NE(why.find(word), std::string::npos) << why;
    }
    RecordProperty("mutations", number);
    EXPECT_GT(number, 250);
    EXPECT_GT(refused, number / 2);
}

// Noise that is the receiver's: what a round reveals depends on the step size, too.
TEST_F(ChangedHistory, OfStepsCountsThePastAsItWas) {
    die_twice("zip-dl");
    const double size = first.plan.steps.step_size;
    TrainConfig again = resumed(first, path("run"));
    again.plan.steps.step_size = size / 10;
    try {
        (void)run(again);
    } catch (const Error& error) {
        FAIL() << error.what();
    }
    const RunHistory after = read_history(path("run"));
    ASSERT_EQ(after.phases.size(), 3U);
    for (int k = 0; k < 2; ++k) EXPECT_EQ(after.phases[k].use.steps.step_size, size);
    EXPECT_EQ(after.phases[2].use.steps.step_size, size / 10);
    const RecordedLedger ledger = read_recorded_ledger(path("run"));
    for (int agent = 0; agent < agents; ++agent)
        EXPECT_GE(ledger.agents[static_cast<std::size_t>(agent)].loss.epsilon(ledger.delta).upper,
                  revealed(agent, ledger) * (1 - 1e-6));
}

}  // namespace
}  // namespace sotto
