#include "agent/message_mixing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/numbers.hpp"
#include "core/stopwatch.hpp"
#include "core/value_range.hpp"
#include "core/weighted_sum.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

/// weighted_sum over the columns that are not null. @param own place of the receiver, which takes
/// the weights of the others.
void weighted_sum_of_heard(std::span<const double* const> columns,
                           std::span<const double> weights,
                           std::size_t own,
                           std::span<double> result) {
    if (std::ranges::find(columns, nullptr) == columns.end()) {
        weighted_sum(columns, weights, result);
        return;
    }
    double own_weight = weights[own];
    for (std::size_t j = 0; j < columns.size(); ++j)
        if (columns[j] == nullptr) own_weight += weights[j];
    std::vector<const double*> heard;
    std::vector<double> their_weights;
    for (std::size_t j = 0; j < columns.size(); ++j)
        if (columns[j] != nullptr) {
            heard.push_back(columns[j]);
            their_weights.push_back(j == own ? own_weight : weights[j]);
        }
    weighted_sum(heard, their_weights, result);
}

/// here * mixed - before * the agent's previous message, from coordinate `first` on.
void combine(const MessageMixing::Exchange& exchange,
             std::size_t local,
             Eigen::Index first,
             std::span<double> mixed) {
    if (exchange.before == 0) return;
    const double* earlier = exchange.earlier.col(static_cast<Eigen::Index>(local)).data() + first;
    for (std::size_t i = 0; i < mixed.size(); ++i)
        mixed[i] = exchange.here * mixed[i] - exchange.before * earlier[i];
}

const double* message_of(const MessageMixing::Exchange& exchange, std::size_t local) {
    return exchange.messages.col(static_cast<Eigen::Index>(local)).data();
}

std::span<double> part_of_model(const MessageMixing::Exchange& exchange,
                                std::size_t local,
                                Eigen::Index first,
                                std::size_t count) {
    return {exchange.models.col(static_cast<Eigen::Index>(local)).data() + first, count};
}

}  // namespace

MessageMixing::MessageMixing(NeighbourExchange& network,
                             const AgentBlocks& blocks,
                             MixingSchedule mixing)
    : network_(network), blocks_(blocks), mixing_(std::move(mixing)) {}

void MessageMixing::use_secure_sums(std::vector<SecureSum> sums,
                                    std::span<const LocalAgent> agents) {
    if (sums.size() != agents.size())
        throw Error(ExitCode::other,
                    fmt::format("secure sums of {} agents for {}", sums.size(), agents.size()));
    for (std::size_t a = 0; a < sums.size(); ++a)
        if (sums[a].agent() != agents[a].id)
            throw Error(
                ExitCode::other,
                fmt::format(
                    "secure sum of agent {} given to agent {}", sums[a].agent(), agents[a].id));
    sums_ = std::move(sums);
    for (const LocalAgent& agent : agents) {
        std::vector<int>& neighbours = neighbours_.emplace_back();
        for (const int member : mixing_.at(0).members(agent.id))
            if (member != agent.id) neighbours.push_back(member);
    }
}

double MessageMixing::summable_limit() const {
    double limit = infinity;
    for (long t = 0; t < mixing_.period(); ++t) {
        const MixingMatrix& matrix = mixing_.at(t);
        for (int a = 0; a < matrix.agents(); ++a) {
            const auto members = matrix.members(a);
            const auto weights = matrix.weights(a);
            const double range = sum_range(static_cast<int>(members.size()) - 1);
            for (std::size_t j = 0; j < members.size(); ++j)
                if (members[j] != a && weights[j] != 0)
                    limit = std::min(limit, range / std::abs(weights[j]));
        }
    }
    // Room for rounding the product with the weight.
    return limit * (1 - 0x1p-50);
}

void MessageMixing::choose_active(long round,
                                  std::span<const LocalAgent> agents,
                                  std::span<Outgoing> outgoing) const {
    const MixingMatrix& mixing = mixing_.at(round);
    for (std::size_t a = 0; a < agents.size(); ++a) {
        const int own = agents[a].id;
        const auto members = mixing.members(own);
        Outgoing& message = outgoing[a];
        message.to.resize(members.size());
        message.from.resize(members.size());
        for (std::size_t j = 0; j < members.size(); ++j) {
            message.to[j] = members[j] == own || mixing.weight(members[j], own) != 0 ? 1 : 0;
            message.from[j] = members[j] == own || mixing.weight(own, members[j]) != 0 ? 1 : 0;
        }
    }
}

