#include "tasks/local_task.hpp"

#include <algorithm>
#include <cmath>

#include "tasks/task_data.hpp"

namespace sotto {

namespace {

using Eigen::VectorXd;

/// Records per class (-1 and +1 are two classes, otherwise places from 0), or number, sum and sum
/// of squares of values.
VectorXd counts_of(const Dataset& records, Eigen::Index classes) {
    if (records.target == Target::value)
        return Eigen::Vector3d(static_cast<double>(records.records()),
                               records.labels.sum(),
                               records.labels.squaredNorm());
    VectorXd counts = VectorXd::Zero(classes);
    for (const double label : records.labels)
        ++counts(std::clamp<Eigen::Index>(static_cast<Eigen::Index>(label), 0, classes - 1));
    return counts;
}

bool has_one_class(const Dataset& records) {
    return records.target == Target::label && records.records() > 0 &&
           records.labels.minCoeff() == records.labels.maxCoeff();
}

double entropy(const VectorXd& counts) {
    double sum = 0;
    for (const double count : counts)
        if (count > 0) sum -= count * std::log(count / counts.sum());
    return sum / counts.sum();
}

}  // namespace

TargetFacts target_facts(Control& network, const LocalData& data) {
    const bool values = data.shape.target == Target::value;
    const Eigen::Index classes = values ? 3 : std::max<Eigen::Index>(data.classes(), 1);
    Eigen::MatrixXd local = Eigen::MatrixXd::Zero(classes + 1, std::ssize(data.agents));
    for (std::size_t a = 0; a < data.agents.size(); ++a) {
        const AgentData& agent = data.agents[a];
        auto column = local.col(static_cast<Eigen::Index>(a));
        // Common test records count once.
        if (agent.test && (data.own_tests || network.local_agents()[a] == 0))
            column.head(classes) = counts_of(*agent.test, classes);
        column(classes) = has_one_class(agent.shard) ? 1 : 0;
    }
    const VectorXd sum = network.sum_over_agents(local);
    TargetFacts facts;
    facts.one_class_agents = std::lround(sum(classes));
    const VectorXd counts = sum.head(classes);
    facts.test_records = values ? counts(0) : counts.sum();
    if (!(facts.test_records > 0)) return facts;
    if (values) {
        const double mean = counts(1) / counts(0);
        facts.constant_loss = std::max(0.0, counts(2) / counts(0) - mean * mean);
    } else {
        facts.constant_accuracy = counts.maxCoeff() / counts.sum();
        facts.constant_loss = entropy(counts);
    }
    return facts;
}

}  // namespace sotto
