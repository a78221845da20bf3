#include "views/view_parameter.hpp"

namespace sotto {

ViewParameter parameter_of(ViewRecord::Takes takes) {
    switch (takes) {
        case ViewRecord::Takes::nothing:
            break;
        case ViewRecord::Takes::one_agent:
            return {"a", "agents", "0"};
        case ViewRecord::Takes::agents:
            return {"a,b", "agents", "0,3"};
        case ViewRecord::Takes::size:
            return {"q", "a number of agents", "2"};
    }
    return {};
}

}  // namespace sotto
