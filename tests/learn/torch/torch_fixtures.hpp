#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/test_support.hpp"
#include "learn/gradients.hpp"
#include "learn/test_data.hpp"
#include "learn/torch/torch_module.hpp"
#include "learn/torch/torch_plugin.hpp"
#include "sotto/core/files.hpp"

namespace sotto::test {

/// A file of models/make_models.
inline std::string model_path(const std::string& name) {
    return std::string(SOTTO_TORCH_MODELS) + "/" + name + ".pt";
}

inline TorchModule load_model(const std::string& name) {
    return TorchModule(model_path(name), read_file(model_path(name)));
}

/// Dense records with normal features and classes 0, 1, 2 in turn.
inline Dataset three_classes(Eigen::Index records, Eigen::Index features) {
    SeededRandom random(4, "test-classes");
    RealRows rows(records, features);
    for (Eigen::Index i = 0; i < rows.size(); ++i) rows.data()[i] = random.normal();
    Dataset data;
    data.labels.resize(records);
    for (Eigen::Index row = 0; row < records; ++row)
        data.labels[row] = static_cast<double>(row % 3);
    data.dense = std::move(rows);
    data.source = "test";
    return data;
}

inline RealRows& rows_of(Dataset& data) { return std::get<RealRows>(*data.dense); }

/// What sotto makes of the file and these data.
inline std::unique_ptr<Objective> objective_of(const std::string& name,
                                               const Dataset& data,
                                               Eigen::Index classes = 3) {
    const std::unique_ptr<ModelSource> source(
        sotto_torch_model(model_path(name), read_file(model_path(name))));
    return source->make(classes, data, std::make_shared<const Dataset>(data));
}

}  // namespace sotto::test