void MessageMixing::run(const Exchange& exchange) {
    if (sums_.empty())
        mix_messages(exchange);
    else
        mix_sums(exchange);
}

void MessageMixing::mix_messages(const Exchange& exchange) {
    checked_.assign(static_cast<std::size_t>(blocks_.agents()), {});
    const auto start = Clock::now();
    // Over MPI, or with one agent, the callback runs on this thread. With several agents in one
    // process, exchange passes pointers, and all time counts as mixing.
    const bool timed = blocks_.processes() > 1 || exchange.agents.size() == 1;
    double mixing_seconds = 0;
    network_.exchange(exchange.id,
                      exchange.coder != nullptr ? exchange.coder->outgoing() : exchange.outgoing,
                      exchange.models.rows(),
                      [&](std::size_t local,
                          Eigen::Index first,
                          Eigen::Index part,
                          std::span<const double* const> columns) {
                          const auto begin = timed ? Clock::now() : Clock::time_point();
                          mix_received(exchange, local, first, part, columns);
                          if (timed) mixing_seconds += seconds_between(begin, Clock::now());
                      });
    if (lag_ > 0 && network_.has_deadline()) {
        mix_late(exchange.agents, exchange.largest_value, exchange.models);
        keep_own(exchange);
    }
    const double total = seconds_between(start, Clock::now());
    if (!timed) mixing_seconds = total;
    seconds_.mix += mixing_seconds;
    seconds_.exchange += total - mixing_seconds;
}

void MessageMixing::mix_received(const Exchange& exchange,
                                 std::size_t local,
                                 Eigen::Index first,
                                 Eigen::Index count,
                                 std::span<const double* const> columns) {
    const std::span<double> mixed =
        part_of_model(exchange, local, first, static_cast<std::size_t>(count));
    std::span<const double* const> seen = columns;
    if (exchange.coder == nullptr)
        check_received(exchange, local, first, count, columns);
    else if (exchange.coder->keeps_heard())
        seen = exchange.coder->heard(local, first, count, columns);
    for (RoundObserver* observer : exchange.observers)
        observer->on_received(exchange.id.round, local, first, count, seen);
    std::vector<const double*> own_kept;
    if (exchange.lies) {
        own_kept.assign(columns.begin(), columns.end());
        own_kept[place_of(exchange, local)] = message_of(exchange, local) + first;
        columns = own_kept;
    }
    if (robust_) {
        mix_robustly(exchange, local, first, count, columns);
        return;
    }
    if (exchange.coder != nullptr)
        mix_codes(exchange, local, first, columns, mixed);
    else
        mix_heard(exchange, local, columns, mixed);
    if (network_.has_deadline()) balance(exchange, local, columns, mixed);
    combine(exchange, local, first, mixed);
}

std::size_t MessageMixing::place_of(const Exchange& exchange, std::size_t local) const {
    const int own = exchange.agents[local].id;
    const auto members = mixing_.at(exchange.id.round).members(own);
    return static_cast<std::size_t>(std::ranges::lower_bound(members, own) - members.begin());
}

void MessageMixing::mix_robustly(const Exchange& exchange,
                                 std::size_t local,
                                 Eigen::Index first,
                                 Eigen::Index count,
                                 std::span<const double* const> columns) {
    double* const model = exchange.models.col(static_cast<Eigen::Index>(local)).data();
    const double* const own = message_of(exchange, local);
    if (!robust_->mix(exchange.id.step, local, first, count, columns, own, model)) return;
    if (robust_->whole_messages()) {
        count += first;
        first = 0;
    }
    combine(exchange,
            local,
            first,
            part_of_model(exchange, local, first, static_cast<std::size_t>(count)));
}

void MessageMixing::mix_heard(const Exchange& exchange,
                              std::size_t local,
                              std::span<const double* const> columns,
                              std::span<double> mixed) const {
    const auto weights = mixing_.at(exchange.id.round).weights(exchange.agents[local].id);
    weighted_sum_of_heard(columns, weights, place_of(exchange, local), mixed);
}

void MessageMixing::use_lag(long rounds) {
    lag_ = rounds;
    network_.set_lag(rounds);
    const MixingMatrix& whole = mixing_.at(0);
    double away = 0;  // eigenvalues of I - W are at most twice as large (Gershgorin)
    for (int u = 0; u < whole.agents(); ++u) away = std::max(away, 1 - whole.weight(u, u));
    mixing_ = MixingSchedule({whole.damped(stable_share(rounds, away))});
}

