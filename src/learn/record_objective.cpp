#include "learn/record_objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "core/seeded_random.hpp"
#include "learn/clipped_records.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/hash.hpp"

namespace sotto {

void require_clip_and_grid(double clip_norm_l2,
                           double grid_step,
                           std::size_t rows,
                           Eigen::Index largest_batch) {
    if (std::cmp_greater(rows, largest_batch))
        throw ConfigError(
            fmt::format("a batch of {}: at most {} were announced", rows, largest_batch));
    if (!(clip_norm_l2 > 0 && std::isfinite(clip_norm_l2)))
        throw ConfigError(fmt::format("clip norm {}: must be positive", clip_norm_l2));
    if (!(grid_step > 0 && std::isfinite(1 / grid_step)))
        throw ConfigError(fmt::format("grid step {}: must be positive and normal", grid_step));
    // Then every partial sum is an integer multiple of the step that fits 53 bits.
    const auto count = static_cast<double>(largest_batch);
    if (!(clip_norm_l2 / grid_step * count < 0x1p53))
        throw ConfigError(
            fmt::format("clip-norm: {} is too large to add up {} clipped gradients exactly on the "
                        "noise's grid of {:.3g} (allowed: below {:.6g}, or a plan with more noise)",
                        clip_norm_l2,
                        largest_batch,
                        grid_step,
                        0x1p53 * grid_step / count));
}

void require_evaluated_rows(Eigen::Index first, Eigen::Index stride) {
    if (first < 0 || stride < 1)
        throw ConfigError(fmt::format(
            "evaluated rows {}, {}+{}, ...: first must be at least 0, the stride at least 1",
            first,
            first,
            stride));
}

RecordObjective::RecordObjective(Dataset shard, std::shared_ptr<const Dataset> test)
    : shard_(std::move(shard)), test_(test ? std::move(test) : std::make_shared<const Dataset>()) {
    if (shard_.records() == 0)
        throw DataError(fmt::format("{}: an agent's shard has no records", shard_.source));
}

void RecordObjective::mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                                    std::span<const Eigen::Index> rows,
                                    Eigen::Ref<Eigen::VectorXd> gradient) {
    prepare(model);
    gradient_.resize(dimension());
    gradient.setZero();
    for (const Eigen::Index row : rows) {
        record_gradient(model, shard_, row, gradient_);
        gradient += gradient_;
    }
    if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
}

void RecordObjective::clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                                           std::span<const Eigen::Index> rows,
                                           double clip_norm_l2,
                                           double grid_step,
                                           Eigen::Ref<Eigen::VectorXd> sum) {
    require_clip_and_grid(clip_norm_l2, grid_step, rows.size(), largest_batch());
    prepare(model);
    gradient_.resize(dimension());
    ClippedRecords clipped(clip_norm_l2, grid_step, sum);
    for (const Eigen::Index row : rows) {
        record_gradient(model, shard_, row, gradient_);
        const auto outcome = clipped.add(gradient_);
        if (outcome == ClippedRecords::Outcome::set_to_zero) count_record_set_to_zero();
        if (outcome == ClippedRecords::Outcome::shortened) count_record_shortened();
    }
    clipped.finish();
}

LossSum RecordObjective::train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) {
    return loss_over(shard_, model, 0, 1);
}

LossSum RecordObjective::train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                             Eigen::Index stride) {
    require_evaluated_rows(0, stride);
    return loss_over(shard_, model, 0, stride);
}

LossSum RecordObjective::test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                                   Eigen::Index first,
                                   Eigen::Index stride) {
    require_evaluated_rows(first, stride);
    return loss_over(*test_, model, first, stride);
}

Eigen::VectorXd RecordObjective::record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                               const Dataset& records) {
    prepare(model);
    Eigen::VectorXd losses(records.records());
    for (Eigen::Index row = 0; row < losses.size(); ++row)
        losses(row) = record_loss(model, records, row).loss;
    return losses;
}

