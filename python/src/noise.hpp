#pragma once

#include <pybind11/pybind11.h>

namespace sotto::python {

/// NoiseSource: correlated noise for somebody else's trainer; Ledger: what it counts.
void bind_noise(pybind11::module_& module);

}  // namespace sotto::python
