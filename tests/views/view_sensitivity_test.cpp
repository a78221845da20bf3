#include "sotto/views/view_sensitivity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/linear_algebra.hpp"
#include "core/test_support.hpp"
#include "sotto/core/error.hpp"
#include "views/dense_view.hpp"
#include "views/view_fixtures.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(SquaredSensitivity, IsCertifiedByItsSmallestBound) {
    SquaredSensitivity value;
    value.constant_sign = 1;  // an attack, no bound
    value.tight_lower = 2;
    value.abs_sum = 5;
    value.tight_upper = 4;
    value.trivial = 6;
    EXPECT_EQ(value.certified(), 4);
    value.trivial = 3;
    EXPECT_EQ(value.certified(), 3);
    value.infinite = true;
    EXPECT_EQ(value.certified(), infinity);
}

TEST(SquaredSensitivity, IsUnboundedWithoutNoise) {
    const SquaredSensitivity value = SquaredSensitivity::unbounded();
    EXPECT_TRUE(value.infinite);
    EXPECT_EQ(value.constant_sign, infinity);
    EXPECT_EQ(value.certified(), infinity);
}

TEST(SquaredSensitivity, OfAllMessagesIsItsOnlyBound) {
    EXPECT_EQ(SquaredSensitivity::all_messages(7).certified(), 7);
    EXPECT_FALSE(SquaredSensitivity::all_messages(7).infinite);
    EXPECT_TRUE(SquaredSensitivity::all_messages(infinity).infinite);
}

using namespace test;

std::vector<SquaredSensitivity> account(const MessageProcess& process,
                                        const View& view,
                                        const Participation& participation = {1}) {
    return view_sensitivity(process, view, everybody(process.plan->agents), participation, {});
}

// ---- Infinite where the view holds a noiseless function of the input.

TEST(ViewSensitivity, RefusesFiguresOfViewsItDoesNotFollow) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = unit_plan(5);
    MessageProcess process = process_of(graph, plan, {fixed_phase(metropolis(graph), 3)});
    const View node{View::Kind::neighbours, {0}}, all{View::Kind::all_messages, {0}};
    EXPECT_TRUE(has_exact_figures(process, node));
    process.final_gossip = 2;
    EXPECT_FALSE(has_exact_figures(process, node));
    EXPECT_TRUE(has_exact_figures(process, all));
    const auto refused = [&] {
        return message_of<PrivacyError>([&] { (void)view_gram(process, node, 2); });
    };
    EXPECT_TRUE(contains(refused(), "not known exactly with final-gossip 2 (allowed: 0"));
    process.final_gossip = 0;
    process.gossip = GossipPolynomial::combined(1, {-0.5, 1.5});
    EXPECT_TRUE(
        contains(refused(), "not known exactly with gossip optimal (allowed: plain, chebyshev"));
    process.momentum = 0.9;
    EXPECT_TRUE(contains(refused(), "not known exactly with momentum 0.9 (allowed: 0"));
    EXPECT_TRUE(contains(message_of<PrivacyError>([&] {
                             (void)view_sensitivity(process, node, std::vector<int>{2}, {}, {});
                         }),
                         "momentum 0.9"));
    process.correction = Correction::tracking;
    EXPECT_TRUE(
        contains(refused(), "not known exactly with correction tracking (allowed: none, or"));
    EXPECT_TRUE(view_gram(process, all, 2).has_value());
}

TEST(Infinite, IsOneSharedSeedAgainstAnyAgentThatHoldsIt) {
    const Graph graph = make_graph(Topology::ring, 6);
    const NoisePlan plan = shared_seed_plan(6);
    const MessageProcess process = process_of(graph, plan, {fixed_phase(metropolis(graph), 12)});
    for (const View::Kind kind :
         {View::Kind::all_messages, View::Kind::neighbours, View::Kind::secure_sum})
        for (const auto& target : account(process, {kind, {2}})) {
            EXPECT_TRUE(target.infinite);
            EXPECT_EQ(target.certified(), infinity);
            EXPECT_EQ(target.trivial, infinity);
        }
    for (const auto& target : account(process, {View::Kind::all_messages, {}}))
        EXPECT_TRUE(std::isfinite(target.certified()));
}

TEST(Infinite, IsPairNoiseAloneAgainstTheEavesdropper) {
    const Graph graph = make_graph(Topology::erdos_renyi, 7, 2);
    const NoisePlan plan = pair_plan(graph);
    for (const int gossip_steps : {1, 3}) {
        const MessageProcess process =
            process_of(graph, plan, {fixed_phase(metropolis(graph), 5)}, gossip_steps);
        for (const auto& target : account(process, {View::Kind::all_messages, {}}))
            EXPECT_TRUE(target.infinite);
    }
}

