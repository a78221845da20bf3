#include "hostile/deviating_network.hpp"

#include <algorithm>
#include <utility>

namespace sotto::test {

namespace {

class DeviatingNetwork final : public Network {
  public:
    DeviatingNetwork(std::unique_ptr<Network> inner, const Deviation& deviation)
        : Network(inner->blocks(), inner->process()),
          inner_(std::move(inner)),
          deviation_(deviation) {}

    std::string description() const override { return inner_->description(); }
    std::unique_ptr<Network> without(std::span<const int> /*leaving*/) override { return nullptr; }
    void connect(const Graph& graph) override {
        const auto members = graph.closed_neighbourhood(local_agents().front());
        neighbourhood_.assign(members.begin(), members.end());
        inner_->connect(graph);
    }
    void protect(std::span<PairSecrets> secrets, std::uint32_t key_epoch) override {
        inner_->protect(secrets, key_epoch);
    }
    std::optional<AeadCipher> encryption() const override { return inner_->encryption(); }
    void watch_for_stalls(StallLimits limits) override {
        inner_->watch_for_stalls(std::move(limits));
    }

    void exchange(ExchangeId id,
                  std::span<const Outgoing> outgoing,
                  Eigen::Index dimension,
                  const Delivery& deliver) override {
        inner_->set_message_precision(message_precision());
        // Of the first agent of this process.
        std::vector<Outgoing> sent(outgoing.begin(), outgoing.end());
        Outgoing& changed = sent.front();
        std::vector<Eigen::VectorXd> messages;
        if (deviation_.messages) {
            for (std::size_t j = 0; j < neighbourhood_.size(); ++j)
                messages.emplace_back(Eigen::Map<const Eigen::VectorXd>(
                    changed.to_all != nullptr ? changed.to_all : changed.per_receiver[j],
                    dimension));
            deviation_.messages(id, messages);
            changed.to_all = nullptr;
            changed.per_receiver.clear();
            for (const auto& message : messages) changed.per_receiver.push_back(message.data());
        }
        if (deviation_.message_to_all) {
            messages.emplace_back(Eigen::Map<const Eigen::VectorXd>(changed.to_all, dimension));
            deviation_.message_to_all(id, messages.front());
            changed.to_all = messages.front().data();
        }
        inner_->exchange(id, sent, dimension, deliver);
    }
    void exchange_sum(ExchangeId id,
                      Eigen::Index dimension,
                      const ShareSource& share,
                      const SumDelivery& deliver) override {
        inner_->exchange_sum(
            id,
            dimension,
            [&](std::size_t local,
                std::size_t neighbour,
                Eigen::Index first,
                std::span<std::uint64_t> words) {
                share(local, neighbour, first, words);
                if (deviation_.share) deviation_.share(id, neighbour, words);
            },
            deliver);
    }
    Eigen::VectorXd fold_over_agents(const Eigen::MatrixXd& local,
                                     Fold fold,
                                     const CollectedCheck& check) override {
        Eigen::MatrixXd changed = local;
        if (deviation_.collected) deviation_.collected(changed);
        return inner_->fold_over_agents(changed, fold, check);
    }
    std::string broadcast(const std::string& bytes, std::uint64_t most_bytes) override {
        std::string said = bytes;
        if (deviation_.broadcast && process() == 0) deviation_.broadcast(said);
        said = inner_->broadcast(said, most_bytes);
        if (!deviation_.two_faced) return said;
        lie_ = std::exchange(said, bytes);
        truth_ = bytes;
        return said;
    }
    std::vector<std::string> all_gather(const std::string& bytes,
                                        std::uint64_t most_bytes) override {
        const Gathered kind = kind_of(bytes);
        const std::string& shown = deviation_.two_faced && bytes == truth_ ? lie_ : bytes;
        auto all = inner_->all_gather(
            deviation_.gathered ? deviation_.gathered(kind, shown) : shown, most_bytes);
        if (deviation_.received) deviation_.received(kind, all);
        return all;
    }
    std::string scatter(const std::vector<std::string>& to_processes,
                        std::uint64_t most_bytes) override {
        return inner_->scatter(to_processes, most_bytes);
    }
    std::vector<std::string> send_parcels(const std::string& bytes,
                                          std::span<const int> receivers,
                                          std::uint64_t most_bytes) override {
        return inner_->send_parcels(bytes, receivers, most_bytes);
    }
    double maximum(double value) override {
        return inner_->maximum(deviation_.maximum ? deviation_.maximum(value) : value);
    }
    void begin_maximum(std::span<const double> values) override {
        std::vector<double> votes(values.begin(), values.end());
        if (deviation_.vote) deviation_.vote(votes);
        inner_->begin_maximum(votes);
    }
    std::vector<double> end_maximum() override { return inner_->end_maximum(); }
    std::int64_t bytes_sent() const override { return inner_->bytes_sent(); }
    void abort(ExitCode code) override { inner_->abort(code); }

  protected:
    std::optional<Error> agree_on(const std::optional<Error>& local_failure) override {
        auto said = local_failure;
        if (deviation_.failure)
            if (auto invented = deviation_.failure(steps_++)) said = std::move(invented);
        try {
            inner_->agree([&] {
                if (said) throw Error(*said);
            });
        } catch (const Error& failure) {
            return failure;
        }
        return std::nullopt;
    }

  private:
    /// By what it looks like and what came before it.
    Gathered kind_of(const std::string& bytes) {
        constexpr std::size_t digest_size = 32;
        const Gathered before = std::exchange(last_, Gathered::other);
        if (!options_said_ && bytes.size() > 4 * digest_size) {
            last_ = Gathered::options;
            options_said_ = true;
        } else if (bytes.find("sotto.handshake.") != std::string::npos)
            last_ = Gathered::announcement;
        else if (before == Gathered::announcement)
            last_ = Gathered::confirmation;
        else if (bytes.find("\"commitments\"") != std::string::npos)
            last_ = Gathered::note;
        else if (before == Gathered::confirmation)
            last_ = Gathered::data;
        else if (before == Gathered::data)
            last_ = Gathered::seeds;
        else if (before == Gathered::note)
            last_ = Gathered::disk;
        else if (before == Gathered::disk)
            last_ = Gathered::checkpoint;
        else if (before == Gathered::checkpoint)
            last_ = Gathered::figures;
        else if (!bytes.empty() && bytes.find_first_not_of("0123456789 ") == std::string::npos)
            last_ = Gathered::records;
        else if (bytes.size() == digest_size)
            last_ = Gathered::agreement;
        return last_;
    }

    std::unique_ptr<Network> inner_;
    const Deviation& deviation_;
    std::string truth_, lie_;  ///< of the last broadcast
    std::vector<int> neighbourhood_;
    Gathered last_ = Gathered::other;
    bool options_said_ = false;
    int steps_ = 0;
};

}  // namespace

std::unique_ptr<Network> make_deviating_network(std::unique_ptr<Network> inner,
                                                const Deviation& deviation) {
    return std::make_unique<DeviatingNetwork>(std::move(inner), deviation);
}

}  // namespace sotto::test
