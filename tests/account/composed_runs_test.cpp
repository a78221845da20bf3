#include "account/composed_runs.hpp"

#include <cmath>

#include "core/numbers.hpp"
#include "sotto/privacy/privacy_loss.hpp"
#include "training/resume_fixtures.hpp"

namespace sotto::test {
namespace {

RecordedLedger ledger_of(const std::string& id, const std::vector<PrivacyLoss>& losses) {
    RecordedLedger ledger;
    ledger.directory = "runs/" + id;
    ledger.run = id;
    ledger.mechanism = "pairs";
    ledger.status = "completed";
    ledger.rounds_planned = ledger.rounds_accounted = 100;
    ledger.delta = 1e-5;
    ledger.phases = {{{id}, 100, losses}};
    for (const PrivacyLoss& loss : losses)
        ledger.agents.push_back({static_cast<int>(ledger.agents.size()), loss, std::nullopt, ""});
    return ledger;
}

RecordedLedger ledger_with_mu(const std::string& id, const std::vector<double>& mus) {
    std::vector<PrivacyLoss> losses;
    for (const double mu : mus) losses.push_back(PrivacyLoss::gaussian(mu));
    return ledger_of(id, losses);
}

ComposedRuns compose(const std::vector<RecordedLedger>& runs) {
    return compose_runs(runs, std::nullopt, std::nullopt);
}

std::string notes_of(const ComposedRuns& composed) {
    std::string all;
    for (const std::string& note : composed.notes) all += note + "\n";
    return all;
}

TEST(ComposedRuns, OfGaussianNoiseAreExact) {
    const ComposedRuns composed =
        compose({ledger_with_mu("a", {0.3, 1}), ledger_with_mu("b", {0.4, 0.1})});
    ASSERT_EQ(composed.agents.size(), 2U);
    EXPECT_NEAR(composed.agents[0].loss.mu().value(), 0.5, 1e-15);
    EXPECT_NEAR(composed.agents[0].epsilon, gdp_epsilon(0.5, 1e-5), 1e-12);
    EXPECT_EQ(composed.worst().number, 1);
    EXPECT_NEAR(composed.worst().loss.mu().value(), std::sqrt(1.01), 1e-15);
    // Data that were with agent 1 first and with agent 0 then.
    EXPECT_NEAR(composed.anybody.mu().value(), std::sqrt(1 + 0.16), 1e-15);
    EXPECT_EQ(composed.match, AgentMatch::number);
    expect_contains(notes_of(composed), "matched by their numbers");
}

TEST(ComposedRuns, OfPureLossesAddEpsilonsAndBothKindsAreBoundedFromAbove) {
    const auto pure = [](double epsilon) { return std::vector{PrivacyLoss::pure(epsilon)}; };
    RecordedLedger a = ledger_of("a", pure(1)), b = ledger_of("b", pure(0.5));
    a.delta = b.delta = 0;
    EXPECT_NEAR(compose({a, b}).worst().epsilon, 1.5, 1e-15);
    const ComposedRuns both = compose({a, b, ledger_with_mu("c", {1})});
    EXPECT_EQ(both.delta, 1e-5);
    EXPECT_GT(both.worst().epsilon, gdp_epsilon(1, 1e-5));
    EXPECT_LE(both.worst().epsilon, gdp_epsilon(1, 1e-5) + 1.5);
    // delta(epsilon) of the pair of both is met.
    EXPECT_NEAR(both.worst().loss.delta(both.worst().epsilon).upper, 1e-5, 1e-12);
}

TEST(ComposedRuns, WithOneThatHasNoNoiseAreInfinite) {
    const ComposedRuns composed =
        compose({ledger_with_mu("a", {1}), ledger_with_mu("b", {infinity})});
    EXPECT_TRUE(composed.worst().loss.infinite());
    EXPECT_TRUE(std::isinf(composed.worst().epsilon));
}

TEST(ComposedRuns, CountARunOnceHoweverOftenItIsThere) {
    RecordedLedger early = ledger_with_mu("a", {0.5}), late = ledger_with_mu("a", {1});
    early.rounds_accounted = early.phases[0].rounds = 25;
    early.phases[0].losses = {PrivacyLoss::gaussian(0.5)};
    early.directory = "copy";
    for (const auto& runs :
         {std::vector{early, late}, std::vector{late, early}, std::vector{late, late, early}}) {
        const ComposedRuns composed = compose(runs);
        ASSERT_EQ(composed.runs.size(), 1U);
        EXPECT_NEAR(composed.worst().loss.mu().value(), 1, 1e-15);
        expect_contains(notes_of(composed), "are one run, which counts once");
    }
    // Taken up in two places: what each of them sent counts.
    RecordedLedger one = early, other = early;
    one.phases.push_back({{"one"}, 75, {PrivacyLoss::gaussian(1.2)}});
    other.phases.push_back({{"other"}, 75, {PrivacyLoss::gaussian(1.2)}});
    for (RecordedLedger* run : {&one, &other}) run->agents[0].loss = PrivacyLoss::gaussian(1.3);
    const ComposedRuns both = compose({one, other});
    EXPECT_EQ(both.runs.size(), 2U);
    expect_contains(notes_of(both), "are continuations of one run");
    EXPECT_NEAR(both.worst().loss.mu().value(), std::sqrt(0.25 + 2 * 1.44), 1e-12);
    EXPECT_NEAR(both.anybody.mu().value(), std::sqrt(0.25 + 2 * 1.44), 1e-12);
    // Taken up once.
    EXPECT_EQ(compose({early, one}).runs.size(), 1U);
    // A copy that sent more of the first phase than the other knows of counts it again.
    other.phases[0].rounds = 40;
    EXPECT_NEAR(compose({one, other}).worst().loss.mu().value(),
                std::sqrt(0.25 + 1.44 + 0.25 + 1.44),
                1e-12);
}

TEST(ComposedRuns, ThatWentOnTwiceWithTheSameKeysAreInfinite) {
    RecordedLedger stopped = ledger_with_mu("a", {0.5});
    stopped.status = "interrupted";
    RecordedLedger one = stopped, other = stopped;
    one.phases[0].sessions.emplace_back("one");
    other.phases[0].sessions.emplace_back("other");
    EXPECT_EQ(compose({stopped, one}).runs.size(), 1U);
    const ComposedRuns both = compose({one, other});
    EXPECT_TRUE(both.worst().loss.infinite());
    expect_contains(notes_of(both), "both went on with the same noise keys");
}

TEST(ComposedRuns, MatchAgentsByIdentityWhereTheyHaveOne) {
    const std::string alice(64, 'a'), bob(64, 'b'), carol(64, 'c');
    RecordedLedger first = ledger_with_mu("a", {0.3, 1});
    first.agents[0].identity = alice;
    first.agents[0].name = "alice";
    first.agents[1].identity = bob;
    RecordedLedger second = ledger_with_mu("b", {2, 0.4});
    second.agents[0].identity = carol;
    second.agents[1].identity = alice;
    const ComposedRuns composed = compose({first, second});
    EXPECT_EQ(composed.match, AgentMatch::identity);
    ASSERT_EQ(composed.agents.size(), 3U);
    EXPECT_EQ(composed.agents[0].name, "alice");
    EXPECT_EQ(composed.agents[0].runs, 2);
    EXPECT_NEAR(composed.agents[0].loss.mu().value(), 0.5, 1e-15);
    EXPECT_EQ(composed.worst().identity, carol);
    // Nobody knows who the agents of the third run are.
    const RecordedLedger third = ledger_with_mu("c", {1, 1});
    expect_contains(message_of<ConfigError>([&] {
                        (void)compose({first, third});
                    }),
                    "runs/c: its agents have no identities, those of other runs have");
    EXPECT_EQ(compose_runs({first, third}, std::nullopt, AgentMatch::number).agents.size(), 2U);
    EXPECT_THROW((void)compose_runs({third}, std::nullopt, AgentMatch::identity), ConfigError);
    second.agents[0].identity = alice;
    EXPECT_THROW((void)compose({second}), DataError);
}

TEST(ComposedRuns, ProtectTheSame) {
    RecordedLedger other = ledger_with_mu("b", {1});
    other.adjacency = Adjacency::record;
    expect_contains(message_of<ConfigError>([&] {
                        (void)compose({ledger_with_mu("a", {1}), other});
                    }),
                    "runs/a protects all data of an agent (--adjacency agent), runs/b protects one "
                    "record (--adjacency record); their losses do not add up");
    // A person with many records loses more in a run that protects one record.
    RecordedLedger records = other, persons = other;
    persons.directory = "runs/c";
    persons.unit_column = "patient";
    expect_contains(message_of<ConfigError>([&] {
                        (void)compose({records, persons});
                    }),
                    "runs/c protects all records of one patient at one agent (--adjacency record "
                    "--unit-column patient); their losses do not add up");
    RecordedLedger visits = persons;
    visits.unit_column = "visit";
    EXPECT_THROW((void)compose({persons, visits}), ConfigError);
    RecordedLedger again = ledger_with_mu("d", {1});
    again.adjacency = Adjacency::record;
    again.unit_column = "patient";
    EXPECT_EQ(compose({persons, again}).unit_column, "patient");
    again.unit_agents = 2;  // whose figures of single agents are of other persons
    expect_contains(
        message_of<ConfigError>([&] {
            (void)compose({persons, again});
        }),
        "runs/d protects all records of one patient at up to 2 agents (--unit-agents 2)");
    EXPECT_THROW((void)compose({}), ConfigError);
}

TEST(ComposedRuns, SayWhatIsNotKnownOfThem) {
    RecordedLedger killed = ledger_with_mu("a", {1}), failed = ledger_with_mu("b", {1});
    killed.status = "running";
    failed.status = "failed";
    failed.insecure = true;
    const std::string notes = notes_of(compose({killed, failed}));
    expect_contains(notes, "runs/a: it is still going on, or was killed; all planned rounds count");
    expect_contains(notes, "runs/b: it failed; all planned rounds count");
    expect_contains(notes, "runs/b: INSECURE");
    EXPECT_EQ(notes.find("whoever every run counts"), std::string::npos);
    RecordedLedger wider = failed;
    wider.directory = "runs/c";
    wider.run = ledger_with_mu("c", {1}).run;
    wider.observer = "any two agents";
    wider.coalition_size = 2;
    killed.observer = "an eavesdropper";
    expect_contains(notes_of(compose({killed, wider})),
                    "the total holds against whoever every run counts: an eavesdropper, as runs/a "
                    "does; runs/c counts any two agents");
}

class ComposedDirectories : public ResumableRun {};

TEST_F(ComposedDirectories, AreReadFromTheRunsThemselves) {
    const TrainResult first = run(config("a", "ldp"));
    TrainConfig stopped = config("b", "ldp");
    (void)run_until_stopped(stopped, 10);
    fs::copy(path("b"), path("copy"), fs::copy_options::recursive);
    const TrainResult second = run(resumed(stopped, path("b")));
    const ComposedRuns composed = compose_runs_in(
        {path("a"), path("b"), path("b"), path("copy")}, std::nullopt, std::nullopt);
    EXPECT_EQ(composed.runs.size(), 2U);
    EXPECT_NEAR(composed.worst().loss.mu().value(), std::hypot(first.mu, second.mu), 1e-9);
}

}  // namespace
}  // namespace sotto::test
