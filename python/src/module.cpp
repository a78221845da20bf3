#include <pybind11/pybind11.h>

#include "agent.hpp"
#include "audit.hpp"
#include "commands.hpp"
#include "errors.hpp"
#include "noise.hpp"
#include "plan.hpp"
#include "sotto/core/blas_kernels.hpp"

PYBIND11_MODULE(_core, module) {
    // As in the program, so that plans have the same bits; must come before any computation.
    sotto::choose_blas_kernels();
    module.doc() = "sotto's own parts; use the package sotto, which says what they are.";
    sotto::python::bind_errors(module);
    sotto::python::bind_commands(module);
    sotto::python::bind_plan(module);
    sotto::python::bind_agent(module);
    sotto::python::bind_audit(module);
    sotto::python::bind_noise(module);
}
