#include "sotto/net/mpi_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <utility>

#include "exchange_support.hpp"
#include "mpi_call.hpp"
#include "sotto/trust/link_cipher.hpp"
#include "stall_watch.hpp"

namespace sotto {
namespace {

// Up to 1 MiB a message goes whole. Above, it goes in pieces that are still in cache when they
// are mixed, and all pieces use the same small receive buffer.
constexpr Eigen::Index largest_whole_message = 131072;
constexpr Eigen::Index largest_piece = 65536;
// Values that process 0 holds at once while it sums over all agents (16 MiB).
constexpr Eigen::Index gathered_values = Eigen::Index{1} << 21;
// Counts of MPI are int: longer strings go in pieces.
constexpr std::size_t largest_transfer_bytes = std::size_t{1} << 30;
// Plans and sealed seeds of thousands of agents are far smaller.
constexpr std::uint64_t largest_announced_bytes = std::uint64_t{1} << 34;
constexpr int scatter_tag = 1;

template <class Integer>
int mpi_count(Integer value) {
    if (!std::in_range<int>(value))
        throw NetworkError(fmt::format("{} values in one MPI call; at most {} are possible",
                                       value,
                                       std::numeric_limits<int>::max()));
    return static_cast<int>(value);
}

extern "C" void maximum_or_nan(void* in, void* in_out, int* count, MPI_Datatype* /*type*/) {
    const auto* a = static_cast<const double*>(in);
    auto* b = static_cast<double*>(in_out);
    for (int i = 0; i < *count; ++i)
        if (std::isnan(a[i]) || a[i] > b[i]) b[i] = a[i];
}

class MpiNetwork final : public Network {
  public:
    MpiNetwork() {
        check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup");
        check_mpi(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check_mpi(MPI_Comm_size(world_, &ranks_), "MPI_Comm_size");
        check_mpi(MPI_Comm_rank(world_, &rank_), "MPI_Comm_rank");
        check_mpi(MPI_Op_create(maximum_or_nan, 1, &maximum_op_), "MPI_Op_create");
        watch_ = std::make_unique<StallWatch>(world_);
    }
    ~MpiNetwork() override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        // After a failure the other ranks may be elsewhere: leave everything to the process's end.
        if (finalized != 0 || std::uncaught_exceptions() > exceptions_at_start_) {
            (void)watch_.release();
            return;
        }
        watch_.reset();
        if (pending_ != MPI_REQUEST_NULL) MPI_Wait(&pending_, MPI_STATUS_IGNORE);
        if (maximum_op_ != MPI_OP_NULL) MPI_Op_free(&maximum_op_);
        if (links_ != MPI_COMM_NULL) MPI_Comm_free(&links_);
        if (world_ != MPI_COMM_NULL) MPI_Comm_free(&world_);
    }
    MpiNetwork(const MpiNetwork&) = delete;
    MpiNetwork& operator=(const MpiNetwork&) = delete;

    int agents() const override { return ranks_; }
    std::span<const int> local_agents() const override { return {&rank_, 1}; }
    int processes() const override { return ranks_; }
    int process() const override { return rank_; }
    std::string description() const override { return MpiSession::library_version(); }

