#pragma once

#include <pybind11/pybind11.h>

namespace sotto::python {

/// NoiseSource: correlated noise for other trainers, with its ledger.
void bind_noise(pybind11::module_& module);

}  // namespace sotto::python