TEST(Infinite, IsZeroSumNoiseThatLeavesTheSenderOut) {
    const Graph graph = make_graph(Topology::ring, 6);
    const MixingMatrix mixing = metropolis(graph);
    const NoisePlan leaving_out = zero_sum_plan(graph, mixing, false);
    const NoisePlan with_sender = zero_sum_plan(graph, mixing, true);
    MessageProcess process = process_of(graph, leaving_out, {fixed_phase(mixing, 4)});
    const View eavesdropper{View::Kind::all_messages, {}};
    for (const auto& target : account(process, eavesdropper)) EXPECT_TRUE(target.infinite);
    process.plan = &with_sender;
    for (const auto& target : account(process, eavesdropper)) {
        EXPECT_FALSE(target.infinite);
        EXPECT_GT(target.certified(), 0);
        EXPECT_EQ(target.trivial, infinity);  // not a bound where messages differ
    }
}

TEST(Infinite, IsNoNoiseAtAllOnceTheInputArrives) {
    const Graph graph = make_graph(Topology::path, 5);
    NoisePlan plan = blank_plan(5);
    plan.scale = 0;
    plan.rows.clear();
    // Two rounds: the input of agent 2 reaches agent 1's message, that of agent 4 does not.
    const auto found = account(process_of(graph, plan, {fixed_phase(metropolis(graph), 2)}),
                               {View::Kind::neighbours, {0}});
    EXPECT_TRUE(found[1].infinite);
    EXPECT_TRUE(found[2].infinite);
    EXPECT_FALSE(found[4].infinite);
    EXPECT_EQ(found[4].certified(), 0);
}

TEST(Infinite, IsAMemberOfTheView) {
    const Graph graph = make_graph(Topology::ring, 5);
    const NoisePlan plan = unit_plan(5);
    const auto found = account(process_of(graph, plan, {fixed_phase(metropolis(graph), 3)}),
                               {View::Kind::neighbours, {1, 3}});
    for (int u = 0; u < 5; ++u)
        EXPECT_EQ(found[static_cast<std::size_t>(u)].infinite, u == 1 || u == 3);
}

// ---- What must hold.

TEST(AllMessages, AreTheGuaranteeOfTheAccountant) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 3);
    const NoisePlan plan = random_plan(graph, 3);
    MessageProcess process = process_of(graph, plan, {fixed_phase(metropolis(graph), 7)}, 2);
    process.step_sizes = {1, 0.5, 0.4, 0.3, 0.2, 0.2, 0.1};
    for (const std::vector<int>& coalition : {std::vector<int>{}, {2}, {0, 5}}) {
        const Eigen::VectorXd precision = observed_precision(plan, {coalition});
        const auto every = account(process, {View::Kind::all_messages, coalition});
        const auto cyclic = account(process, {View::Kind::all_messages, coalition}, {3});
        for (int u = 0; u < 8; ++u) {
            const auto place = static_cast<std::size_t>(u);
            if (every[place].infinite) continue;
            EXPECT_TRUE(relatively_near(every[place].certified(), 7 * precision(u), 1e-12));
            EXPECT_TRUE(relatively_near(cyclic[place].certified(), 3 * precision(u), 1e-12));
            EXPECT_TRUE(relatively_near(every[place].trivial, 7 * precision(u), 1e-12));
        }
    }
}

TEST(PartialViews, LearnLessThanAllMessagesAndNeverLessWithMoreMembersOrRounds) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const Graph graph = make_graph(Topology::erdos_renyi, 9, seed);
        const NoisePlan plan = decor_plan(graph);
        const auto shorter = process_of(graph, plan, {fixed_phase(metropolis(graph), 5)});
        const auto longer = process_of(graph, plan, {fixed_phase(metropolis(graph), 8)});
        for (const View::Kind kind : {View::Kind::neighbours, View::Kind::secure_sum}) {
            for (int target = 2; target < 9; ++target) {
                const auto few = view_gram(shorter, {kind, {0}}, target);
                const auto longer_few = view_gram(longer, {kind, {0}}, target);
                const auto more = view_gram(shorter, {kind, {0, 1}}, target);
                const auto plain = view_gram(shorter, {View::Kind::neighbours, {0}}, target);
                ASSERT_TRUE(few && more && longer_few && plain);
                EXPECT_GE(symmetric_eigenvalues(*more - *few)(0), -1e-10);
                EXPECT_GE(symmetric_eigenvalues(longer_few->topLeftCorner(5, 5) - *few)(0), -1e-10);
                EXPECT_GE(symmetric_eigenvalues(*plain - *few)(0), -1e-10);
            }
            const auto all = account(longer, {View::Kind::all_messages, {0}});
            const auto part = account(longer, {kind, {0}});
            for (std::size_t u = 1; u < 9; ++u) {
                EXPECT_LE(part[u].tight_lower, all[u].certified() * (1 + 1e-9));
                EXPECT_LE(part[u].constant_sign, part[u].tight_upper * (1 + 1e-9));
                EXPECT_LE(part[u].tight_lower, part[u].tight_upper);
                EXPECT_LE(part[u].tight_upper, part[u].abs_sum * (1 + 1e-12));
                EXPECT_LE(part[u].tight_upper, part[u].tight_lower * (1 + 1e-4));
                EXPECT_DOUBLE_EQ(part[u].trivial, all[u].certified());
            }
        }
    }
}

