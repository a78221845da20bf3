#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/temporary_folder.hpp"
#include "learn/readers.hpp"
#include "learn/test_data.hpp"
#include "net/memory_network.hpp"
#include "sotto/plan/membership.hpp"
#include "training/training.hpp"

namespace sotto::test {

using Json = nlohmann::json;

inline Json read_json(const std::filesystem::path& path) { return Json::parse(read_file(path)); }

/// The message of the error of class `Expected` that `action` throws; "" with a failure otherwise.
template <class Expected, class Action>
std::string message_of(Action&& action) {
    try {
        action();
    } catch (const Expected& error) {
        return error.what();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "another error: " << error.what();
        return {};
    }
    ADD_FAILURE() << "no error";
    return {};
}

inline void expect_contains(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

/// LIBSVM text in which record i has feature i+1 and no other: every gradient shows which records
/// it is made of. Labels alternate in `period`.
inline std::string records_with_own_feature(int records, int period = 2) {
    std::string text;
    for (int i = 0; i < records; ++i)
        text += (i % period == 0 ? "+1 " : "-1 ") + std::to_string(i + 1) + ":1\n";
    return text;
}

/// Columns are the models a run has left of these agents.
inline Eigen::MatrixXd models_of(const std::filesystem::path& directory,
                                 const std::vector<int>& numbers) {
    Eigen::MatrixXd models;
    for (const int number : numbers) {
        const Eigen::MatrixXd model =
            read_npy(directory / "agents" / std::to_string(number) / "model.npy");
        models.conservativeResize(model.rows(), models.cols() + 1);
        models.rightCols(1) = model;
    }
    return models;
}
/// The same of all agents of a run that begins.
inline Eigen::MatrixXd models_of(const TrainConfig& config) {
    return models_of(*config.run_directory,
                     Membership::everybody(config.graph.topology.agents).numbers);
}

inline Graph ring(int agents) {
    TopologySpec spec;
    spec.topology = Topology::ring;
    spec.agents = agents;
    return make_topology(spec).graph;
}

/// A short training of the quadratic task.
inline TrainConfig quadratic_config(int agents, const std::string& mechanism, long rounds) {
    TrainConfig config;
    config.graph.topology.topology = Topology::ring;
    config.graph.topology.agents = agents;
    config.plan.mechanism = mechanism;
    config.plan.rounds = rounds;
    config.plan.utility = {Utility::Kind::horizon, 10};
    config.task.task = "quadratic";
    config.noise_seed = 17;
    return config;
}

/// The same on records of a file that this makes in the folder.
inline TrainConfig logistic_config(const TemporaryFolder& folder,
                                   int agents,
                                   const std::string& mechanism,
                                   long rounds) {
    TrainConfig config = quadratic_config(agents, mechanism, rounds);
    std::string text;
    const Dataset data = synthetic_binary(60 * agents, 2);
    for (Eigen::Index row = 0; row < data.records(); ++row) {
        text += data.labels(row) > 0 ? "+1" : "-1";
        for (SparseRows::InnerIterator entry(data.features, row); entry; ++entry)
            text += " " + std::to_string(entry.col() + 1) + ":1";
        text += "\n";
    }
    config.task.task = "logistic";
    config.task.data = folder.write("train.txt", text);
    config.plan.batch_size = 8;
    return config;
}

}  // namespace sotto::test
