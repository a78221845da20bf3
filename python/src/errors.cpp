#include "errors.hpp"

#include <exception>

#include "sotto/core/error.hpp"

namespace py = pybind11;

namespace sotto::python {

namespace {

/// The class in sotto/errors.py; Error for classes without a counterpart, such as a full disk.
const char* class_of(const Error& error) {
    if (dynamic_cast<const ConfigError*>(&error) != nullptr) return "ConfigError";
    if (dynamic_cast<const DataError*>(&error) != nullptr) return "DataError";
    if (dynamic_cast<const PrivacyError*>(&error) != nullptr) return "PrivacyError";
    if (dynamic_cast<const NetworkError*>(&error) != nullptr) return "NetworkError";
    if (dynamic_cast<const CryptoError*>(&error) != nullptr) return "CryptoError";
    if (dynamic_cast<const DivergedError*>(&error) != nullptr) return "DivergedError";
    return "Error";
}

void translate(std::exception_ptr thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
        const py::object type = py::module_::import("sotto.errors").attr(class_of(error));
        const py::object raised = type(error.what());
        raised.attr("exit_code") = static_cast<int>(error.exit_code());
        PyErr_SetObject(type.ptr(), raised.ptr());
    }
}

}  // namespace

void bind_errors(py::module_&) { py::register_exception_translator(translate); }

}  // namespace sotto::python
