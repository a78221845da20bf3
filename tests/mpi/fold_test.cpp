// Under mpiexec, any number of ranks. Every rank calls every collective, so nothing between
// collectives may leave a test early: EXPECT only.

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "core/seeded_random.hpp"
#include "mpi/mpi_main.hpp"
#include "net/memory_network.hpp"
#include "trust/pair_fixtures.hpp"

namespace sotto {
namespace {

/// @param n agents.
void expect_same_bits(int n, bool encrypted) {
    const auto across = test::mpi_network(n);
    const auto local = across->local_agents();
    auto secrets = test::pair_secrets(n);
    if (encrypted) {
        across->connect(Graph::from_edges(n, {}));
        across->protect(
            std::span(secrets).subspan(static_cast<std::size_t>(local.front()), local.size()), 0);
    }
    const auto inside = make_memory_network(n, 1);
    // The largest is gathered in several pieces when there are 2 ranks or more.
    for (const Eigen::Index d : {0, 1, 7, 124, 1200000}) {
        if (d > 124 && (encrypted || n > 3 * across->processes())) continue;
        Eigen::MatrixXd all(d, n);
        for (int u = 0; u < n; ++u) {
            SeededRandom random(static_cast<std::uint64_t>(u), "test.net.sum");
            for (Eigen::Index i = 0; i < d; ++i)  // of very different sizes: order matters
                all(i, u) =
                    (random.uniform() - 0.5) * std::ldexp(1.0, (static_cast<int>(i) + 17 * u) % 50);
        }
        for (const Fold fold : {Fold::sum, Fold::maximum}) {
            const Eigen::VectorXd total = across->fold_over_agents(
                all.middleCols(local.front(), std::ssize(local)), fold, {});
            EXPECT_EQ(total.size(), d);
            EXPECT_TRUE(total == inside->fold_over_agents(all, fold, {})) << "dimension " << d;
        }
    }
}

TEST(MpiFold, GivesTheSameBitsAsInOneProcess) {
    for (const int n : test::agents_on_ranks())
        for (const bool encrypted : {false, true}) expect_same_bits(n, encrypted);
}

TEST(MpiFold, ShowsProcess0EveryOtherAgentsValuesBeforeTheyAreCombined) {
    const int n = test::mpi_session().ranks() * 2;
    const auto across = test::mpi_network(n);
    // In several pieces with 2 ranks or more.
    constexpr Eigen::Index d = 1200000;
    std::vector<Eigen::Index> seen(static_cast<std::size_t>(n), 0);
    bool right = true;
    Eigen::MatrixXd own(d, 2);
    for (int a = 0; a < 2; ++a) own.col(a).setConstant(2 * across->process() + a);
    (void)across->fold_over_agents(
        own, Fold::sum, [&](int agent, Eigen::Index first, std::span<const double> values) {
            Eigen::Index& next = seen[static_cast<std::size_t>(agent)];
            right = right && first == next && values.front() == agent && values.back() == agent;
            next += static_cast<Eigen::Index>(values.size());
        });
    EXPECT_TRUE(right);
    for (int u = 0; u < n; ++u)
        EXPECT_EQ(seen[static_cast<std::size_t>(u)], across->process() == 0 && u > 1 ? d : 0);
}

}  // namespace
}  // namespace sotto