double stable_share(long lag, double away) {
    constexpr double below = 0.9;
    const double most = std::sin(std::numbers::pi / static_cast<double>(2 * (2 * lag + 1)));
    return away > 0 ? std::min(1.0, below * most / away) : 1;
}

void MessageMixing::take(const Heard& heard,
                         Eigen::VectorXd part,
                         Eigen::Ref<Eigen::VectorXd> result) {
    constexpr long told = 32;  // rounds that a message speaks of
    std::vector<Taken>& before = taken_[heard.local][heard.place];
    std::erase_if(before, [&](const Taken& taken) {
        const long age = heard.round - 1 - taken.round;
        if (age < lag_) return false;  // the sender may use it yet
        if (age < told && (heard.used >> age & 1U) == 0) result -= taken.part;
        return true;
    });
    before.push_back({heard.round, std::move(part)});
}

void MessageMixing::balance(const Exchange& exchange,
                            std::size_t local,
                            std::span<const double* const> columns,
                            std::span<double> mixed) {
    const auto weights = mixing_.at(exchange.id.round).weights(exchange.agents[local].id);
    const auto size = static_cast<Eigen::Index>(mixed.size());
    const auto own = exchange.messages.col(static_cast<Eigen::Index>(local));
    Eigen::Map<Eigen::VectorXd> result(mixed.data(), size);
    taken_.resize(exchange.agents.size());
    taken_[local].resize(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j)
        if (const auto used = network_.used_by(local, j))
            take({local, j, exchange.id.round, *used},
                 weights[j] * (Eigen::Map<const Eigen::VectorXd>(columns[j], size) - own),
                 result);
}

void MessageMixing::mix_late(std::span<const LocalAgent> agents,
                             double largest_value,
                             Eigen::MatrixXd& models) {
    network_.deliver_late([&](const LateMessage& late) {
        const auto round = std::ranges::find(own_, late.round, &decltype(own_)::value_type::first);
        // Who sent nothing in that round has no edge in it.
        if (round == own_.end()) return false;
        const int own = agents[late.local].id;
        const auto members = mixing_.at(late.round).members(own);
        require_message_in_range(
            {members[late.place], own, {late.round, 0}}, 0, late.values, largest_value);
        const auto column = static_cast<Eigen::Index>(late.local);
        Eigen::VectorXd part =
            mixing_.at(late.round).weights(own)[late.place] *
            (Eigen::Map<const Eigen::VectorXd>(late.values.data(), std::ssize(late.values)) -
             round->second.col(column));
        models.col(column) += part;
        take({late.local, late.place, late.round, late.used}, std::move(part), models.col(column));
        return true;
    });
}

void MessageMixing::keep_own(const Exchange& exchange) {
    // Who is silent keeps no message that others could answer.
    const auto& to = exchange.outgoing.front().to;
    if (to.empty() || std::ranges::count(to, 1) > 1)
        own_.emplace_back(exchange.id.round, exchange.messages);
    while (!own_.empty() && own_.front().first <= exchange.id.round - lag_) own_.pop_front();
}

void MessageMixing::mix_codes(const Exchange& exchange,
                              std::size_t local,
                              Eigen::Index first,
                              std::span<const double* const> codes,
                              std::span<double> mixed) const {
    const double* message = exchange.messages.col(static_cast<Eigen::Index>(local)).data() + first;
    const auto beyond = exchange.coder->mix(local, first, codes, {message, mixed.size()}, mixed);
    if (!beyond) return;
    const int own = exchange.agents[local].id;
    throw NetworkError(
        fmt::format("messages to agent {}, round {}, step {}: coordinate {} is beyond what agents "
                    "may send; one of agents {} does not keep to the protocol",
                    own,
                    exchange.id.round,
                    exchange.id.step,
                    *beyond,
                    fmt::join(mixing_.at(exchange.id.round).members(own), ", ")));
}

void MessageMixing::check_received(const Exchange& exchange,
                                   std::size_t local,
                                   Eigen::Index first,
                                   Eigen::Index count,
                                   std::span<const double* const> columns) {
    // Local agents have limited their own messages.
    if (blocks_.processes() == 1) return;
    const int own = exchange.agents[local].id;
    const auto members = mixing_.at(exchange.id.round).members(own);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (members[j] == own || columns[j] == nullptr) continue;
        Checked& checked = checked_[static_cast<std::size_t>(members[j])];
        const Checked now{columns[j], first};
        if (checked == now) continue;
        require_message_in_range({members[j], own, exchange.id},
                                 first,
                                 {columns[j], static_cast<std::size_t>(count)},
                                 exchange.largest_value);
        checked = now;
    }
}