LossSum RecordObjective::loss_over(const Dataset& data,
                                   const Eigen::Ref<const Eigen::VectorXd>& model,
                                   Eigen::Index first,
                                   Eigen::Index stride) {
    prepare(model);
    LossSum sum;
    sum.has_accuracy = has_accuracy();
    for (Eigen::Index row = first; row < data.records(); row += stride) {
        const Loss one = record_loss(model, data, row);
        sum.loss += one.loss;
        if (one.correct) sum.correct += 1;
        ++sum.records;
    }
    return sum;
}

namespace {

std::uint64_t first_word(const Digest& digest) {
    std::uint64_t word = 0;
    std::memcpy(&word, digest.data(), sizeof word);
    return word;
}

class UnitObjective final : public Objective {
  public:
    UnitObjective(std::unique_ptr<Objective> inner, Units units, UnitSample sample)
        : inner_(std::move(inner)),
          units_(std::move(units)),
          sample_(std::move(sample)),
          gradient_(inner_->dimension()) {}

    Eigen::Index dimension() const override { return inner_->dimension(); }
    Eigen::Index records() const override { return std::ssize(units_); }
    bool record_clipping() const override { return true; }
    bool counts_shortened_records() const override { return true; }
    Eigen::Index model_parameters() const override { return inner_->model_parameters(); }
    Eigen::VectorXd initial_model(std::uint64_t seed) const override {
        return inner_->initial_model(seed);
    }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& model,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        gradient.setZero();
        const std::uint64_t key = key_of(model);
        for (const Eigen::Index unit : rows) {
            inner_->mean_gradient(model, rows_of(unit, key), gradient_);
            gradient += gradient_;
        }
        if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& model,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        require_clip_and_grid(clip_norm_l2, grid_step, rows.size(), largest_batch());
        ClippedRecords clipped(clip_norm_l2, grid_step, sum);
        const std::uint64_t key = key_of(model);
        for (const Eigen::Index unit : rows) {
            // Depends on this unit alone, not on others in the batch.
            inner_->mean_gradient(model, rows_of(unit, key), gradient_);
            const auto outcome = clipped.add(gradient_);
            if (outcome == ClippedRecords::Outcome::set_to_zero) count_record_set_to_zero();
            if (outcome == ClippedRecords::Outcome::shortened) count_record_shortened();
        }
        clipped.finish();
    }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return inner_->train_loss(model);
    }
    LossSum train_loss_of_share(const Eigen::Ref<const Eigen::VectorXd>& model,
                                Eigen::Index stride) override {
        return inner_->train_loss_of_share(model, stride);
    }
    Eigen::Index test_records() const override { return inner_->test_records(); }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& model,
                      Eigen::Index first,
                      Eigen::Index stride) override {
        return inner_->test_loss(model, first, stride);
    }
    std::vector<LossSum> test_losses(const Eigen::Ref<const Eigen::MatrixXd>& models) override {
        return inner_->test_losses(models);
    }
    Eigen::VectorXd record_losses(const Eigen::Ref<const Eigen::VectorXd>& model,
                                  const Dataset& records) override {
        return inner_->record_losses(model, records);
    }
    bool shares_test(const Objective& other) const override {
        const auto* unit = dynamic_cast<const UnitObjective*>(&other);
        return unit != nullptr && inner_->shares_test(*unit->inner_);
    }
    std::optional<Curvature> curvature_sum(
        const Eigen::Ref<const Eigen::VectorXd>& model) override {
        return inner_->curvature_sum(model);
    }

  private:
    [[nodiscard]] std::uint64_t key_of(const Eigen::Ref<const Eigen::VectorXd>& model) const {
        if (sample_.most == 0) return 0;
        return first_word(
            Hasher("sotto.unit-records.v1")
                .add(std::span<const double>(model.data(), static_cast<std::size_t>(model.size())))
                .finish());
    }
    [[nodiscard]] std::span<const Eigen::Index> rows_of(Eigen::Index unit, std::uint64_t key) {
        const auto place = static_cast<std::size_t>(unit);
        const std::vector<Eigen::Index>& all = units_.at(place);
        const auto most = static_cast<std::size_t>(sample_.most);
        if (most == 0 || all.size() <= most) return all;
        SeededRandom random(key ^ sample_.keys.at(place), "records of a unit");
        chosen_ = all;
        for (std::size_t i = 0; i < most; ++i)
            std::swap(chosen_[i], chosen_[i + random.below(chosen_.size() - i)]);
        return std::span(chosen_).first(most);
    }

    std::unique_ptr<Objective> inner_;
    Units units_;
    UnitSample sample_;
    std::vector<Eigen::Index> chosen_;
    Eigen::VectorXd gradient_;
};

}  // namespace

