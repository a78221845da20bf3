#include "sotto/views/argument.hpp"

namespace sotto {

Argument argument_of(const View& view, bool fixed_inputs, StreamDistribution noise) {
    const bool all = view.sound_for_training();
    if (noise == StreamDistribution::laplace)
        return {all ? "all messages seen" : "bound: all messages seen", true};
    if (fixed_inputs) return {"exact, inputs fixed in advance", true};
    return {all ? "all messages seen" : "non-adaptive ([U] Theorem 8)", all};
}

}  // namespace sotto
