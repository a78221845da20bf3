#include "audit/known_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/recording/recorded_view.hpp"
#include "agent/recording/recorded_wire.hpp"
#include "audit/audit_subject.hpp"
#include "core/bytes.hpp"
#include "core/json.hpp"
#include "core/seeded_random.hpp"
#include "learn/quadratic.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"
#include "training/local_agents.hpp"

namespace sotto {

namespace {

namespace fs = std::filesystem;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Mean {
    VectorXd sum;
    long count = 0;

    void add(const Eigen::Ref<const VectorXd>& value) {
        if (count++ == 0)
            sum = value;
        else
            sum += value;
    }
};

struct SeenModels {
    std::map<int, Mean> heard;
    Mean own;
};

void require_recording_of(const RecordingHeader& header,
                          std::uint64_t records,
                          const NoisePlan& plan,
                          long rounds,
                          const fs::path& file) {
    const auto expected =
        static_cast<std::uint64_t>(rounds) * static_cast<std::uint64_t>(header.gossip_steps);
    if (header.plan_hash != to_hex(plan.hash()) || records != expected)
        throw DataError(fmt::format("{}: not a recording of this run", file.string()));
}

/// Index of a neighbour's weight in the mixing row of a closed neighbourhood.
Index weight_of(const RecordingHeader& header, std::size_t neighbour) {
    return static_cast<Index>(neighbour) + (header.neighbours[neighbour] > header.agent ? 1 : 0);
}

/// The first exchange of a round that is about models.
int exchange_of_models(const RecordingHeader& header, Correction correction) {
    return correction == Correction::tracking ? header.gossip_steps / 2 : 0;
}

void add_member(SeenModels& seen,
                const fs::path& file,
                const NoisePlan& plan,
                Correction correction,
                long rounds,
                long first) {
    RecordedViewReader reader(file);
    const ViewHeader& header = reader.header();
    require_recording_of(header, reader.records(), plan, rounds, file);
    const int exchange = exchange_of_models(header, correction);
    for (RecordedRound record; reader.next(record);) {
        if (record.round < first || record.gossip_step != exchange) continue;
        seen.own.add(record.before);
        if (header.received != Received::messages) continue;
        for (std::size_t j = 0; j < header.neighbours.size(); ++j)
            if (record.mixing_row(weight_of(header, j)) != 0)
                seen.heard[header.neighbours[j]].add(record.received.col(static_cast<Index>(j)));
    }
}

void add_sender(Mean& mean,
                const fs::path& file,
                const NoisePlan& plan,
                Correction correction,
                long rounds,
                long first) {
    WireReader reader(file);
    require_recording_of(reader.header(), reader.records(), plan, rounds, file);
    const int exchange = exchange_of_models(reader.header(), correction);
    for (WireRecord record; reader.next(record);)
        if (record.round >= first && record.gossip_step == exchange && record.messages.cols() > 0)
            mean.add(record.messages.col(0));
}

}  // namespace

KnownModels read_known_models(const fs::path& views,
                              const View& view,
                              const NoisePlan& plan,
                              Correction correction,
                              long rounds,
                              long first) {
    SeenModels seen;
    for (const int member : view.members)
        add_member(
            seen, views / std::to_string(member) / "view.bin", plan, correction, rounds, first);
    if (view.kind == View::Kind::all_messages)
        for (const int sender : agents_outside(view, plan.agents))
            add_sender(seen.heard[sender],
                       views / "wire" / std::to_string(sender) / "messages.bin",
                       plan,
                       correction,
                       rounds,
                       first);
    KnownModels known;
    for (int u = 0; u < plan.agents; ++u) {
        const auto of_agent = seen.heard.find(u);
        const bool heard = of_agent != seen.heard.end() && of_agent->second.count > 0;
        const Mean& mean = heard ? of_agent->second : seen.own;
        if (mean.count == 0)
            throw ConfigError(fmt::format("view: it shows no message of agent {}", u));
        if (u == 0) known.models.resize(mean.sum.size(), plan.agents);
        known.models.col(u) = mean.sum / static_cast<double>(mean.count);
        known.heard.push_back(heard);
    }
    return known;
}

MatrixXd share_models(const MatrixXd& models, Eigen::Index dimension, Control& network) {
    ByteWriter writer;
    for (const double value : models.reshaped()) writer.put(value);
    const std::string bytes =
        network.broadcast(writer.take(),
                          sizeof(double) * static_cast<std::uint64_t>(dimension) *
                              static_cast<std::uint64_t>(network.agents()));
    const int agents = network.agents();
    MatrixXd result(static_cast<Index>(bytes.size() / sizeof(double)) / agents, agents);
    network.agree([&] {
        ByteReader reader(bytes, "the models of rank 0");
        for (double& value : result.reshaped()) value = reader.get<double>();
        reader.require_done();
    });
    return result;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace math = boost::math;

MatrixXd columns_with(const MatrixXd& values, const VectorXd& signs, double sign) {
    MatrixXd result(values.rows(), (signs.array() == sign).count());
    for (Index i = 0, column = 0; i < signs.size(); ++i)
        if (signs(i) == sign) result.col(column++) = values.col(i);
    return result;
}

/// The probability that canaries or companions show on average.
CoinCheck check_of_probability(std::string name,
                               const CoinModel& model,
                               const MatrixXd& values,
                               double probability) {
    const VectorXd weights = model.mean().cwiseQuotient(model.variance());
    const auto count = static_cast<double>(values.cols());
    const double mean = count * weights.dot(model.mean());
    return check_of_mean(std::move(name),
                         weights.dot(values.rowwise().sum()),
                         mean,
                         count * model.variance_of_sum(weights),
                         mean / probability);
}

/// Single values less their mean.
CoinCheck check_of_spread(std::string name, const CoinModel& model, const MatrixXd& centred) {
    const VectorXd weights = model.variance().cwiseInverse();
    const auto count = static_cast<double>(centred.cols());
    return check_of_squares(std::move(name),
                            weights.dot(centred.cwiseAbs2().rowwise().sum()),
                            count * static_cast<double>(weights.size()),
                            count * model.variance_of_squares(weights));
}

/// Sums over rounds, of every canary.
CoinCheck check_between_rounds(std::string name,
                               const CoinModel& model,
                               const VectorXd& weights,
                               const MatrixXd& centred) {
    const auto count = static_cast<double>(centred.cols());
    return check_of_squares(std::move(name),
                            (weights.transpose() * centred).squaredNorm(),
                            count * model.variance_of_sum(weights),
                            count * model.variance_of_square(weights));
}

/// Sums over canaries, per mode.
CoinCheck check_between_canaries(std::string name,
                                 const CoinModel& model,
                                 const MatrixXd& centred) {
    const auto modes = static_cast<double>(centred.rows());
    const auto count = static_cast<double>(centred.cols());
    const VectorXd sums = centred.rowwise().sum(), weights = model.variance().cwiseInverse();
    const double normal = model.normal_variance_of_squares(weights);
    return check_of_squares(std::move(name),
                            weights.dot(sums.cwiseAbs2()) / count,
                            modes,
                            // The excess of a canary over a normal variable shrinks in a sum.
                            normal + (model.variance_of_squares(weights) - normal) / count);
}

/// Sums over the rounds of an epoch, of every canary: it takes part once.
CoinCheck check_within_epochs(const VectorXd& shown,
                              const MatrixXd& centred,
                              long rounds_an_epoch) {
    const auto count = static_cast<double>(centred.cols());
    const VectorXd weights = shown.cwiseInverse();
    double sum = 0, mean = 0, variance = 0;
    for (Index first = 0; first + rounds_an_epoch <= centred.rows(); first += rounds_an_epoch) {
        const VectorXd own = weights.segment(first, rounds_an_epoch);
        sum += (own.transpose() * centred.middleRows(first, rounds_an_epoch)).squaredNorm();
        const double noise = own.squaredNorm();
        mean += count * noise;
        variance += 2 * count * noise * noise;
    }
    return check_of_squares(
        "sum over the rounds of an epoch of canaries that are there", sum, mean, variance);
}

/// Sums over epochs of a place, of every canary: places are drawn anew.
CoinCheck check_between_epochs(const CoinModel& model,
                               const MatrixXd& centred,
                               long rounds_an_epoch) {
    const auto count = static_cast<double>(centred.cols());
    MatrixXd sums = MatrixXd::Zero(rounds_an_epoch, centred.cols());
    for (Index round = 0; round < centred.rows(); ++round)
        sums.row(round % rounds_an_epoch) += centred.row(round);
    const MatrixXd covariance = model.covariance_of_places();
    const VectorXd ones = VectorXd::Ones(centred.rows());
    // Fourth cumulants add up over epochs.
    const double excess = model.variance_of_squares(ones) - model.normal_variance_of_squares(ones);
    return check_of_squares("sum over epochs of a place of canaries that are there",
                            sums.squaredNorm(),
                            count * covariance.trace(),
                            count * (2 * covariance.squaredNorm() + excess));
}

/// Correlation of the contributions with known coins: 1 if these are the coins.
CoinCheck check_of_known(const KnownCoins& known,
                         const CoinModel& model,
                         const Eigen::SparseMatrix<double>& response,
                         const CoinSubject& subject,
                         const MatrixXd& centred) {
    const MatrixXd drawn = columns_with(known.drawn, subject.signs, 1);
    const MatrixXd expected =
        response.transpose() *
        (subject.contribution * (drawn.array() - subject.secret.probability)).matrix().eval();
    const VectorXd weights = model.variance().cwiseInverse();
    const double power = weights.dot(expected.cwiseAbs2().rowwise().sum());
    return check_of_mean(
        known.whose, weights.dot(expected.cwiseProduct(centred).rowwise().sum()), 0, power, power);
}

}  // namespace

CoinModel::CoinModel(const Eigen::SparseMatrix<double>& response,
                     double contribution,
                     const SecretRounds& secret,
                     double count)
    : shown_(contribution * response), secret_(secret), count_(count) {
    const double q = secret.probability;
    mean_ = count * q * (shown_.transpose() * VectorXd::Ones(shown_.rows()));
    variance_ = VectorXd::Ones(shown_.cols()) +
                count * q * (1 - q) *
                    (shown_.cwiseProduct(shown_).transpose() * VectorXd::Ones(shown_.rows()));
}

CoinModel::Cumulants CoinModel::of_sum(const VectorXd& values) const {
    const double q = secret_.probability, variance = q * (1 - q);
    if (secret_.rounds_an_epoch == 1)
        return {variance * values.squaredNorm(),
                variance * (1 - 6 * variance) * values.array().pow(4).sum()};
    Cumulants all;
    for (Index first = 0; first < values.size(); first += secret_.rounds_an_epoch) {
        const Index here = std::min<Index>(secret_.rounds_an_epoch, values.size() - first);
        const auto own = values.segment(first, here).array();
        // In an epoch that is cut a record may take part in none of its rounds.
        const double none = 1 - q * static_cast<double>(here);
        const double mean = q * own.sum();
        const double second = q * (own - mean).square().sum() + none * mean * mean;
        const double fourth = q * (own - mean).pow(4).sum() + none * std::pow(mean, 4);
        all.second += second;
        all.fourth += fourth - 3 * second * second;
    }
    return all;
}

double CoinModel::excess_of_squares(const VectorXd& values) const {
    const double q = secret_.probability, variance = q * (1 - q);
    if (secret_.rounds_an_epoch == 1) return variance * (1 - 6 * variance) * values.squaredNorm();
    // (x - q)^2 = (1 - 2 q) x + q^2, and sum_t values_t x_t = values_T of the place T of an epoch.
    return (1 - 2 * q) * (1 - 2 * q) * of_sum(values).second - normal_squares(values);
}

double CoinModel::normal_squares(const VectorXd& values) const {
    const double q = secret_.probability, own = std::pow(q * (1 - q), 2), other = std::pow(q, 4);
    double sum = 0;
    for (Index first = 0; first < values.size(); first += secret_.rounds_an_epoch) {
        const auto epoch =
            values.segment(first, std::min<Index>(secret_.rounds_an_epoch, values.size() - first));
        sum += 2 * (own - other) * epoch.squaredNorm() + 2 * other * epoch.sum() * epoch.sum();
    }
    return sum;
}

MatrixXd CoinModel::covariance_of_places() const {
    const double q = secret_.probability;
    const Index places = secret_.rounds_an_epoch;
    MatrixXd covariance = MatrixXd::Zero(places, places);
    const VectorXd shown = shown_.diagonal();
    for (Index first = 0; first < shown.size(); first += places) {
        VectorXd epoch = VectorXd::Zero(places);
        const Index here = std::min<Index>(places, shown.size() - first);
        epoch.head(here) = shown.segment(first, here);
        covariance -= count_ * q * q * epoch * epoch.transpose();
        covariance.diagonal() += count_ * q * epoch.cwiseAbs2();
        covariance.diagonal().head(here).array() += 1;
    }
    return covariance;
}

double CoinModel::variance_of_sum(const VectorXd& weights) const {
    return weights.squaredNorm() + count_ * of_sum(shown_ * weights).second;
}

double CoinModel::normal_variance_of_squares(const VectorXd& weights) const {
    const double of_modes = 2 * weights.cwiseProduct(variance_).squaredNorm();
    if (secret_.rounds_an_epoch == 1) return of_modes;
    const VectorXd records = variance_.array() - 1;
    return of_modes - 2 * weights.cwiseProduct(records).squaredNorm() +
           count_ * count_ * normal_squares(shown_.cwiseProduct(shown_) * weights);
}

double CoinModel::variance_of_squares(const VectorXd& weights) const {
    return normal_variance_of_squares(weights) +
           count_ * excess_of_squares(shown_.cwiseProduct(shown_) * weights);
}

double CoinModel::variance_of_square(const VectorXd& weights) const {
    const double variance = variance_of_sum(weights);
    return 2 * variance * variance + count_ * of_sum(shown_ * weights).fourth;
}

CoinCheck check_of_mean(std::string name, double sum, double mean, double variance, double unit) {
    const double deviation = std::sqrt(variance);
    return {.name = std::move(name),
            .measured = sum / unit,
            .expected = mean / unit,
            .standard_error = deviation / std::abs(unit),
            .p_value =
                2 * math::cdf(math::complement(math::normal(), std::abs(sum - mean) / deviation))};
}

CoinCheck check_of_squares(std::string name, double sum, double mean, double variance) {
    // A chi-squared variable of f degrees of freedom has mean f and variance 2 f.
    const double freedom = 2 * mean * mean / variance;
    const math::chi_squared chi(freedom);
    const double value = freedom * sum / mean;
    return {.name = std::move(name),
            .measured = sum / mean,
            .expected = 1,
            .standard_error = std::sqrt(variance) / mean,
            .p_value = std::min(
                1.0, 2 * std::min(math::cdf(chi, value), math::cdf(math::complement(chi, value))))};
}

std::vector<CoinCheck> check_coins(const ContributionModes& modes, const CoinSubject& subject) {
    const Index trials = subject.signs.size();
    if (modes.values.cols() != trials + 1)
        throw ConfigError("canaries: one coordinate each and one of companions are needed");
    const double probability = subject.secret.probability;
    const CoinModel one(modes.response, subject.contribution, subject.secret, 1);
    const CoinModel all(modes.response, subject.contribution, subject.secret, subject.companions);
    const CoinModel noise(modes.response, 0, subject.secret, 1);
    const MatrixXd there = columns_with(modes.values, subject.signs, 1);
    const MatrixXd centred = there.colwise() - one.mean();
    const MatrixXd absent = columns_with(modes.values, subject.signs, -1);
    const MatrixXd batches = modes.values.col(trials);
    const VectorXd over_rounds = modes.response.transpose() * VectorXd::Ones(modes.response.rows());
    std::vector<CoinCheck> checks{
        check_of_probability("probability of canaries", one, there, probability),
        check_of_spread("variance of canaries that are there", one, centred),
        check_of_spread("variance of canaries that are not there", noise, absent),
        check_between_rounds(
            "sum over rounds of canaries that are there", one, over_rounds, centred),
        check_between_rounds(
            "sum over rounds of canaries that are not there", noise, over_rounds, absent),
        check_between_canaries("sum over the canaries of a round", one, centred),
        check_of_probability("probability of companions", all, batches, probability),
        check_of_spread(
            "variance of the companions of a round", all, batches.colwise() - all.mean())};
    if (const long epoch = subject.secret.rounds_an_epoch; epoch > 1) {
        checks.push_back(
            check_within_epochs(subject.contribution * modes.response.diagonal(), centred, epoch));
        checks.push_back(check_between_epochs(one, centred, epoch));
    }
    for (const KnownCoins& known : subject.known)
        checks.push_back(check_of_known(known, one, modes.response, subject, centred));
    return checks;
}

namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// @param there per canary: positive if it is in the shard; companions are present if any canary
/// is.
Dataset canary_shard(const CanaryRecords& canaries, const VectorXd& there, double gradient) {
    Dataset shard;
    shard.source = "canaries";
    shard.labels = VectorXd::Zero(canaries.records());
    shard.features = SparseRows(canaries.records(), canaries.dimension());
    std::vector<Eigen::Triplet<double>> entries;
    for (Index i = 0; i < there.size(); ++i)
        if (there(i) > 0) entries.emplace_back(i, i, -gradient);  // a gradient is minus the value
    if (there.size() > 0)
        for (Index row = canaries.trials; row < shard.records(); ++row)
            entries.emplace_back(row, canaries.trials, -gradient);
    shard.features.setFromTriplets(entries.begin(), entries.end());
    return shard;
}

}  // namespace