void MessageMixing::begin_sums(const Exchange& exchange) {
    const MixingMatrix& mixing = mixing_.at(exchange.id.round);
    const auto dimension = static_cast<std::size_t>(exchange.models.rows());
    for (std::size_t v = 0; v < exchange.agents.size(); ++v) {
        const int own = exchange.agents[v].id;
        weights_away_.clear();
        for (const int member : mixing.members(own))
            if (member != own) weights_away_.push_back(mixing.weight(member, own));
        const double* message = exchange.messages.col(static_cast<Eigen::Index>(v)).data();
        sums_[v].begin(exchange.id.round, exchange.id.step, {message, dimension}, weights_away_);
    }
}

void MessageMixing::mix_sums(const Exchange& exchange) {
    const auto start = Clock::now();
    const ExchangeId id = exchange.id;
    const MixingMatrix& mixing = mixing_.at(id.round);
    begin_sums(exchange);
    network_.exchange_sum(
        id,
        exchange.models.rows(),
        [&](std::size_t local,
            std::size_t neighbour,
            Eigen::Index first,
            std::span<std::uint64_t> words) {
            sums_[local].share(neighbour, first, words);
            for (RoundObserver* observer : exchange.observers)
                observer->on_share(id.round, id.step, local, neighbour, first, words);
        },
        [&](std::size_t local, Eigen::Index first, std::span<const std::uint64_t> sum) {
            const int own = exchange.agents[local].id;
            require_sum_in_range(own, neighbours_[local], id, first, sum);
            if (!exchange.observers.empty()) {
                std::vector<double> decoded(sum.size());
                SecureSum::decode(sum, decoded);
                for (RoundObserver* observer : exchange.observers)
                    observer->on_sum(id.round, local, first, decoded);
            }
            const auto column = static_cast<Eigen::Index>(local);
            const std::span<double> mixed = part_of_model(exchange, local, first, sum.size());
            SecureSum::finish(sum,
                              mixing.weight(own, own),
                              {exchange.messages.col(column).data() + first, sum.size()},
                              mixed);
            combine(exchange, local, first, mixed);
        });
    seconds_.exchange += seconds_between(start, Clock::now());
}

void require_message_in_range(const ReceivedFrom& from,
                              Eigen::Index first,
                              std::span<const double> values,
                              double limit) {
    const auto beyond = first_beyond(values, limit);
    if (!beyond) return;
    throw NetworkError(
        fmt::format("message from agent {} to agent {}, round {}, step {}: coordinate {} is {} "
                    "(allowed: -{:g} to {:g}); agent {} does not keep to the protocol",
                    from.sender,
                    from.receiver,
                    from.exchange.round,
                    from.exchange.step,
                    first + static_cast<Eigen::Index>(*beyond),
                    values[*beyond],
                    limit,
                    limit,
                    from.sender));
}

void require_sum_in_range(int receiver,
                          std::span<const int> neighbours,
                          ExchangeId exchange,
                          Eigen::Index first,
                          std::span<const std::uint64_t> sum) {
    // Every neighbour may round by half a word.
    const std::uint64_t largest = (std::uint64_t{1} << 62) + neighbours.size();
    for (std::size_t i = 0; i < sum.size(); ++i) {
        if (sum[i] + largest <= 2 * largest) continue;
        throw NetworkError(fmt::format(
            "secure sum of agent {}, round {}, step {}: coordinate {} is beyond what its "
            "neighbours may send; one of agents {} left out a share, or sent another",
            receiver,
            exchange.round,
            exchange.step,
            first + static_cast<Eigen::Index>(i),
            fmt::join(neighbours, ", ")));
    }
}

CollectedCheck require_collected_in_range(std::string what, double limit) {
    return [what = std::move(what), limit](
               int agent, Eigen::Index first, std::span<const double> values) {
        const auto beyond = first_beyond(values, limit);
        if (!beyond) return;
        throw NetworkError(
            fmt::format("{} from agent {}: coordinate {} is {} (allowed: -{:g} to {:g}); agent {} "
                        "does not keep to the protocol",
                        what,
                        agent,
                        first + static_cast<Eigen::Index>(*beyond),
                        values[*beyond],
                        limit,
                        limit,
                        agent));
    };
}

}  // namespace sotto
