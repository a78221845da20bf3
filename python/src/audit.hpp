#pragma once

#include <pybind11/pybind11.h>

namespace sotto::python {

/// audit_canaries: what a view sees of records whose gradients a Python program computes.
void bind_audit(pybind11::module_& module);

}  // namespace sotto::python
