#include "net/mpi_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "net/exchange_checks.hpp"
#include "net/mpi/agree.hpp"
#include "net/mpi/all_gather.hpp"
#include "net/mpi/broadcast.hpp"
#include "net/mpi/edge_pieces.hpp"
#include "net/mpi/exchange.hpp"
#include "net/mpi/exchange_sum.hpp"
#include "net/mpi/fold.hpp"
#include "net/mpi/links.hpp"
#include "net/mpi/long_strings.hpp"
#include "net/mpi/maximum.hpp"
#include "net/mpi/parcels.hpp"
#include "net/mpi/protection.hpp"
#include "net/mpi/scatter.hpp"
#include "net/mpi/world.hpp"
#include "net/mpi_session.hpp"

namespace sotto {
namespace {

/// Checks preconditions; each collective has its file in net/mpi.
class MpiNetwork final : public Network {
  public:
    MpiNetwork(const MpiSession& session, int agents)
        : Network({agents, session.ranks()}, session.rank()),
          world_(MPI_Comm_f2c(session.communicator())) {}

    std::string process_name() const override { return world_.name_of(world_.rank()); }
    std::string description() const override { return MpiSession::library_version(); }

    std::unique_ptr<Network> without(std::span<const int> leaving) override {
        const bool leaves = std::ranges::binary_search(leaving, local_agents().front());
        MPI_Comm rest = MPI_COMM_NULL;
        check_mpi(
            MPI_Comm_split(world_.communicator(), leaves ? MPI_UNDEFINED : 0, world_.rank(), &rest),
            "MPI_Comm_split");
        if (leaves) return nullptr;
        const MpiSession session(MPI_Comm_c2f(rest));
        return make_mpi_network(session);
    }

    void connect(const Graph& graph) override {
        const Digest wanted = graph_of_rank_0(world_, graph);
        agree([&] {
            check_connect(graph, agents(), links_.connected());
            if (graph.hash() != wanted)
                throw NetworkError(fmt::format(
                    "rank {} has another graph than rank 0; all need the same", process()));
        });
        links_.connect(graph);
        if (maximum(has_aes256_gcm() ? 0 : 1) == 0) cipher_ = AeadCipher::aes256_gcm;
    }

    void protect(std::span<PairSecrets> secrets, std::uint32_t key_epoch) override {
        if (!links_.connected())
            throw Error(ExitCode::other, "encryption before the network is connected");
        require_own_secrets(secrets, blocks(), process());
        std::vector<LinkCipher> of_exchange = process_ciphers(
            secrets, blocks(), links_.neighbours(), key_epoch, LinkUse::exchange, cipher_);
        std::vector<LinkCipher> of_collection =
            collection_ciphers(secrets, blocks(), key_epoch, cipher_);
        pieces_.protect(std::move(of_exchange));
        fold_.protect(std::move(of_collection));
    }
    std::optional<AeadCipher> encryption() const override {
        return pieces_.encrypted() ? std::optional(cipher_) : std::nullopt;
    }
    void watch_for_stalls(StallLimits limits) override {
        world_.watch_for_stalls(std::move(limits));
    }

    void work_while_waiting(WaitingWork piece) override {
        world_.work_while_waiting(std::move(piece));
    }

    void exchange(ExchangeId id,
                  std::span<const Outgoing> outgoing,
                  Eigen::Index dimension,
                  const Delivery& deliver) override {
        check_exchange(links_.connected(), outgoing.size(), local_agents().size(), dimension);
        for (std::size_t a = 0; a < outgoing.size(); ++a)
            check_outgoing(outgoing[a], outgoing.front(), links_.members(a), local_agents()[a]);
        exchange_.run(id, outgoing, dimension, message_precision(), deliver, deadline());
    }
    long round_of_neighbours() override { return pieces_.mail().round_of_neighbours(); }
    void call_meeting() override { pieces_.mail().call_meeting(); }
    bool meeting_called() const override { return pieces_.mail().meeting_called(); }
    void meet(long next) override { pieces_.mail().settle(next); }
    std::optional<std::uint32_t> used_by(std::size_t local, std::size_t place) const override {
        return exchange_.used_by(local, place);
    }
    std::vector<Clock::time_point> arrivals() const override { return pieces_.mail().arrivals(); }
    void set_lag(long rounds) override { pieces_.mail().set_lag(rounds); }
    void deliver_late(const LateDelivery& deliver) override { exchange_.deliver_late(deliver); }
    LateCounts late_counts() const override { return pieces_.mail().counts(); }
    void exchange_sum(ExchangeId id,
                      Eigen::Index dimension,
                      const ShareSource& share,
                      const SumDelivery& deliver) override {
        check_exchange(links_.connected(), 1, 1, dimension);
        exchange_sum_.run(id, dimension, share, deliver);
    }
    std::int64_t bytes_sent() const override { return pieces_.bytes_sent(); }

