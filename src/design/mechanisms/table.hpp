#pragma once

#include "sotto/design/mechanism.hpp"

namespace sotto {

// The records of sotto's own mechanisms.
[[nodiscard]] Mechanism none_mechanism();
[[nodiscard]] Mechanism ldp_mechanism();
[[nodiscard]] Mechanism cdp_mechanism();
[[nodiscard]] Mechanism dp_fedavg_mechanism();
[[nodiscard]] Mechanism decor_mechanism();
[[nodiscard]] Mechanism corn_mechanism();
[[nodiscard]] Mechanism corn_hbc_mechanism();
[[nodiscard]] Mechanism pairs_mechanism();
[[nodiscard]] Mechanism covariance_mechanism();
[[nodiscard]] Mechanism muffliato_mechanism();
[[nodiscard]] Mechanism anti_pgd_mechanism();
[[nodiscard]] Mechanism mafalda_mechanism();
[[nodiscard]] Mechanism space_time_mechanism();
[[nodiscard]] Mechanism zip_dl_mechanism();
[[nodiscard]] Mechanism homomorphic_mechanism();
[[nodiscard]] Mechanism laplace_mechanism();

}  // namespace sotto
