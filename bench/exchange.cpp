// One round of exchange in several ways, which take turns in every repetition.
//
//   mpirun -n RANKS bench_exchange GRAPH REPETITIONS DIMENSION...    GRAPH: complete, erdos-renyi
//
// Rank 0 prints one JSON object: seconds a round, of the slowest rank, by way and repetition.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/stopwatch.hpp"
#include "core/weighted_sum.hpp"
#include "net/mpi_network.hpp"
#include "setup.hpp"
#include "sotto/graph/mixing.hpp"

namespace {

/// Vectors of one dimension, and everything that can be done with them in a round.
class Rounds {
  public:
    Rounds(sotto::Network& network,
           const sotto::Graph& graph,
           const sotto::MixingMatrix& mixing,
           MPI_Comm links,
           int dimension)
        : network_(network), mixing_(mixing), links_(links), dimension_(dimension) {
        const int rank = network.process();
        const auto neighbours = graph.neighbours(rank);
        neighbours_.assign(neighbours.begin(), neighbours.end());
        const auto size = static_cast<std::size_t>(dimension);
        message_.assign(size, rank);
        mixed_.assign(size, 0);
        received_.assign(size * std::max<std::size_t>(1, neighbours_.size()), 0);
        requests_.resize(2 * neighbours_.size());
        std::size_t next = 0;
        for (const int member : graph.closed_neighbourhood(rank))
            columns_.push_back(member == rank ? message_.data() : received_.data() + size * next++);
    }

    void sotto_exchange_and_mix() {
        exchange([&](std::size_t,
                     Eigen::Index first,
                     Eigen::Index count,
                     std::span<const double* const> columns) {
            sotto::weighted_sum(columns,
                                mixing_.weights(network_.process()),
                                {mixed_.data() + first, static_cast<std::size_t>(count)});
        });
    }
    void sotto_exchange() {
        exchange([](std::size_t, Eigen::Index, Eigen::Index, std::span<const double* const>) {});
    }
    void neighbor_allgather() {
        MPI_Neighbor_allgather(message_.data(),
                               dimension_,
                               MPI_DOUBLE,
                               received_.data(),
                               dimension_,
                               MPI_DOUBLE,
                               links_);
    }
    void neighbor_allgather_and_mix() {
        neighbor_allgather();
        sotto::weighted_sum(columns_, mixing_.weights(network_.process()), mixed_);
    }
    void isend_irecv() {
        const auto degree = neighbours_.size();
        for (std::size_t j = 0; j < degree; ++j)
            MPI_Irecv(received_.data() + j * static_cast<std::size_t>(dimension_),
                      dimension_,
                      MPI_DOUBLE,
                      neighbours_[j],
                      0,
                      MPI_COMM_WORLD,
                      &requests_[j]);
        for (std::size_t j = 0; j < degree; ++j)
            MPI_Isend(message_.data(),
                      dimension_,
                      MPI_DOUBLE,
                      neighbours_[j],
                      0,
                      MPI_COMM_WORLD,
                      &requests_[degree + j]);
        MPI_Waitall(static_cast<int>(2 * degree), requests_.data(), MPI_STATUSES_IGNORE);
    }
    void allreduce() {
        MPI_Allreduce(
            message_.data(), mixed_.data(), dimension_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }

  private:
    void exchange(const sotto::Delivery& deliver) {
        sotto::Outgoing outgoing;
        outgoing.to_all = message_.data();
        network_.exchange({0, 0}, {&outgoing, 1}, dimension_, deliver);
    }

    sotto::Network& network_;
    const sotto::MixingMatrix& mixing_;
    MPI_Comm links_;
    int dimension_;
    std::vector<int> neighbours_;
    std::vector<double> message_, mixed_, received_;
    std::vector<const double*> columns_;
    std::vector<MPI_Request> requests_;
};

struct Way {
    const char* name;
    void (Rounds::*round)();
};
constexpr Way ways[] = {{"sotto exchange and mix", &Rounds::sotto_exchange_and_mix},
                        {"sotto exchange", &Rounds::sotto_exchange},
                        {"MPI_Neighbor_allgather", &Rounds::neighbor_allgather},
                        {"MPI_Neighbor_allgather, then mix", &Rounds::neighbor_allgather_and_mix},
                        {"Isend/Irecv", &Rounds::isend_irecv},
                        {"MPI_Allreduce", &Rounds::allreduce}};

/// Seconds a round, of the slowest rank.
double seconds_a_round(Rounds& rounds, const Way& way, long count) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = sotto::Clock::now();
    for (long i = 0; i < count; ++i) (rounds.*way.round)();
    double seconds = sotto::seconds_since(start) / static_cast<double>(count);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

nlohmann::ordered_json measure(Rounds& rounds, int dimension, int repetitions) {
    // As many rounds as take about a quarter of a second, the same for all ways.
    const double wanted = sotto::bench::quick() ? 0.02 : 0.25;
    double slowest = 0;
    for (const auto& way : ways) {
        seconds_a_round(rounds, way, 1);  // allocations and connections of the first call
        slowest = std::max(slowest, seconds_a_round(rounds, way, 2));
    }
    const long count = std::clamp(static_cast<long>(wanted / slowest), 1L, 100'000L);
    nlohmann::ordered_json json{{"dimension", dimension}, {"rounds_a_repetition", count}};
    for (int i = 0; i < repetitions; ++i)
        for (const auto& way : ways)
            json["seconds"][way.name].push_back(seconds_a_round(rounds, way, count));
    return json;
}

MPI_Comm neighbour_communicator(const sotto::Graph& graph, int rank) {
    const auto neighbours = graph.neighbours(rank);
    const int degree = static_cast<int>(neighbours.size());
    MPI_Comm links = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD,
                                   degree,
                                   neighbours.data(),
                                   MPI_UNWEIGHTED,
                                   degree,
                                   neighbours.data(),
                                   MPI_UNWEIGHTED,
                                   MPI_INFO_NULL,
                                   0,
                                   &links);
    return links;
}

}  // namespace

int main(int argc, char** argv) {
    const sotto::MpiSession session;
    try {
        if (argc < 4)
            throw sotto::ConfigError(
                "usage: bench_exchange complete|erdos-renyi REPETITIONS DIMENSION...");
        sotto::TopologySpec spec;
        spec.topology = sotto::parse_topology("graph", argv[1]);
        spec.agents = session.ranks();
        const sotto::Graph graph = sotto::make_topology(spec).graph;
        const auto mixing = sotto::MixingMatrix::from_rule(graph, sotto::MixingRule::metropolis);
        const auto network = sotto::make_mpi_network(session);
        network->connect(graph);
        MPI_Comm links = neighbour_communicator(graph, session.rank());
        nlohmann::ordered_json json{{"ranks", session.ranks()},
                                    {"graph", argv[1]},
                                    {"edges", graph.edges().size()},
                                    {"mpi", sotto::MpiSession::library_version()}};
        for (int i = 3; i < argc; ++i) {
            const int dimension = std::stoi(argv[i]);
            Rounds rounds(*network, graph, mixing, links, dimension);
            json["sizes"].push_back(measure(rounds, dimension, std::stoi(argv[2])));
        }
        if (session.rank() == 0) fmt::print("{}\n", json.dump());
        MPI_Comm_free(&links);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_exchange: {}\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return 1;
}
