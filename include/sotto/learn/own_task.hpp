#pragma once

#include <cstdint>

#include "sotto/learn/objective.hpp"

namespace sotto {

/// What `sotto train --task FILE` gives a task of its own, once per agent of the process.
struct OwnTaskOptions {
    int agent = 0;                    ///< from 0
    int agents = 1;                   ///< of the whole network
    const char* data = "";            ///< --data, as given
    const char* test_data = nullptr;  ///< --test-data; null: not given
    double test_fraction = 0.2;       ///< --test-fraction
    std::uint64_t seed = 1;           ///< --seed
};

/// Changes whenever a library made for an older version can no longer be used: when Objective,
/// Dataset or OwnTaskOptions change.
inline constexpr int own_task_version = 4;

}  // namespace sotto

/// Makes a shared library a task. Once, outside any namespace, with the name of a function
/// `std::unique_ptr<sotto::Objective> make(const sotto::OwnTaskOptions&)`. It may throw
/// sotto::ConfigError and sotto::DataError, which end the job with their message. The library must
/// be compiled by the same compiler, with the same options that change the layout of Eigen's types
/// (-march, EIGEN_MAX_ALIGN_BYTES), as sotto; it stays loaded until the process ends.
#define SOTTO_OWN_TASK(make)                                                             \
    extern "C" __attribute__((visibility("default"))) const int sotto_own_task_version = \
        sotto::own_task_version;                                                         \
    extern "C" __attribute__((visibility("default"))) sotto::Objective* sotto_own_task(  \
        const sotto::OwnTaskOptions* options) {                                          \
        return make(*options).release();                                                 \
    }