VectorXd CanaryRecords::signs() const {
    SeededRandom random(seed, "canary records", static_cast<std::uint64_t>(target));
    VectorXd result(trials);
    for (double& sign : result) sign = random.below(2) == 0 ? -1 : 1;
    return result;
}

std::string to_json(const CanaryRecords& canaries) {
    nlohmann::ordered_json json;
    json["format"] = "sotto-canary-records";
    json["version"] = 1;
    json["target"] = canaries.target;
    json["seed"] = canaries.seed;
    json["trials"] = canaries.trials;
    json["members"] = canaries.members;
    return json.dump(1) + "\n";
}

CanaryRecords canary_records_from_json(std::string_view text, const std::string& source) try {
    const JsonDocument document(text);
    document.require_format("sotto-canary-records", 1);
    const JsonValue json = document.root();
    CanaryRecords canaries;
    canaries.target = json.at("target").integer<int>(0);
    canaries.seed = json.at("seed").integer<std::uint64_t>();
    canaries.trials = json.at("trials").integer<long>(fewest_canary_records, most_canary_records);
    canaries.members = json.at("members").integers();
    if (!std::ranges::is_sorted(canaries.members, std::ranges::less_equal()))
        json.at("members").fail("ascending numbers of agents");
    return canaries;
} catch (const DataError& error) {
    throw DataError(fmt::format("{}: not canary records ({})", source, error.what()));
}