TEST(PartialViews, HaveEigenvaluesBetweenZeroAndOneAtUnitNoise) {
    const Graph graph = make_graph(Topology::erdos_renyi, 10, 4);
    const NoisePlan plan = unit_plan(10);
    for (const int gossip_steps : {1, 3}) {
        const auto process =
            process_of(graph, plan, {fixed_phase(metropolis(graph), 20)}, gossip_steps);
        for (int target = 1; target < 10; ++target) {
            const Eigen::VectorXd values =
                symmetric_eigenvalues(*view_gram(process, {View::Kind::neighbours, {0}}, target));
            EXPECT_GE(values.minCoeff(), -1e-12);
            EXPECT_LE(values.maxCoeff(), 1 + 1e-9);
        }
    }
}

TEST(PartialViews, DoNotDependOnTheNumbersOfTheAgents) {
    const Graph graph = make_graph(Topology::erdos_renyi, 8, 7);
    std::vector<Edge> edges;
    for (const auto& [u, v] : graph.edges()) edges.emplace_back(7 - u, 7 - v);
    const Graph mirrored = Graph::from_edges(8, edges);
    const NoisePlan plan = decor_plan(graph), mirrored_plan = decor_plan(mirrored);
    const auto found = account(process_of(graph, plan, {fixed_phase(metropolis(graph), 6)}),
                               {View::Kind::neighbours, {2, 3}});
    const auto other =
        account(process_of(mirrored, mirrored_plan, {fixed_phase(metropolis(mirrored), 6)}),
                {View::Kind::neighbours, {4, 5}});
    for (std::size_t u = 0; u < 8; ++u) {
        if (found[u].infinite) continue;
        EXPECT_TRUE(relatively_near(found[u].abs_sum, other[7 - u].abs_sum, 1e-10));
        EXPECT_TRUE(relatively_near(found[u].tight_upper, other[7 - u].tight_upper, 1e-4));
    }
}

TEST(PartialViews, AreTheSameWithThreads) {
    const Graph graph = make_graph(Topology::erdos_renyi, 30, 7);
    const NoisePlan plan = unit_plan(30);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 40)});
    const View view{View::Kind::neighbours, {3}};
    const auto one = view_sensitivity(process, view, everybody(30), {1}, {1, 1e-5});
    const auto three = view_sensitivity(process, view, everybody(30), {1}, {3, 1e-5});
    for (std::size_t u = 0; u < 30; ++u) {
        EXPECT_EQ(one[u].infinite, three[u].infinite);
        if (one[u].infinite) continue;
        EXPECT_TRUE(relatively_near(one[u].abs_sum, three[u].abs_sum, 1e-12));
    }
}

TEST(Phases, DoNotSimplyAdd) {
    // A ring of six with a chord; agent 1 leaves after five rounds, five more follow.
    const auto edges = [](bool with_leaver) {
        std::vector<Edge> all{{2, 3}, {3, 4}, {4, 5}, {0, 5}, {0, 3}};
        if (with_leaver) all.insert(all.end(), {{0, 1}, {1, 2}});
        return Graph::from_edges(6, all);
    };
    const Graph graph = edges(true), left = edges(false);
    const NoisePlan plan = unit_plan(6);
    const View view{View::Kind::neighbours, {3}};
    const Phase before = fixed_phase(metropolis(graph), 5),
                after = fixed_phase(metropolis(left), 5, {1});
    const auto value = [&](std::vector<Phase> phases) {
        const std::vector<int> target{5};
        return view_sensitivity(process_of(graph, plan, std::move(phases)), view, target, {1}, {})
            .front()
            .certified();
    };
    EXPECT_NEAR(value({before, after}), 2.79237, 1e-5);
    EXPECT_NEAR(value({before}) + value({after}), 2.15118, 1e-5);
}

// ---- Training is not covered by partial views.

double normal_quantile(double p) {
    double low = -10, high = 10;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
    }
    return low;
}

