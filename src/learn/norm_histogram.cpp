#include "learn/norm_histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "learn/record_objective.hpp"
#include "sotto/core/error.hpp"

namespace sotto {

namespace {

constexpr double lowest_exponent = -10, bins_an_octave = 2;

double weight_of_pair(const Eigen::Ref<const Eigen::VectorXd>& counts, Eigen::Index bin) {
    return std::max(counts(bin), 0.0) + std::max(counts(bin + 1), 0.0);
}

class NormHistogram final : public Objective {
  public:
    NormHistogram(Objective& of, Eigen::VectorXd model) : of_(of), model_(std::move(model)) {}

    Eigen::Index dimension() const override { return norm_bins; }
    Eigen::Index records() const override { return of_.records(); }
    bool record_clipping() const override { return true; }

    void mean_gradient(const Eigen::Ref<const Eigen::VectorXd>& /*model*/,
                       std::span<const Eigen::Index> rows,
                       Eigen::Ref<Eigen::VectorXd> gradient) override {
        count(rows, gradient);
        if (!rows.empty()) gradient *= 1 / static_cast<double>(rows.size());
    }

    void clipped_gradient_sum(const Eigen::Ref<const Eigen::VectorXd>& /*model*/,
                              std::span<const Eigen::Index> rows,
                              double clip_norm_l2,
                              double grid_step,
                              Eigen::Ref<Eigen::VectorXd> sum) override {
        require_clip_and_grid(clip_norm_l2, grid_step, rows.size(), largest_batch());
        if (std::fmod(1, grid_step) != 0)
            throw ConfigError(
                fmt::format("tune: auto is not possible with noise whose grid, {:.3g}, does not "
                            "hold single records (give --clip-norm and --step-size)",
                            grid_step));
        count(rows, sum);
    }

    LossSum train_loss(const Eigen::Ref<const Eigen::VectorXd>& /*model*/) override { return {}; }
    LossSum test_loss(const Eigen::Ref<const Eigen::VectorXd>& /*model*/,
                      Eigen::Index /*first*/,
                      Eigen::Index /*stride*/) override {
        return {};
    }

  private:
    void count(std::span<const Eigen::Index> rows, Eigen::Ref<Eigen::VectorXd> counts) {
        counts.setZero();
        for (const double norm : of_.gradient_norms(model_, rows))
            if (std::isfinite(norm)) counts(norm_bin(norm)) += 1;
    }

    Objective& of_;
    Eigen::VectorXd model_;
};

}  // namespace

Eigen::Index norm_bin(double norm) {
    if (!(norm > 0)) return 0;
    const double place = std::floor(bins_an_octave * (std::log2(norm) - lowest_exponent));
    return static_cast<Eigen::Index>(std::clamp(place, 0.0, static_cast<double>(norm_bins - 1)));
}

double TypicalNorm::value() const {
    return std::exp2(lowest_exponent +
                     (static_cast<double>(bin) + 0.5 + position) / bins_an_octave);
}

TypicalNorm typical_norm(const Eigen::Ref<const Eigen::VectorXd>& counts) {
    TypicalNorm norm;
    for (Eigen::Index k = 1; k + 1 < counts.size(); ++k)
        if (weight_of_pair(counts, k) > weight_of_pair(counts, norm.bin)) norm.bin = k;
    const double weight = weight_of_pair(counts, norm.bin);
    norm.position = weight > 0 ? std::max(counts(norm.bin + 1), 0.0) / weight : 0.5;
    return norm;
}

bool is_typical(const TypicalNorm& said, const Eigen::Ref<const Eigen::VectorXd>& counts) {
    constexpr double enough = 0.8;
    if (said.bin < 0 || said.bin + 1 >= counts.size() ||
        !(said.position >= 0 && said.position <= 1))
        return false;
    return weight_of_pair(counts, said.bin) >=
           enough * weight_of_pair(counts, typical_norm(counts).bin);
}

std::unique_ptr<Objective> make_norm_histogram(Objective& of, Eigen::VectorXd model) {
    return std::make_unique<NormHistogram>(of, std::move(model));
}

double norm_or_nan(const Eigen::Ref<const Eigen::VectorXd>& vector) {
    return vector.allFinite() ? vector.stableNorm() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sotto
