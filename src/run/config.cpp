#include "run/config.hpp"

#include "sotto/core/names.hpp"

namespace sotto {

Bootstrap parse_bootstrap(std::string_view option, std::string_view text) {
    constexpr NameTable<Bootstrap, 2> table{
        {{{Bootstrap::central, "central"}, {Bootstrap::distributed, "distributed"}}}};
    return table.parse(option, text);
}

}  // namespace sotto