TEST(AdaptiveGradients, ExceedThePartialViewAndKeepTheGuarantee) {
    // Path a - b - u; a observes b. b's gradient is clip(-5 x), so it repeats u's data.
    const Graph graph = make_graph(Topology::path, 3);
    const double noise = 0.5;
    const NoisePlan plan = private_plan({noise, noise, noise});
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 2)});
    const std::vector<int> target{2};
    const double sensitivity = 2;  // clip norm 1
    const View partial{View::Kind::neighbours, {0}};
    const View everything{View::Kind::all_messages, {0}};
    EXPECT_FALSE(partial.sound_for_training());
    EXPECT_TRUE(everything.sound_for_training());
    const auto mu = [&](const View& view) {
        return sensitivity *
               std::sqrt(view_sensitivity(process, view, target, {1}, {}).front().certified());
    };
    EXPECT_NEAR(mu(partial), 1.265, 1e-3);
    EXPECT_NEAR(mu(everything), sensitivity * std::sqrt(2.0) / noise, 1e-9);

    // What a sees of b's second message, less what it knows, for u's gradient +1 and -1.
    SeededRandom random(5, "adaptive gradients");
    const int trials = 40000;
    std::vector<double> statistic[2];
    for (int sign = 0; sign < 2; ++sign)
        for (int i = 0; i < trials; ++i) {
            const double gradient = sign == 0 ? 1 : -1;
            const double from_a = -noise * random.normal();
            const double from_b = -noise * random.normal();  // b's gradient at 0 is 0
            const double from_u = -(gradient + noise * random.normal());
            const double model = (from_a + from_b + from_u) / 3;
            const double second =
                model - std::clamp(-5 * model, -1.0, 1.0) - noise * random.normal();
            statistic[sign].push_back(second - (from_a + from_b) / 3);
        }
    double found = 0;
    for (double threshold = -1; threshold <= 1; threshold += 0.05) {
        const auto share = [&](int sign) {
            return static_cast<double>(std::count_if(statistic[sign].begin(),
                                                     statistic[sign].end(),
                                                     [&](double x) { return x > threshold; })) /
                   trials;
        };
        const double right = share(1), wrong = share(0);
        // Shares of a few of 40000 say nothing.
        if (right > 0.999 || wrong < 0.001) continue;
        found = std::max(found, normal_quantile(right) - normal_quantile(wrong));
    }
    EXPECT_GT(found, 1.8 * mu(partial));
    EXPECT_LT(found, mu(everything));
}

using namespace test;

TEST(MatrixSensitivity, OfPlayedObservationsIsThatOfTheView) {
    const Graph graph = make_graph(Topology::erdos_renyi, 6, 2);
    const NoisePlan plan = unit_plan(6);
    const auto process = process_of(graph, plan, {fixed_phase(metropolis(graph), 5)});
    const View view{View::Kind::neighbours, {0}};
    const PlayedRun run(process, view);
    const Eigen::Index values = run.input(0, 1).size();
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(values, 30), b = a;
    for (int t = 0; t < 5; ++t)
        for (int u = 1; u < 6; ++u) {
            a.col(t * 6 + u) = run.input(t, u);
            b.col(t * 6 + u) = run.noise(t, u);
        }
    const std::vector<int> targets{1, 2, 3, 4, 5};
    const auto expected = view_sensitivity(process, view, targets, {1}, {});
    const auto found = matrix_sensitivity(a, b, 6, targets, {1}, 1e-5);
    for (std::size_t i = 0; i < targets.size(); ++i)
        EXPECT_TRUE(relatively_near(found[i].abs_sum, expected[i].abs_sum, 1e-9));
    // Without agent 1's noise its input is bare in what it sends, if the observer hears it.
    for (int t = 0; t < 5; ++t) b.col(t * 6 + graph.neighbours(0)[0]).setZero();
    const std::vector<int> bare{graph.neighbours(0)[0]};
    EXPECT_TRUE(matrix_sensitivity(a, b, 6, bare, {1}, 1e-5).front().infinite);
}

TEST(MatrixSensitivity, RefusesWhatDoesNotFit) {
    const Eigen::MatrixXd a = Eigen::MatrixXd::Ones(2, 6), b = Eigen::MatrixXd::Identity(2, 2);
    const std::vector<int> targets{0};
    const auto call = [&](const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, int agents) {
        (void)matrix_sensitivity(x, y, agents, targets, {1}, 1e-5);
    };
    EXPECT_NE(
        message_of<ConfigError>([&] { call(a, Eigen::MatrixXd::Ones(3, 3), 3); }).find("rows"),
        std::string::npos);
    EXPECT_NE(message_of<ConfigError>([&] { call(a, b, 4); }).find("6 columns"), std::string::npos);
    EXPECT_NE(message_of<DataError>([&] { call(a * not_a_number, b, 3); }).find("finite"),
              std::string::npos);
}

}  // namespace
}  // namespace sotto
