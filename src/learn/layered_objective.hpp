#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "learn/layers.hpp"
#include "sotto/learn/dataset.hpp"
#include "sotto/learn/objective.hpp"

namespace sotto {

/// A model of layers on one agent's records. Where the data have labels, the loss is the
/// cross-entropy -log(softmax(out)[class]) of the last layer's outputs, one a class; where they
/// have values to predict, (out - value)^2 of its only output.
///
/// Records are clipped by ghost norms: one forward and one backward pass give the norm of every
/// record's gradient, then the sum of the clipped gradients is one product a layer, with rows
/// scaled by the clip factors. So the sum itself is rounded toward zero to the grid
/// (objective.hpp), and records are clipped to C' a little below C:
///
///     C' = (C - grid_step sqrt(d)) / (1 + 2 n e),
///
/// for n records in the largest batch: the same whatever the batch. Rounding of the products of one
/// record and of their sums adds at most n e C' to the sum of n records, for any data: e = ((m t +
/// 16) a + n / m + 1) u, with m records summed together before such sums are (the widest of
/// place_independent_tiles, n where that is less), t terms a record and amplification a
/// (SumRounding), u = 2^-53. Rounding toward zero moves the difference of two sums by at most
/// grid_step sqrt(d). What is computed for a record has the same bits whatever other records are in
/// the batch, and wherever it stands (place_independent_tiles). So one record changes the result by
/// at most C' + 2 n e C' + grid_step sqrt(d) = C where it is zeroed or leaves the batch, and by
/// less than 2C where it is replaced. A record whose gradient is not finite, or whose square
/// overflows, adds zero.
/// @throws DataError if the shard is empty, feature counts differ, a feature is not finite, or a
/// label is no class; ConfigError if layers do not fit each other or the features.
[[nodiscard]] std::unique_ptr<Objective> make_layered_objective(
    Layers layers, Dataset shard, std::shared_ptr<const Dataset> test);

// Layers one after the other, on several records at once.

/// A model of layers. It keeps what came into every layer and how the loss depends on that, of the
/// records that went through last: a record in every column. All memory is taken when it is made;
/// columns begin at the same alignment.
class LayerChain {
  public:
    using Columns = Eigen::Ref<Eigen::MatrixXd>;
    using ConstColumns = Eigen::Ref<const Eigen::MatrixXd>;

    /// @throws ConfigError unless there is a layer, and each takes what the one before gives.
    LayerChain(Layers layers, Eigen::Index features);

    [[nodiscard]] const Layers& layers() const { return layers_; }
    [[nodiscard]] Eigen::Index parameters() const { return first_parameter_.back(); }
    [[nodiscard]] Eigen::Index outputs() const { return layers_.back()->outputs(); }
    /// Records that go through together at most: as many as keep values and slopes of all layers in
    /// a few mebibytes. More would leave the caches, fewer make products narrow.
    [[nodiscard]] std::size_t chunk_records() const { return chunk_records_; }

    /// Where the features of the next `records` records, at most chunk_records(), are put.
    [[nodiscard]] Columns features(Eigen::Index records);
    /// What comes out of the last layer, of those records.
    [[nodiscard]] ConstColumns forward(const Eigen::Ref<const Eigen::VectorXd>& model);

    /// Where the derivatives of the losses by the outputs are put; the outputs stand there.
    [[nodiscard]] Columns output_slopes();
    /// From these to the derivatives by what comes into every layer.
    void backward(const Eigen::Ref<const Eigen::VectorXd>& model);

    /// gradient += sum over the records of their gradients by the parameters.
    void add_gradients(Eigen::Ref<Eigen::VectorXd> gradient);
    /// The norm of every record's gradient, or more than it, rounding included.
    [[nodiscard]] Eigen::Ref<const Eigen::VectorXd> gradient_norms();
    /// Multiplies a record's part in add_gradients.
    void scale_record(Eigen::Index record, double factor);
    /// Takes a record out of add_gradients, whatever its values are.
    void drop_record(Eigen::Index record);

    /// All that is computed for a record with these features and slopes by the outputs, if it has
    /// the same bits in each of `records` places: values, slopes, and the norm.
    [[nodiscard]] std::optional<Eigen::VectorXd> same_in_every_place(
        Eigen::Index records,
        const Eigen::Ref<const Eigen::VectorXd>& model,
        const Eigen::Ref<const Eigen::VectorXd>& features_of_record,
        const Eigen::Ref<const Eigen::VectorXd>& slopes_of_record);

    /// e of layered_objective.hpp: the relative error of a sum of n records' gradients.
    [[nodiscard]] double sum_error(double records) const;

  private:
    [[nodiscard]] auto parameters_of(std::size_t layer,
                                     const Eigen::Ref<const Eigen::VectorXd>& model) const {
        return model.segment(first_parameter_[layer], layers_[layer]->parameters());
    }
    [[nodiscard]] Columns columns_of(Eigen::MatrixXd& all, std::size_t size) const {
        return all.topLeftCorner(sizes_[size], columns_);
    }
    [[nodiscard]] Columns values(std::size_t l) { return columns_of(values_[l], l); }
    [[nodiscard]] Columns slopes(std::size_t l) { return columns_of(slopes_[l], l); }

    Layers layers_;
    std::vector<Eigen::Index> first_parameter_;  // of every layer; then their number
    std::size_t chunk_records_ = 1;
    std::vector<Eigen::Index> sizes_;  // [l] of what comes into layer l; the last comes out
    Eigen::Index columns_ = 0;         // records that are there now
    std::vector<Eigen::MatrixXd> values_, slopes_;  // room for chunk_records_, and for alignment
    Eigen::VectorXd norms_;
};

// What a model's outputs cost on one record.

/// Class number of a label: a whole number from 0 to classes-1; -1, the smaller of two signs, is
/// class 0. @throws DataError naming the data set and the label.
[[nodiscard]] Eigen::Index class_of(double label, Eigen::Index classes, const Dataset& data);

/// The cross-entropy -log(softmax(out)[class]), without overflow, where the record has a label;
/// (out - value)^2 of the only output where it has a value to predict.
[[nodiscard]] double output_loss(const Eigen::Ref<const Eigen::VectorXd>& out,
                                 const Dataset& data,
                                 Eigen::Index row);

/// Turns the outputs into the derivatives of the loss by them.
void turn_into_slopes(Eigen::Ref<Eigen::VectorXd> out, const Dataset& data, Eigen::Index row);

/// Whether the largest output is that of the record's class.
[[nodiscard]] bool is_hit(const Eigen::Ref<const Eigen::VectorXd>& out,
                          const Dataset& data,
                          Eigen::Index row);

}  // namespace sotto
