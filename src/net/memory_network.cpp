#include "net/memory_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/parallel.hpp"
#include "net/exchange_checks.hpp"
#include "net/mpi_session.hpp"
#include "net/nibbles.hpp"

namespace sotto {
namespace {

// Above 128 KiB, messages are delivered in pieces of 64 KiB that stay in cache while the receiver
// makes several passes over them.
constexpr Eigen::Index largest_whole_message = 16384;
constexpr Eigen::Index largest_piece = 8192;

class MemoryNetwork final : public Network {
  public:
    MemoryNetwork(int agents, int threads) : Network({agents, 1}, 0), threads_(threads) {}

    std::string description() const override { return "one process, shared memory"; }

    std::unique_ptr<Network> without(std::span<const int> leaving) override {
        return make_memory_network(agents() - static_cast<int>(leaving.size()), threads_);
    }

    void connect(const Graph& graph) override {
        check_connect(graph, agents(), connected_);
        inboxes_.resize(local_agents().size());
        for (const int u : local_agents()) {
            Inbox& inbox = inboxes_[static_cast<std::size_t>(u)];
            for (const int v : graph.closed_neighbourhood(u)) {
                const auto receivers = graph.closed_neighbourhood(v);
                const auto place = std::ranges::lower_bound(receivers, u) - receivers.begin();
                inbox.sources.push_back({static_cast<std::size_t>(v),
                                         static_cast<std::size_t>(place),
                                         u > v,
                                         u == v || graph.hears(u, v)});
            }
            inbox.columns.resize(inbox.sources.size());
        }
        links_ = static_cast<std::int64_t>(graph.messages());
        for (const int u : local_agents())
            most_links_ = std::max(most_links_, graph.hearers(u).size());
        connected_ = true;
    }

    void exchange(ExchangeId /*id*/,
                  std::span<const Outgoing> outgoing,
                  Eigen::Index dimension,
                  const Delivery& deliver) override {
        check_exchange(connected_, outgoing.size(), local_agents().size(), dimension);
        for (std::size_t u = 0; u < outgoing.size(); ++u)
            check_outgoing(
                outgoing[u], outgoing.front(), inboxes_[u].sources.size(), static_cast<int>(u));
        const Eigen::Index piece = chunk_length(dimension, largest_whole_message, largest_piece);
        parallel_for(agents(), threads_, [&](long u) {
            Inbox& inbox = inboxes_[static_cast<std::size_t>(u)];
            const auto& from = outgoing[static_cast<std::size_t>(u)].from;
            for (Eigen::Index first = 0; first < dimension; first += piece) {
                for (std::size_t j = 0; j < inbox.sources.size(); ++j) {
                    const Source& source = inbox.sources[j];
                    const Outgoing& message = outgoing[source.sender];
                    const double* vector = message.to_all != nullptr
                                               ? message.to_all
                                               : message.per_receiver[source.place];
                    inbox.columns[j] = source.sends(from, j) ? vector + first : nullptr;
                }
                deliver(static_cast<std::size_t>(u),
                        first,
                        std::min(piece, dimension - first),
                        inbox.columns);
            }
        });
        count_sent(outgoing, dimension);
    }

    void protect(std::span<PairSecrets> /*secrets*/, std::uint32_t /*key_epoch*/) override {}
    std::optional<AeadCipher> encryption() const override { return std::nullopt; }
    void watch_for_stalls(StallLimits /*limits*/) override {}

    void exchange_sum(ExchangeId /*id*/,
                      Eigen::Index dimension,
                      const ShareSource& share,
                      const SumDelivery& deliver) override {
        check_exchange(connected_, local_agents().size(), local_agents().size(), dimension);
        const Eigen::Index piece = chunk_length(dimension, largest_whole_message, largest_piece);
        parallel_for(agents(), threads_, [&](long u) {
            Inbox& inbox = inboxes_[static_cast<std::size_t>(u)];
            inbox.sum.resize(static_cast<std::size_t>(piece));
            inbox.share.resize(static_cast<std::size_t>(piece));
            for (Eigen::Index first = 0; first < dimension; first += piece) {
                const auto count = static_cast<std::size_t>(std::min(piece, dimension - first));
                const std::span<std::uint64_t> sum = std::span(inbox.sum).first(count);
                const std::span<std::uint64_t> words = std::span(inbox.share).first(count);
                std::ranges::fill(sum, 0);
                for (const Source& source : inbox.sources) {
                    if (source.sender == static_cast<std::size_t>(u) || !source.heard) continue;
                    // Index among the sender's neighbours, which exclude itself.
                    const std::size_t neighbour =
                        source.place - (source.after_sender ? std::size_t{1} : std::size_t{0});
                    share(source.sender, neighbour, first, words);
                    add_words(words, sum);
                }
                deliver(static_cast<std::size_t>(u), first, sum);
            }
        });
        bytes_sent_ += links_ * dimension * static_cast<std::int64_t>(sizeof(std::uint64_t));
    }

