#include "audit/person_canaries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "audit/audit_fixtures.hpp"
#include "audit/audit_run.hpp"
#include "config/run_fixtures.hpp"
#include "privacy/person_loss.hpp"
#include "sotto/core/error.hpp"

namespace sotto::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int agents_of_persons = 8;

AuditConfig person_config(const std::string& mechanism, const std::string& view, int unit_agents) {
    AuditConfig config = audit_config(mechanism, agents_of_persons, 10);
    config.train.plan.unit_agents = unit_agents;
    config.view = view;
    config.trials = 2000;
    return config;
}

struct DesignedPerson {
    AuditSubject subject;
    AuditDesign design;
};
DesignedPerson designed(const AuditConfig& config) {
    const auto network = make_memory_network(agents_of_persons, 1);
    AuditSubject subject = build_audit_subject(config, true, *network);
    AuditDesign design = design_audit(config, subject);
    return {std::move(subject), std::move(design)};
}

const Hypothesis& named(const AuditDesign& design, const std::string& name) {
    return *std::ranges::find(design.hypotheses, name, &Hypothesis::name);
}

TEST(PersonSides, MakeTheFormLargest) {
    MatrixXd gram(3, 3);
    gram << 2, -1, 0.5, -1, 2, 1, 0.5, 1, 2;
    const VectorXd sides = worst_sides(gram);
    double most = 0;
    for (int bits = 0; bits < 8; ++bits) {
        const Eigen::Vector3d all(
            (bits & 1) != 0 ? 1 : -1, (bits & 2) != 0 ? 1 : -1, (bits & 4) != 0 ? 1 : -1);
        most = std::max(most, all.dot(gram * all));
    }
    EXPECT_DOUBLE_EQ(sides.dot(gram * sides), most);
    EXPECT_EQ(sides(0), 1);
    // Of many agents: all on one side where every entry is positive, two sides where pairs differ.
    const MatrixXd together = MatrixXd::Constant(20, 20, 0.1) + MatrixXd::Identity(20, 20);
    EXPECT_EQ(worst_sides(together), VectorXd::Ones(20));
    VectorXd halves = VectorXd::Ones(20);
    halves.tail(10).setConstant(-1);
    EXPECT_EQ(worst_sides(together.cwiseProduct(halves * halves.transpose())), halves);
}

TEST(PersonForm, IsThatOfTheAccountantsPrecisionWhereAllMessagesAreSeen) {
    const auto [subject, design] = designed(person_config("pairs", "all-messages:2", 3));
    const NoisePlan& plan = subject.account->plan;
    const MatrixXd precision = observed_precision_matrix(plan, subject.view.members);
    const std::vector<int> outside = agents_outside(subject.view, agents_of_persons);
    const PersonForm form(subject, design.targets);
    const VectorXd signs = VectorXd::Ones(10);
    const auto gram = form.of_agents(signs);
    ASSERT_TRUE(gram);
    const auto place = [&](std::size_t a) {
        return std::ranges::lower_bound(outside, design.targets[a]) - outside.begin();
    };
    for (std::size_t a = 0; a < design.targets.size(); ++a)
        for (std::size_t b = 0; b < design.targets.size(); ++b)
            EXPECT_NEAR((*gram)(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)),
                        10 * precision(place(a), place(b)),
                        1e-8 * gram->maxCoeff());
    const VectorXd sides = worst_sides(*gram);
    const auto rounds = form.of_rounds(sides);
    ASSERT_TRUE(rounds);
    EXPECT_NEAR(signs.dot(*rounds * signs), sides.dot(*gram * sides), 1e-9 * gram->sum());
}

TEST(PersonDesign, AsksAboutThePersonThatTheViewLearnsMostAbout) {
    for (const char* mechanism : {"ldp", "pairs", "decor"})
        for (const int agents : {2, 3}) {
            const auto [subject, design] =
                designed(person_config(mechanism, "all-messages:2", agents));
            const NoisePlan& plan = subject.account->plan;
            const auto& exposures = subject.account->exposures;
            const std::vector<std::vector<int>> members{subject.view.members};
            const WorstPerson worst =
                worst_person(plan, members, {agents, reach_of(exposures), {}});
            EXPECT_EQ(design.targets, worst.agents);
            EXPECT_NEAR(design.claim_mu, std::sqrt(worst.upper), 1e-6 * design.claim_mu);
            // Whatever signs over agents reach: of two agents, everything.
            const double most = named(design, "constant").mu_theory;
            EXPECT_LE(most, design.claim_mu * (1 + 1e-9));
            if (agents == 2) {
                EXPECT_NEAR(most, design.claim_mu, 1e-6 * design.claim_mu);
            }
            EXPECT_LT(named(design, "one agent").mu_theory, most);
            EXPECT_EQ(named(design, "one agent").sides.cwiseAbs().sum(), 1);
        }
}

