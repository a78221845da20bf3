#include "audit/attack.hpp"

#include <utility>

#include "audit/canary_record_attack.hpp"
#include "audit/likelihood_attack.hpp"
#include "audit/membership_attack.hpp"
#include "audit/reconstruction_attack.hpp"
#include "audit/survey_attack.hpp"

namespace sotto {

Registry<AttackRecord>& attacks() {
    static Registry<AttackRecord> table = [] {
        Registry<AttackRecord> all("attack",
                                   {likelihood_attack(),
                                    canary_record_attack(),
                                    reconstruction_attack(),
                                    membership_attack(),
                                    survey_attack()});
        for (AttackRecord& poison : poison_attacks()) all.add(std::move(poison));
        return all;
    }();
    return table;
}

}  // namespace sotto
