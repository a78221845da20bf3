#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "net/network.hpp"

namespace sotto::test {

/// A network that keeps everything this process sends in set-up, and can change it on the way.
class WireNetwork final : public Network {
  public:
    enum class Call { broadcast, all_gather, scatter };
    /// @param number of this call of its kind, from 0.
    using Change = std::function<std::string(Call call, int number, std::string bytes)>;

    explicit WireNetwork(Network& inner, Change change = {})
        : Network(inner.blocks(), inner.process()), inner_(inner), change_(std::move(change)) {}

    /// Everything sent, one after the other.
    [[nodiscard]] const std::string& sent() const { return sent_; }

    std::string description() const override { return inner_.description(); }
    std::unique_ptr<Network> without(std::span<const int> /*leaving*/) override { return nullptr; }
    void connect(const Graph& graph) override { inner_.connect(graph); }
    void work_while_waiting(WaitingWork piece) override {
        inner_.work_while_waiting(std::move(piece));
    }
    void exchange(ExchangeId id,
                  std::span<const Outgoing> outgoing,
                  Eigen::Index dimension,
                  const Delivery& deliver) override {
        inner_.exchange(id, outgoing, dimension, deliver);
    }
    void protect(std::span<PairSecrets> secrets, std::uint32_t key_epoch) override {
        inner_.protect(secrets, key_epoch);
    }
    std::optional<AeadCipher> encryption() const override { return inner_.encryption(); }
    void watch_for_stalls(StallLimits limits) override {
        inner_.watch_for_stalls(std::move(limits));
    }
    void exchange_sum(ExchangeId id,
                      Eigen::Index dimension,
                      const ShareSource& share,
                      const SumDelivery& deliver) override {
        inner_.exchange_sum(id, dimension, share, deliver);
    }
    Eigen::VectorXd fold_over_agents(const Eigen::MatrixXd& local,
                                     Fold fold,
                                     const CollectedCheck& check) override {
        return inner_.fold_over_agents(local, fold, check);
    }
    std::string broadcast(const std::string& bytes, std::uint64_t most_bytes) override {
        return inner_.broadcast(process() == 0 ? passed(Call::broadcast, 0, bytes) : bytes,
                                most_bytes);
    }
    std::vector<std::string> all_gather(const std::string& bytes,
                                        std::uint64_t most_bytes) override {
        return inner_.all_gather(passed(Call::all_gather, gathers_++, bytes), most_bytes);
    }
    std::string scatter(const std::vector<std::string>& to_processes,
                        std::uint64_t most_bytes) override {
        std::vector<std::string> changed = to_processes;
        if (process() == 0)
            for (std::size_t p = 1; p < changed.size(); ++p)
                changed[p] = passed(Call::scatter, static_cast<int>(p), changed[p]);
        return inner_.scatter(changed, most_bytes);
    }
    std::vector<std::string> send_parcels(const std::string& bytes,
                                          std::span<const int> receivers,
                                          std::uint64_t most_bytes) override {
        return inner_.send_parcels(bytes, receivers, most_bytes);
    }
    double maximum(double value) override { return inner_.maximum(value); }
    void begin_maximum(std::span<const double> values) override { inner_.begin_maximum(values); }
    std::vector<double> end_maximum() override { return inner_.end_maximum(); }
    std::int64_t bytes_sent() const override { return inner_.bytes_sent(); }
    void abort(ExitCode code) override { inner_.abort(code); }

  protected:
    std::optional<Error> agree_on(const std::optional<Error>& local_failure) override {
        try {
            inner_.agree([&] {
                if (local_failure) throw Error(*local_failure);
            });
        } catch (const Error& failure) {
            return failure;
        }
        return std::nullopt;
    }

  private:
    std::string passed(Call call, int number, std::string bytes) {
        if (change_) bytes = change_(call, number, std::move(bytes));
        sent_ += bytes;
        return bytes;
    }
    Network& inner_;
    Change change_;
    std::string sent_;
    int gathers_ = 0;
};

}  // namespace sotto::test