TEST(PersonDesign, TakesTheAgentsThatAreNamed) {
    AuditConfig config = person_config("pairs", "eavesdropper", 3);
    config.targets = {2, 5, 7};
    EXPECT_EQ(designed(config).design.targets, config.targets);
    config.targets = {4};
    const AuditDesign alone = designed(config).design;
    EXPECT_EQ(alone.whom(), "agent 4");
    EXPECT_EQ(named(alone, "constant").sides, VectorXd::Ones(1));
    config.targets = {1, 2, 3, 4};
    expect_contains(message_of<ConfigError>([&] { (void)designed(config); }), "at most 3");
    config.targets = {1, 2};
    config.view = "all-messages:2";
    expect_contains(message_of<ConfigError>([&] { (void)designed(config); }), "knows its own");
    config = person_config("homomorphic", "eavesdropper", 2);
    expect_contains(message_of<ConfigError>([&] { (void)designed(config); }), "unit-agents");
    config = person_config("pairs", "eavesdropper", 1);
    config.targets = {1, 2};
    expect_contains(message_of<ConfigError>([&] { (void)designed(config); }), "at most 1");
}

TEST(PersonDesign, FindsTheWorstCoalition) {
    const auto [subject, design] = designed(person_config("pairs", "worst-all-messages:2", 2));
    EXPECT_EQ(subject.view.members.size(), 2U);
    double most = 0;
    for (int a = 0; a < agents_of_persons; ++a)
        for (int b = a + 1; b < agents_of_persons; ++b) {
            const std::vector<std::vector<int>> members{{a, b}};
            const PersonQuery persons{2, reach_of(subject.account->exposures), {}};
            most = std::max(most, worst_person(subject.account->plan, members, persons).upper);
        }
    EXPECT_NEAR(design.claim_mu, std::sqrt(most), 1e-6 * design.claim_mu);
}

TEST(PersonDesign, OfAViewThatShowsMoreThanTheClaimIsRefused) {
    auto [subject, design] = designed(person_config("pairs", "eavesdropper", 2));
    for (Exposure& exposure : subject.account->exposures) exposure.sensitivity /= 2;
    expect_contains(message_of<PrivacyError>([&] { (void)accounted_for_person(design, subject); }),
                    "please report this");
}

TEST(PersonCanaries, SurviveTheirWayThroughAFile) {
    const AuditDesign design = designed(person_config("pairs", "eavesdropper", 3)).design;
    const std::string text = canaries_json(design);
    const AuditDesign back = canaries_from_json(text, "canaries.json");
    EXPECT_EQ(back.targets, design.targets);
    EXPECT_EQ(back.patterns(), design.patterns());
    for (std::size_t place = 0; place < 3; ++place)
        EXPECT_EQ(back.sides_of(place), design.sides_of(place));
    const auto message = [&](auto&& damage) {
        Json json = Json::parse(text);
        damage(json);
        return message_of<DataError>([&] { (void)canaries_from_json(json.dump(), "x"); });
    };
    expect_contains(message([](auto& json) { json["version"] = 1; }), "version is 1 (must be 2)");
    expect_contains(message([](auto& json) { json["targets"] = {3, 1, 2}; }), "ascending");
    expect_contains(message([](auto& json) { json["targets"] = Json::array(); }), "ascending");
    expect_contains(message([](auto& json) {
                        json["hypotheses"][0]["sides"] = {1, 1};
                    }),
                    "one per target");
    expect_contains(message([](auto& json) { json["hypotheses"][0].erase("sides"); }), "sides");
}