Units units_of(const Dataset& data, std::span<const Eigen::Index> rows) {
    if (data.writers.empty())
        throw DataError(fmt::format("{}: does not say which records are of one unit", data.source));
    Units units;
    std::map<int, std::size_t> places;
    for (const Eigen::Index row : rows) {
        const int who = data.writers.at(static_cast<std::size_t>(row));
        const auto [place, is_new] = places.try_emplace(who, units.size());
        if (is_new) units.emplace_back();
        units[place->second].push_back(row);
    }
    return units;
}

UnitSample sample_of(const Dataset& data, const Units& units, long most) {
    UnitSample sample{most};
    if (most == 0) return sample;
    for (const std::vector<Eigen::Index>& rows : units) {
        Hasher hasher("sotto.unit.v1");
        for (const Eigen::Index row : rows) {
            hasher.add(data.labels(row));
            if (data.dense) {
                std::visit(
                    [&](const auto& all) {
                        const Eigen::VectorXd values =
                            all.row(row).template cast<double>().transpose();
                        hasher.add(std::span<const double>(
                            values.data(), static_cast<std::size_t>(values.size())));
                    },
                    *data.dense);
                continue;
            }
            for (SparseRows::InnerIterator entry(data.features, row); entry; ++entry)
                hasher.add(static_cast<std::int64_t>(entry.col())).add(double{entry.value()});
        }
        sample.keys.push_back(first_word(hasher.finish()));
    }
    return sample;
}

std::unique_ptr<Objective> make_unit_objective(std::unique_ptr<Objective> records,
                                               Units units,
                                               UnitSample sample) {
    return std::make_unique<UnitObjective>(std::move(records), std::move(units), std::move(sample));
}

namespace {

constexpr int probes = 4;
constexpr Eigen::Index smallest_tile = 8;

Eigen::VectorXd random_numbers(SeededRandom& random, Eigen::Index size) {
    Eigen::VectorXd numbers(size);
    for (double& number : numbers) number = random.normal();
    return numbers;
}

/// Whether a record gets the same bits in every place of tiles of these sizes.
bool agree(LayerChain& chain, const std::vector<Eigen::Index>& tiles) {
    SeededRandom random(1, "places of records", 0);
    const Eigen::Index inputs = chain.layers().front()->inputs();
    for (int probe = 0; probe < probes; ++probe) {
        // Some features of real records are zero.
        const Eigen::VectorXd features = random_numbers(random, inputs).cwiseMax(-0.5);
        const Eigen::VectorXd slopes = random_numbers(random, chain.outputs());
        const Eigen::VectorXd model = random_numbers(random, chain.parameters());
        std::optional<Eigen::VectorXd> before;
        for (const Eigen::Index tile : tiles) {
            auto now = chain.same_in_every_place(tile, model, features, slopes);
            if (!now || (before && *before != *now)) return false;
            before = std::move(now);
        }
    }
    return true;
}

}  // namespace

std::vector<Eigen::Index> place_independent_tiles(LayerChain& chain) {
    const auto most = static_cast<Eigen::Index>(chain.chunk_records());
    std::vector<Eigen::Index> falling;
    for (Eigen::Index tile = most; tile >= std::min(smallest_tile, most);
         tile = tile / 4 / smallest_tile * smallest_tile)
        falling.push_back(tile);
    std::vector<std::vector<Eigen::Index>> choices{falling};
    for (const Eigen::Index tile : falling) choices.push_back({tile});
    for (const auto& tiles : choices)
        if (agree(chain, tiles)) return tiles;
    return {1};
}

}  // namespace sotto
