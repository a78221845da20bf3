#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "options/option_formats.hpp"

namespace sotto {

template <class Type>
inline constexpr bool is_optional = false;
template <class Type>
inline constexpr bool is_optional<std::optional<Type>> = true;

/// A format and the member that holds the value, not yet of one configuration.
template <class Access, class Value>
struct BoundMember {
    Access access;
    OptionFormat<Value> format;

    template <class Config>
    operator Binding<Config>() const {  // NOLINT(google-explicit-constructor)
        return {format.kind,
                format.allowed,
                [*this](Config& config, const std::string& option, const std::string& text) {
                    auto& member = std::invoke(access, config);
                    using Member = std::remove_reference_t<decltype(member)>;
                    if constexpr (is_optional<Member> && !is_optional<Value>)
                        member =
                            static_cast<typename Member::value_type>(format.read(option, text));
                    else
                        member = static_cast<Member>(format.read(option, text));
                },
                [*this](const Config& config) { return written(std::invoke(access, config)); }};
    }

  private:
    template <class Member>
    [[nodiscard]] std::optional<std::string> written(const Member& member) const {
        if constexpr (is_optional<Member> && !is_optional<Value>) {
            if (!member) return std::nullopt;
            return format.write(static_cast<Value>(*member));
        } else {
            std::string text = format.write(static_cast<Value>(member));
            if (text.empty()) return std::nullopt;
            return text;
        }
    }
};

/// Binds an option to the member of a configuration that holds its value: of the format's type, of
/// a number type that can hold it, or an optional one, empty where the option is not given. An
/// empty string counts as not given.
/// @param access pointer to the member, or `[](auto& c) -> auto& { return c.topology.radius; }`.
template <class Access, class Value>
[[nodiscard]] BoundMember<Access, Value> bound(Access access, OptionFormat<Value> format) {
    return {std::move(access), std::move(format)};
}

/// Of an option that whoever parses a command line acts on: no configuration holds it.
template <class Config>
[[nodiscard]] Binding<Config> bound_to_nothing(OptionKind kind, AllowedValues allowed = {}) {
    return {kind,
            std::move(allowed),
            [](Config&, const std::string&, const std::string&) {},
            [](const Config&) { return std::optional<std::string>(); }};
}

}  // namespace sotto