TEST(PersonAudit, MeasuresWhatTheAccountantSays) {
    for (const char* mechanism : {"ldp", "pairs", "decor"})
        for (const char* view : {"eavesdropper", "all-messages:1", "coalition:1,2"}) {
            AuditConfig config = person_config(mechanism, view, 2);
            const TemporaryFolder folder;
            config.train.run_directory = folder.path("run");
            config.level = 0.999;
            const LikelihoodResult result = audit<LikelihoodResult>(config);
            EXPECT_TRUE(result.consistent()) << view << " " << audit_report_text(result);
            EXPECT_EQ(result.design.targets.size(), 2U);
            for (std::size_t h = 0; h < result.verdicts.size(); ++h) {
                const double theory = result.design.hypotheses[h].mu_theory;
                EXPECT_LE(result.verdicts[h].figures.lower, theory) << mechanism << " " << view;
                EXPECT_GE(result.verdicts[h].figures.upper, theory) << mechanism << " " << view;
            }
            const Json json = Json::parse(audit_report_json(result));
            EXPECT_EQ(json.at("person"), Json(result.design.targets));
            EXPECT_EQ(json.at("unit_agents"), 2);
            EXPECT_FALSE(json.contains("target"));
            EXPECT_TRUE(json.at("hypotheses")[0].contains("sides"));
            expect_contains(audit_report_text(result), "asks about a person at agents");
        }
}

TEST(PersonAudit, LooksAtARunAgain) {
    AuditConfig config = person_config("pairs", "all-messages:1,2", 2);
    const TemporaryFolder folder;
    config.train.run_directory = folder.path("run");
    const LikelihoodResult first = audit<LikelihoodResult>(config);
    config.run = config.train.run_directory;
    config.view = "all-messages:1";
    const LikelihoodResult again = audit<LikelihoodResult>(config);
    EXPECT_EQ(again.design.targets, first.design.targets);
    EXPECT_LT(again.design.hypotheses.front().mu_theory, first.design.hypotheses.front().mu_theory);
    config.targets = {0};
    expect_contains(message_of<ConfigError>([&] { (void)audit<LikelihoodResult>(config); }),
                    "whose canaries are of a person at agents");
}

LikelihoodResult of_pipeline(const AuditConfig& config, const Sabotage& sabotage) {
    const LikelihoodResult honest = audit_pipeline(config, {});
    EXPECT_TRUE(honest.consistent()) << audit_report_text(honest);
    return audit_pipeline(config, sabotage);
}

TEST(PersonSabotage, NoiseForPersonsAtOneAgentIsCaught) {
    for (const char* mechanism : {"ldp", "pairs"}) {
        const AuditConfig config = person_config(mechanism, "eavesdropper", 2);
        AuditConfig one = config;
        one.train.plan.unit_agents = 1;
        const NoisePlan quiet = designed(one).subject.account->plan;
        Sabotage sabotage;
        sabotage.noise = [&](NoisePlan& plan, const MixingMatrix&) { plan = quiet; };
        const LikelihoodResult result = of_pipeline(config, sabotage);
        EXPECT_FALSE(result.consistent());
        EXPECT_TRUE(result.verdicts.front().exceeds()) << audit_report_text(result);
    }
}

/// The second agent of the person adds the noise of the first one, times a factor.
LikelihoodResult with_noise_of_the_first(double factor) {
    const AuditConfig config = person_config("ldp", "eavesdropper", 2);
    Sabotage sabotage;
    sabotage.unclipped = true;
    sabotage.objective = [&](auto inner,
                             const auto& plan,
                             auto rings,
                             int agent,
                             const auto& design) -> std::unique_ptr<Objective> {
        if (agent != design.targets.back()) return inner;
        const int first = design.targets.front();
        return std::make_unique<ReplacedNoise>(
            std::move(inner), plan, rings, agent, [first, factor](const MatrixXd& noise) {
                return VectorXd(factor * noise.col(first));
            });
    };
    return of_pipeline(config, sabotage);
}

TEST(PersonSabotage, TwoAgentsWithTheSameNoiseAreCaught) {
    const LikelihoodResult result = with_noise_of_the_first(1);
    EXPECT_FALSE(result.consistent());
    EXPECT_FALSE(result.noise_as_accounted);
}

TEST(PersonSabotage, NoiseThatCancelsBetweenThePersonsAgentsIsCaught) {
    const LikelihoodResult result = with_noise_of_the_first(-1);
    EXPECT_FALSE(result.noise_as_accounted);
    // What both send together has no noise, which nobody sees of one agent alone.
    EXPECT_TRUE(result.verdicts.front().exceeds()) << audit_report_text(result);
    EXPECT_FALSE(result.verdicts.back().exceeds());
    EXPECT_EQ(result.design.hypotheses.back().name, "one agent");
}

}  // namespace
}  // namespace sotto::test