    Eigen::VectorXd fold_over_agents(const Eigen::MatrixXd& local,
                                     Fold fold,
                                     const CollectedCheck& check) override {
        if (local.cols() != std::ssize(local_agents()))
            throw Error(ExitCode::other,
                        fmt::format("{} vectors collected of the {} agents of rank {}",
                                    local.cols(),
                                    local_agents().size(),
                                    process()));
        return fold_.run(local, fold, check);
    }

    std::string broadcast(const std::string& bytes, std::uint64_t most_bytes) override {
        const std::uint64_t size = size_at(world_, 0, bytes.size());
        agree([&] { check_announced(size, most_bytes, 0); });
        std::string result = process() == 0 ? bytes : std::string(size, '\0');
        broadcast_known(world_, 0, result);
        return result;
    }
    std::vector<std::string> all_gather(const std::string& bytes,
                                        std::uint64_t most_bytes) override {
        const std::vector<std::uint64_t> sizes = announced_sizes(world_, bytes.size());
        agree([&] {
            for (std::size_t p = 0; p < sizes.size(); ++p)
                check_announced(sizes[p], most_bytes, static_cast<int>(p));
        });
        return all_gather_strings(world_, bytes, sizes);
    }
    std::string scatter(const std::vector<std::string>& to_processes,
                        std::uint64_t most_bytes) override {
        agree([&] { check_scatter(world_, to_processes); });
        const std::uint64_t size = scattered_size(world_, to_processes);
        agree([&] { check_announced(size, most_bytes, 0); });
        return scatter_strings(world_, to_processes, size);
    }
    std::vector<std::string> send_parcels(const std::string& bytes,
                                          std::span<const int> receivers,
                                          std::uint64_t most_bytes) override {
        agree([&] { check_receivers(world_, receivers); });
        const std::vector<std::uint64_t> sizes = announced_sizes(world_, bytes.size());
        agree([&] {
            for (std::size_t p = 0; p < sizes.size(); ++p)
                if (receivers[p] == process())
                    check_announced(sizes[p], most_bytes, static_cast<int>(p));
        });
        return sotto::send_parcels(world_, bytes, receivers, sizes);
    }
    double maximum(double value) override { return maximum_.of(value); }
    void begin_maximum(std::span<const double> values) override { maximum_.begin(values); }
    std::vector<double> end_maximum() override { return maximum_.end(); }

    void abort(ExitCode code) override {
        flush_output();
        const int status = failure_status(code);
        const std::string said = end_announcement(status);
        if (!said.empty()) std::fputs(said.c_str(), stderr);
        MPI_Abort(world_.communicator(), status);
        std::_Exit(status);
    }

  protected:
    std::optional<Error> agree_on(const std::optional<Error>& local_failure) override {
        return lowest_failure(world_, local_failure);
    }

  private:
    MpiWorld world_;
    MpiLinks links_{world_, blocks()};
    MpiMaximum maximum_{world_};
    EdgePieces pieces_{world_, links_};
    MpiExchange exchange_{links_, pieces_};
    MpiExchangeSum exchange_sum_{links_, pieces_};
    MpiFold fold_{world_, blocks()};
    AeadCipher cipher_ = AeadCipher::chacha20_poly1305;
};

void require_agent_a_rank(int agents, int ranks) {
    if (agents < ranks)
        throw ConfigError(fmt::format(
            "agents is {}; must be at least {}: every MPI rank hosts one or more", agents, ranks));
}

}  // namespace

std::unique_ptr<Network> make_mpi_network(const MpiSession& session) {
    return std::make_unique<MpiNetwork>(session, session.ranks());
}

std::unique_ptr<Network> make_mpi_network(const MpiSession& session, int agents) {
    require_agent_a_rank(agents, session.ranks());
    return std::make_unique<MpiNetwork>(session, agents);
}

}  // namespace sotto