LocalTask make_canary_record_task(const CanaryRecords& canaries,
                                  double clip_norm,
                                  const Control& network) {
    LocalTask task;
    for (const int agent : network.local_agents()) {
        const VectorXd there = agent == canaries.target ? canaries.signs()
                               : std::ranges::binary_search(canaries.members, agent)
                                   ? VectorXd(VectorXd::Ones(canaries.trials))
                                   : VectorXd();
        task.objectives.push_back(
            make_averaging_objective(canary_shard(canaries, there, 2 * clip_norm), std::nullopt));
    }
    task.initial = VectorXd::Zero(canaries.dimension());
    task.records.assign(static_cast<std::size_t>(network.agents()), canaries.records());
    task.description = fmt::format(
        "audit: {} canary records of agent {}, of which a secret half is there, and {} others",
        canaries.trials,
        canaries.target,
        canaries.companions());
    task.statements.emplace_back(
        "Audit: records are canaries, whose gradients are fixed in advance. Which of them are "
        "there "
        "is kept in the run directory.");
    task.fixed_inputs = true;
    return task;
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

KnownCoins coins_of_batches(std::string whose,
                            BatchSampler batches,
                            const CanaryRecords& canaries,
                            long rounds) {
    KnownCoins coins{std::move(whose), MatrixXd::Zero(rounds, canaries.trials)};
    for (Index t = 0; t < rounds; ++t)
        for (const Index row : batches.rows(static_cast<std::uint64_t>(t)))
            if (row < canaries.trials) coins.drawn(t, row) = 1;
    return coins;
}

KnownCoins coins_of_member(int member,
                           const CanaryRecords& canaries,
                           const std::filesystem::path& file,
                           long rounds) {
    RecordedViewReader reader(file);
    KnownCoins coins{fmt::format("coins of agent {}", member),
                     MatrixXd::Zero(rounds, canaries.trials)};
    for (RecordedRound record; reader.next(record);) {
        if (record.gossip_step > 0) continue;
        if (record.round >= rounds || record.gradient.size() != canaries.dimension())
            throw DataError(fmt::format("{}: not a recording of this run", file.string()));
        coins.drawn.row(record.round) =
            (record.gradient.head(canaries.trials).array() > 0).cast<double>().transpose();
    }
    return coins;
}

}  // namespace

std::vector<KnownCoins> public_coins(const CanaryRecords& canaries,
                                     std::uint64_t seed,
                                     const SecretRounds& secret,
                                     Index batch_size,
                                     long rounds) {
    const Index records = canaries.records();
    SecretKey key = reproducible_coins(seed, 0, canaries.target);
    return {
        coins_of_batches("coins from --seed",
                         secret.rounds_an_epoch > 1
                             ? allocated_batches(records, secret.rounds_an_epoch, std::move(key), 0)
                             : sampled_batches(records, secret.probability, std::move(key)),
                         canaries,
                         rounds),
        coins_of_batches("batches from --seed",
                         BatchSampler::uniform(records, batch_size, seed, canaries.target),
                         canaries,
                         rounds)};
}

std::vector<KnownCoins> member_coins(const CanaryRecords& canaries,
                                     const std::filesystem::path& views,
                                     long rounds) {
    std::vector<KnownCoins> coins;
    for (const int member : canaries.members)
        coins.push_back(
            coins_of_member(member, canaries, views / std::to_string(member) / "view.bin", rounds));
    return coins;
}

}  // namespace sotto
