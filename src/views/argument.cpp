#include "sotto/views/argument.hpp"

namespace sotto {

Argument argument_of(const View& view, bool fixed_inputs, bool counts_all_messages) {
    const bool all = view.sound_for_training();
    if (counts_all_messages) return {all ? "all messages seen" : "bound: all messages seen", true};
    if (fixed_inputs) return {"exact, inputs fixed in advance", true};
    return {all ? "all messages seen" : "non-adaptive ([U] Theorem 8)", all};
}

}  // namespace sotto