    Eigen::VectorXd fold_over_agents(const Eigen::MatrixXd& local,
                                     Fold fold,
                                     const CollectedCheck& /*check*/) override {
        if (local.cols() != agents())
            throw Error(ExitCode::other,
                        fmt::format("{} vectors collected of {} agents", local.cols(), agents()));
        Eigen::VectorXd total = local.col(0);
        for (Eigen::Index u = 1; u < local.cols(); ++u) fold_into(total, local.col(u), fold);
        return total;
    }

    std::string broadcast(const std::string& bytes, std::uint64_t /*most_bytes*/) override {
        return bytes;
    }
    std::vector<std::string> all_gather(const std::string& bytes,
                                        std::uint64_t /*most_bytes*/) override {
        return {bytes};
    }
    std::string scatter(const std::vector<std::string>& to_processes,
                        std::uint64_t /*most_bytes*/) override {
        if (to_processes.size() != 1)
            throw Error(ExitCode::other,
                        fmt::format("scatter of {} strings to 1 process", to_processes.size()));
        return to_processes.front();
    }
    std::vector<std::string> send_parcels(const std::string& bytes,
                                          std::span<const int> receivers,
                                          std::uint64_t /*most_bytes*/) override {
        if (receivers.size() != 1 || receivers.front() < -1 || receivers.front() > 0)
            throw Error(ExitCode::other,
                        fmt::format("parcels of 1 process to {}", receivers.size()));
        return receivers.front() < 0 ? std::vector<std::string>{} : std::vector{bytes};
    }
    double maximum(double value) override { return value; }

    void begin_maximum(std::span<const double> values) override {
        if (pending_) throw Error(ExitCode::other, "a maximum is already under way");
        pending_.emplace(values.begin(), values.end());
    }
    std::vector<double> end_maximum() override {
        if (!pending_) throw Error(ExitCode::other, "no maximum is under way");
        std::vector<double> result = std::move(*pending_);
        pending_.reset();
        return result;
    }

    std::int64_t bytes_sent() const override { return bytes_sent_; }

    void abort(ExitCode code) override {
        flush_output();
        std::_Exit(failure_status(code));
    }

  protected:
    std::optional<Error> agree_on(const std::optional<Error>& local_failure) override {
        return local_failure;
    }

  private:
    struct Source {
        std::size_t sender;
        std::size_t place;  // of the receiver in the sender's closed neighbourhood
        bool after_sender;  // the receiver's number is higher than the sender's
        bool heard;         // by the receiver
        /// @param from of the receiver's Outgoing.  @param j the source's place.
        [[nodiscard]] bool sends(const std::vector<std::uint8_t>& from, std::size_t j) const {
            return heard && (from.empty() || from[j] != 0);
        }
    };
    struct Inbox {
        std::vector<Source> sources;
        // Kept between calls: exchanging allocates nothing.
        std::vector<const double*> columns;
        std::vector<std::uint64_t> sum, share;
    };

    /// What processes with one agent each would send.
    void count_sent(std::span<const Outgoing> outgoing, Eigen::Index dimension) {
        std::vector<std::int64_t> messages(outgoing.size(), 0);  // by sender
        for (std::size_t u = 0; u < inboxes_.size(); ++u) {
            const std::vector<Source>& sources = inboxes_[u].sources;
            for (std::size_t j = 0; j < sources.size(); ++j)
                if (sources[j].sender != u && sources[j].sends(outgoing[u].from, j))
                    ++messages[sources[j].sender];
        }
        const Eigen::Index longest = piece_length(dimension, most_links_);
        for (std::size_t v = 0; v < outgoing.size(); ++v) {
            if (messages[v] == 0) continue;
            std::size_t bytes = message_bytes(message_precision(),
                                              static_cast<std::size_t>(dimension),
                                              static_cast<std::size_t>(longest));
            if (message_precision() == MessagePrecision::nibble && outgoing[v].to_all != nullptr)
                for (Eigen::Index first = 0; first < dimension; first += longest)
                    bytes += nibble_rest_bytes(
                        {outgoing[v].to_all + first,
                         static_cast<std::size_t>(std::min(longest, dimension - first))});
            bytes_sent_ += messages[v] * static_cast<std::int64_t>(bytes);
        }
    }

    int threads_;
    bool connected_ = false;
    std::vector<Inbox> inboxes_;
    std::int64_t links_ = 0;      // directed
    std::size_t most_links_ = 0;  // of an agent, outgoing
    std::int64_t bytes_sent_ = 0;
    std::optional<std::vector<double>> pending_;
};

}  // namespace

std::unique_ptr<Network> make_memory_network(int agents, int threads) {
    if (agents < 1) throw ConfigError(fmt::format("agents is {}; must be at least 1", agents));
    if (threads < 1) throw ConfigError(fmt::format("threads is {}; must be at least 1", threads));
    return std::make_unique<MemoryNetwork>(agents, threads);
}

}  // namespace sotto