    void connect(const Graph& graph) override {
        Digest digest = graph.hash();
        const Digest own_digest = digest;
        finish(
            MPI_Ibcast(digest.data(), mpi_count(digest.size()), MPI_UINT8_T, 0, world_, &request_),
            "MPI_Ibcast");
        agree([&] {
            check_connect(graph, ranks_, links_ != MPI_COMM_NULL);
            if (digest != own_digest)
                throw NetworkError(
                    fmt::format("rank {} has another graph than rank 0; all need the same", rank_));
        });
        const auto neighbours = graph.neighbours(rank_);
        degree_ = neighbours.size();
        neighbours_.assign(neighbours.begin(), neighbours.end());
        // One spare entry: some libraries reject a null pointer even for no neighbours.
        std::vector<int> peers(degree_ + 1, rank_);
        std::ranges::copy(neighbours, peers.begin());
        const int degree = mpi_count(degree_);
        check_mpi(MPI_Dist_graph_create_adjacent(world_,
                                                 degree,
                                                 peers.data(),
                                                 MPI_UNWEIGHTED,
                                                 degree,
                                                 peers.data(),
                                                 MPI_UNWEIGHTED,
                                                 MPI_INFO_NULL,
                                                 0,
                                                 &links_),
                  "MPI_Dist_graph_create_adjacent");
        check_mpi(MPI_Comm_set_errhandler(links_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        columns_.resize(degree_ + 1);
        for (auto* list : {&starts_, &send_counts_, &receive_counts_}) list->resize(degree_ + 1);
        own_place_ = static_cast<std::size_t>(std::ranges::lower_bound(neighbours, rank_) -
                                              neighbours.begin());
    }

    void protect(std::span<PairSecrets> secrets, std::uint32_t key_epoch) override {
        if (links_ == MPI_COMM_NULL)
            throw Error(ExitCode::other, "encryption before the network is connected");
        if (secrets.size() != 1 || secrets.front().agent() != rank_)
            throw Error(ExitCode::other,
                        fmt::format("encryption of rank {} needs the secrets of agent {}, and of "
                                    "no other",
                                    rank_,
                                    rank_));
        PairSecrets& own = secrets.front();
        std::vector<LinkCipher> ciphers;
        for (const int peer : neighbours_)
            ciphers.emplace_back(own, peer, key_epoch, LinkUse::exchange);
        std::vector<LinkCipher> collection;
        for (int peer = rank_ == 0 ? 1 : 0; peer < (rank_ == 0 ? ranks_ : 1); ++peer)
            collection.emplace_back(own, peer, key_epoch, LinkUse::collection);
        ciphers_ = std::move(ciphers);
        collection_ = std::move(collection);
        encrypted_ = true;
    }
    bool encrypted() const override { return encrypted_; }
    void watch_for_stalls(StallLimits limits) override { watch_->set(std::move(limits)); }

    void exchange(ExchangeId id,
                  std::span<const Outgoing> outgoing,
                  Eigen::Index dimension,
                  const Delivery& deliver) override {
        check_exchange(links_ != MPI_COMM_NULL, outgoing.size(), 1, dimension);
        const Outgoing& message = outgoing.front();
        check_outgoing(message, message, columns_.size(), rank_);
        const bool to_all = message.to_all != nullptr;
        const double* own_copy = to_all ? message.to_all : message.per_receiver[own_place_];
        const Eigen::Index piece = chunk_length(dimension, largest_whole_message, largest_piece);
        reserve(piece, !to_all || encrypted_ || !message.to.empty());
        choose_active(message);

        for (Eigen::Index first = 0; first < dimension; first += piece) {
            const Eigen::Index count = std::min(piece, dimension - first);
            if (to_all && !encrypted_ && message.to.empty()) {
                const int n = mpi_count(count);
                check_exchanged(MPI_Ineighbor_allgather(message.to_all + first,
                                                        n,
                                                        MPI_DOUBLE,
                                                        received_.data(),
                                                        n,
                                                        MPI_DOUBLE,
                                                        links_,
                                                        &request_),
                                id);
            } else {
                transfer(id, first / piece, count, [&](std::size_t j, std::byte*) {
                    const double* vector =
                        to_all ? message.to_all : message.per_receiver[j < own_place_ ? j : j + 1];
                    return as_bytes(vector + first, count);
                });
            }
            for (std::size_t j = 0; j < degree_; ++j)
                columns_[j < own_place_ ? j : j + 1] =
                    receives(j)
                        ? reinterpret_cast<const double*>(received_.data() + j * stride(count))
                        : nullptr;
            columns_[own_place_] = own_copy + first;
            deliver(0, first, count, columns_);
        }
        count_sent(dimension, piece);
    }

    void exchange_sum(ExchangeId id,
                      Eigen::Index dimension,
                      const ShareSource& share,
                      const SumDelivery& deliver) override {
        check_exchange(links_ != MPI_COMM_NULL, 1, 1, dimension);
        choose_active({});
        const Eigen::Index piece = chunk_length(dimension, largest_whole_message, largest_piece);
        reserve(piece, true);
        if (sum_.size() < static_cast<std::size_t>(piece))
            sum_.resize(static_cast<std::size_t>(piece));
        for (Eigen::Index first = 0; first < dimension; first += piece) {
            const Eigen::Index count = std::min(piece, dimension - first);
            const auto size = static_cast<std::size_t>(count);
            transfer(id, first / piece, count, [&](std::size_t j, std::byte* target) {
                auto* words = reinterpret_cast<std::uint64_t*>(target);
                share(0, j, first, {words, size});
                return as_bytes(words, count);
            });
            const std::span<std::uint64_t> sum = std::span(sum_).first(size);
            std::ranges::fill(sum, 0);
            for (std::size_t j = 0; j < degree_; ++j)
                add_words(
                    {reinterpret_cast<const std::uint64_t*>(received_.data() + j * stride(count)),
                     size},
                    sum);
            deliver(0, first, sum);
        }
        count_sent(dimension, piece);
    }

    Eigen::VectorXd fold_over_agents(const Eigen::MatrixXd& local, Fold fold) override {
        if (local.cols() != 1)
            throw Error(
                ExitCode::other,
                fmt::format("{} vectors collected of the 1 agent of rank {}", local.cols(), rank_));
        Eigen::VectorXd total = local.col(0);
        const Eigen::Index piece = std::max<Eigen::Index>(1024, gathered_values / ranks_);
        const std::size_t largest = stride(std::min(piece, local.rows()));
        std::vector<std::byte> own(largest);
        std::vector<std::byte> all(rank_ == 0 ? largest * static_cast<std::size_t>(ranks_) : 0);
        for (Eigen::Index first = 0; first < local.rows(); first += piece)
            fold_piece({folds_, 0, first / piece},
                       total.segment(first, std::min(piece, local.rows() - first)),
                       fold,
                       own,
                       all);
        ++folds_;
        return total;
    }

    std::string broadcast(const std::string& bytes) override { return broadcast_from(0, bytes); }

    std::vector<std::string> all_gather(const std::string& bytes) override {
        const std::uint64_t own_size = bytes.size();
        std::vector<std::uint64_t> sizes(static_cast<std::size_t>(ranks_));
        finish(MPI_Iallgather(
                   &own_size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, world_, &request_),
               "MPI_Iallgather");
        std::vector<std::string> result(sizes.size());
        std::uint64_t total = 0;
        for (std::size_t p = 0; p < sizes.size(); ++p) {
            check_announced(sizes[p], static_cast<int>(p));
            total += sizes[p];
        }
        if (total > largest_transfer_bytes) {
            for (std::size_t p = 0; p < result.size(); ++p) {
                if (static_cast<int>(p) == rank_) result[p] = bytes;
                result[p].resize(sizes[p]);
                broadcast_bytes(result[p], static_cast<int>(p));
            }
            return result;
        }
        std::vector<int> counts(sizes.size());
        std::vector<int> starts(sizes.size());
        for (std::size_t p = 0; p < sizes.size(); ++p) {
            counts[p] = mpi_count(sizes[p]);
            if (p > 0) starts[p] = starts[p - 1] + counts[p - 1];
        }
        std::string all(total, '\0');
        finish(MPI_Iallgatherv(bytes.data(),
                               mpi_count(own_size),
                               MPI_BYTE,
                               all.data(),
                               counts.data(),
                               starts.data(),
                               MPI_BYTE,
                               world_,
                               &request_),
               "MPI_Iallgatherv");
        for (std::size_t p = 0; p < sizes.size(); ++p)
            result[p] = all.substr(static_cast<std::size_t>(starts[p]), sizes[p]);
        return result;
    }

    std::string scatter(const std::vector<std::string>& to_processes) override {
        agree([&] {
            if (rank_ == 0 && to_processes.size() != static_cast<std::size_t>(ranks_))
                throw Error(
                    ExitCode::other,
                    fmt::format(
                        "scatter of {} strings to {} processes", to_processes.size(), ranks_));
        });
        std::vector<std::uint64_t> sizes;
        if (rank_ == 0)
            for (const std::string& bytes : to_processes) sizes.push_back(bytes.size());
        std::uint64_t own_size = 0;
        finish(MPI_Iscatter(
                   sizes.data(), 1, MPI_UINT64_T, &own_size, 1, MPI_UINT64_T, 0, world_, &request_),
               "MPI_Iscatter");
        if (rank_ == 0) {
            for (int p = 1; p < ranks_; ++p) {
                const std::string& bytes = to_processes[static_cast<std::size_t>(p)];
                in_pieces(bytes.size(), [&](std::size_t first, int count) {
                    finish(MPI_Isend(bytes.data() + first,
                                     count,
                                     MPI_BYTE,
                                     p,
                                     scatter_tag,
                                     world_,
                                     &request_),
                           "MPI_Isend");
                });
            }
            return to_processes.front();
        }
        check_announced(own_size, 0);
        std::string bytes(own_size, '\0');
        in_pieces(bytes.size(), [&](std::size_t first, int count) {
            finish(
                MPI_Irecv(bytes.data() + first, count, MPI_BYTE, 0, scatter_tag, world_, &request_),
                "MPI_Irecv");
        });
        return bytes;
    }

    double maximum(double value) override {
        double result = value;
        finish(MPI_Iallreduce(&value, &result, 1, MPI_DOUBLE, maximum_op_, world_, &request_),
               "MPI_Iallreduce");
        return result;
    }

    void begin_maximum(std::span<const double> values) override {
        if (begun_) throw Error(ExitCode::other, "a maximum is already under way");
        own_values_.assign(values.begin(), values.end());
        maxima_.resize(own_values_.size());
        check_mpi(MPI_Iallreduce(own_values_.data(),
                                 maxima_.data(),
                                 mpi_count(own_values_.size()),
                                 MPI_DOUBLE,
                                 maximum_op_,
                                 world_,
                                 &pending_),
                  "MPI_Iallreduce");
        begun_ = true;
    }
    std::vector<double> end_maximum() override {
        if (!begun_) throw Error(ExitCode::other, "no maximum is under way");
        check_mpi(watch_->complete(MPI_SUCCESS, pending_, place_), "MPI_Iallreduce");
        begun_ = false;
        return maxima_;
    }

    std::int64_t bytes_sent() const override { return bytes_sent_; }

    void abort(ExitCode code) override {
        std::cout.flush();
        std::clog.flush();
        std::fflush(nullptr);
        MPI_Abort(MPI_COMM_WORLD, failure_status(code));
        std::_Exit(failure_status(code));
    }

  protected:
    std::optional<Error> agree_on(const std::optional<Error>& local_failure) override {
        const int own = local_failure ? rank_ : ranks_;
        int lowest = ranks_;
        finish(MPI_Iallreduce(&own, &lowest, 1, MPI_INT, MPI_MIN, world_, &request_),
               "MPI_Iallreduce");
        if (lowest == ranks_) return std::nullopt;
        int code = local_failure ? static_cast<int>(local_failure->exit_code()) : 0;
        finish(MPI_Ibcast(&code, 1, MPI_INT, lowest, world_, &request_), "MPI_Ibcast");
        const std::string message =
            broadcast_from(lowest, local_failure ? local_failure->what() : "");
        return Error(static_cast<ExitCode>(code), message);
    }

  private:
    /// Completes what a call outside the exchange has begun with request_.
    void finish(int code, const char* call) {
        check_mpi(watch_->complete(code, request_, place_), call);
    }
    static std::size_t byte_count(Eigen::Index values) {
        return static_cast<std::size_t>(values) * sizeof(double);
    }
    template <class Value>
    static std::span<const std::uint8_t> as_bytes(const Value* values, Eigen::Index count) {
        static_assert(sizeof(Value) == sizeof(double));
        return {reinterpret_cast<const std::uint8_t*>(values), byte_count(count)};
    }
    /// Bytes from one neighbour's piece to the next in packed_ and received_.
    std::size_t stride(Eigen::Index count) const {
        return byte_count(count) + (encrypted_ ? LinkCipher::tag_size : 0);
    }
    void reserve(Eigen::Index piece, bool packed) {
        const std::size_t needed = std::max(degree_, std::size_t{1}) * stride(piece);
        if (received_.size() < needed) received_.resize(needed);
        if (packed && packed_.size() < needed) packed_.resize(needed);
    }
    /// Completes the exchange that a call has begun with request_.
    void check_exchanged(int code, ExchangeId id) {
        place_ = {id.round, id.step, 0};
        code = watch_->complete(code, request_, place_, neighbours_);
        place_.after = 1;
        if (code != MPI_SUCCESS)
            throw NetworkError(fmt::format("exchange of rank {} in round {}, step {} failed: {}",
                                           rank_,
                                           id.round,
                                           id.step,
                                           mpi_error_text(code)));
    }

    /// Who sends and hears in this exchange, of the neighbours without itself.
    void choose_active(const Outgoing& message) {
        const auto without_own = [&](const std::vector<std::uint8_t>& flags,
                                     std::vector<std::uint8_t>& active) {
            active = flags;
            if (!active.empty())
                active.erase(active.begin() + static_cast<std::ptrdiff_t>(own_place_));
        };
        without_own(message.to, active_to_);
        without_own(message.from, active_from_);
        restricted_ = !message.to.empty();
    }
    bool sends(std::size_t j) const { return !restricted_ || active_to_[j] != 0; }
    bool receives(std::size_t j) const { return !restricted_ || active_from_[j] != 0; }

    /// A piece of its own to each neighbour; afterwards received_ holds theirs, decrypted, `stride`
    /// bytes apart. `pack(j, target)` returns where the j-th piece is; it may have put it there,
    /// into `target`.
    template <class Pack>
    void transfer(ExchangeId id, Eigen::Index chunk, Eigen::Index count, Pack&& pack) {
        const std::size_t size = stride(count);
        const ChunkAddress address{id.round, id.step, chunk};
        for (std::size_t j = 0; j < degree_; ++j) {
            if (!sends(j)) continue;
            std::byte* const target = packed_.data() + j * size;
            const std::span<const std::uint8_t> plain = pack(j, target);
            auto* const bytes = reinterpret_cast<std::uint8_t*>(target);
            if (encrypted_)
                ciphers_[j].seal(address, plain, {bytes, size});
            else if (plain.data() != bytes)
                std::memcpy(bytes, plain.data(), size);
        }
        const int n = mpi_count(size);
        if (!restricted_) {
            check_exchanged(
                MPI_Ineighbor_alltoall(
                    packed_.data(), n, MPI_BYTE, received_.data(), n, MPI_BYTE, links_, &request_),
                id);
        } else {
            for (std::size_t j = 0; j < degree_; ++j) {
                starts_[j] = mpi_count(j * size);
                send_counts_[j] = sends(j) ? n : 0;
                receive_counts_[j] = receives(j) ? n : 0;
            }
            check_exchanged(MPI_Ineighbor_alltoallv(packed_.data(),
                                                    send_counts_.data(),
                                                    starts_.data(),
                                                    MPI_BYTE,
                                                    received_.data(),
                                                    receive_counts_.data(),
                                                    starts_.data(),
                                                    MPI_BYTE,
                                                    links_,
                                                    &request_),
                            id);
        }
        if (!encrypted_) return;
        for (std::size_t j = 0; j < degree_; ++j) {
            if (!receives(j)) continue;
            const std::span<std::uint8_t> sealed(
                reinterpret_cast<std::uint8_t*>(received_.data() + j * size), size);
            ciphers_[j].open(address, sealed, sealed.first(byte_count(count)));
        }
    }
    /// Process 0 collects everybody's values, folds them, and returns the result into `values`.
    /// @param own room for one sealed piece.  @param all the same for all ranks, on process 0.
    void fold_piece(const ChunkAddress& address,
                    Eigen::Ref<Eigen::VectorXd> values,
                    Fold fold,
                    std::span<std::byte> own,
                    std::span<std::byte> all) {
        const std::size_t size = stride(values.size());
        const int n = mpi_count(size);
        const std::span<std::uint8_t> plain(reinterpret_cast<std::uint8_t*>(values.data()),
                                            byte_count(values.size()));
        const auto sealed = [&](std::span<std::byte> room, int rank) {
            return std::span(reinterpret_cast<std::uint8_t*>(room.data()) +
                                 static_cast<std::size_t>(rank) * size,
                             size);
        };
        const auto pack = [&](std::span<std::uint8_t> target, std::size_t cipher) {
            if (encrypted_)
                collection_[cipher].seal(address, plain, target);
            else
                std::ranges::copy(plain, target.begin());
        };
        const auto unpack = [&](std::span<std::uint8_t> source, std::size_t cipher) {
            if (encrypted_) collection_[cipher].open(address, source, source.first(plain.size()));
        };
        if (rank_ != 0) pack(sealed(own, 0), 0);
        finish(MPI_Igather(own.data(), n, MPI_BYTE, all.data(), n, MPI_BYTE, 0, world_, &request_),
               "MPI_Igather");
        if (rank_ == 0) {
            for (int peer = 1; peer < ranks_; ++peer) {
                const std::span<std::uint8_t> theirs = sealed(all, peer);
                unpack(theirs, static_cast<std::size_t>(peer - 1));
                fold_into(values,
                          Eigen::Map<const Eigen::VectorXd>(
                              reinterpret_cast<const double*>(theirs.data()), values.size()),
                          fold);
            }
            for (int peer = 1; peer < ranks_; ++peer)
                pack(sealed(all, peer), static_cast<std::size_t>(peer - 1));
        }
        finish(MPI_Iscatter(all.data(), n, MPI_BYTE, own.data(), n, MPI_BYTE, 0, world_, &request_),
               "MPI_Iscatter");
        if (rank_ == 0) return;
        unpack(sealed(own, 0), 0);
        std::ranges::copy(sealed(own, 0).first(plain.size()), plain.begin());
    }
    void count_sent(Eigen::Index dimension, Eigen::Index piece) {
        const Eigen::Index chunks = (dimension + piece - 1) / piece;
        const std::size_t tags =
            encrypted_ ? static_cast<std::size_t>(chunks) * LinkCipher::tag_size : 0;
        std::size_t messages = 0;
        for (std::size_t j = 0; j < degree_; ++j) messages += sends(j) ? 1 : 0;
        bytes_sent_ += static_cast<std::int64_t>(messages * (byte_count(dimension) + tags));
    }

    /// Before memory is taken for what another process says it will send.
    static void check_announced(std::uint64_t bytes, int rank) {
        if (bytes > largest_announced_bytes)
            throw NetworkError(fmt::format("rank {} announces {} bytes; at most {} are accepted",
                                           rank,
                                           bytes,
                                           largest_announced_bytes));
    }

    template <class Transfer>
    static void in_pieces(std::size_t size, Transfer&& transfer) {
        for (std::size_t first = 0; first < size; first += largest_transfer_bytes)
            transfer(first, mpi_count(std::min(largest_transfer_bytes, size - first)));
    }

    /// `bytes` of process `root`, whose size all know, on every process. COLLECTIVE.
    void broadcast_bytes(std::string& bytes, int root) {
        in_pieces(bytes.size(), [&](std::size_t first, int count) {
            finish(MPI_Ibcast(bytes.data() + first, count, MPI_BYTE, root, world_, &request_),
                   "MPI_Ibcast");
        });
    }

    /// `bytes` of process `root` on every process. COLLECTIVE.
    std::string broadcast_from(int root, const std::string& bytes) {
        std::uint64_t size = bytes.size();
        finish(MPI_Ibcast(&size, 1, MPI_UINT64_T, root, world_, &request_), "MPI_Ibcast");
        check_announced(size, root);
        std::string result = rank_ == root ? bytes : std::string(size, '\0');
        broadcast_bytes(result, root);
        return result;
    }

    int exceptions_at_start_ = std::uncaught_exceptions();
    std::unique_ptr<StallWatch> watch_;
    StallWatch::Place place_;                 // of the exchange that is or was the last
    MPI_Request request_ = MPI_REQUEST_NULL;  // of the call being waited for
    MPI_Comm world_ = MPI_COMM_NULL;
    MPI_Comm links_ = MPI_COMM_NULL;  // neighbours only; exists once connected
    MPI_Op maximum_op_ = MPI_OP_NULL;
    int ranks_ = 1;
    int rank_ = 0;
    std::size_t degree_ = 0;
    std::vector<int> neighbours_;
    bool encrypted_ = false;
    std::vector<LinkCipher> ciphers_;  // one per neighbour
    // With process 0; on process 0 with every other process.
    std::vector<LinkCipher> collection_;
    std::int64_t folds_ = 0;
    std::size_t own_place_ = 0;  // in the closed neighbourhood
    // Kept between calls: exchanging allocates nothing.
    std::vector<std::byte> received_;  // one piece per neighbour, with its tag when encrypted
    std::vector<std::byte> packed_;
    std::vector<const double*> columns_;
    bool restricted_ = false;  // to active_to_, active_from_: one entry a neighbour
    std::vector<std::uint8_t> active_to_, active_from_;
    std::vector<int> starts_, send_counts_, receive_counts_;  // one a neighbour, and one to spare
    std::vector<std::uint64_t> sum_;
    std::int64_t bytes_sent_ = 0;
    MPI_Request pending_ = MPI_REQUEST_NULL;
    bool begun_ = false;
    std::vector<double> own_values_;
    std::vector<double> maxima_;
};

}  // namespace

std::unique_ptr<Network> make_mpi_network(const MpiSession& /*session*/) {
    return std::make_unique<MpiNetwork>();
}

}  // namespace sotto
