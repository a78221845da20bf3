#include "design/mechanisms/table.hpp"

namespace sotto {

Registry<Mechanism>& mechanisms() {
    static Registry<Mechanism> table("mechanisms",
                                     {none_mechanism(),
                                      ldp_mechanism(),
                                      cdp_mechanism(),
                                      dp_fedavg_mechanism(),
                                      decor_mechanism(),
                                      corn_mechanism(),
                                      corn_hbc_mechanism(),
                                      pairs_mechanism(),
                                      covariance_mechanism(),
                                      muffliato_mechanism(),
                                      anti_pgd_mechanism(),
                                      mafalda_mechanism(),
                                      space_time_mechanism(),
                                      zip_dl_mechanism(),
                                      homomorphic_mechanism(),
                                      laplace_mechanism()});
    return table;
}

}  // namespace sotto
