#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "options/option.hpp"
#include "options/option_formats.hpp"
#include "options/written_options.hpp"

namespace sotto {

/// The options of one configuration: its own groups and those of its parts. Groups are copied when
/// they are added.
template <class Config>
class OptionSet {
  public:
    struct Group {
        std::string title;
        std::vector<Option<Config>> options;
    };

    /// @param part the configured member, as in lifted().
    template <class Part, class Access>
    OptionSet& add(const OptionGroup<Part>& group, Access part) {
        Group& own = groups_.emplace_back(Group{group.title, {}});
        for (const Option<Part>& option : group.options.records())
            own.options.push_back(lifted<Config>(option, part));
        return *this;
    }
    OptionSet& add(const OptionGroup<Config>& group) {
        return add(
            group, [](auto& config) -> auto& { return config; });
    }
    template <class Part, class Access>
    OptionSet& add(const OptionSet<Part>& set, Access part) {
        for (const auto& group : set.groups()) {
            Group& own = groups_.emplace_back(Group{group.title, {}});
            for (const Option<Part>& option : group.options)
                own.options.push_back(lifted<Config>(option, part));
        }
        return *this;
    }

    /// Sets the default that users see (OptionFacts::standing), if it differs from the group's.
    OptionSet& with_standing(std::string_view name, std::string_view standing) {
        for (Group& group : groups_)
            for (Option<Config>& option : group.options)
                if (option.name == name) option.standing = standing;
        return *this;
    }

    /// Lets an option be used together with a run directory (OptionFacts::beside_run).
    OptionSet& with_beside_run(std::string_view name) {
        for (Group& group : groups_)
            for (Option<Config>& option : group.options)
                if (option.name == name) option.beside_run = true;
        return *this;
    }

    [[nodiscard]] const std::vector<Group>& groups() const& { return groups_; }
    [[nodiscard]] std::vector<Group> groups() && { return std::move(groups_); }

    /// Null if there is no option of that name.
    const Option<Config>* look_up(std::string_view name) && = delete;
    [[nodiscard]] const Option<Config>* look_up(std::string_view name) const& {
        for (const Group& group : groups_)
            for (const Option<Config>& option : group.options)
                if (option.name == name) return &option;
        return nullptr;
    }

    /// A configuration with the given options, read in their order, and defaults.
    /// @throws ConfigError naming the option, the text and what is allowed.
    [[nodiscard]] Config read(const OptionTexts& given) const {
        Config config;
        for (const Group& group : groups_)
            for (const Option<Config>& option : group.options)
                if (const auto text = given.find(option.name); text != given.end())
                    option.value.read(config, "--" + option.name, text->second);
        return config;
    }

    /// All options with the values of a configuration, or with their defaults.
    [[nodiscard]] std::vector<WrittenGroup> written(const Config& config = {}) const {
        std::vector<WrittenGroup> result;
        for (const Group& group : groups_) {
            WrittenGroup& written = result.emplace_back(WrittenGroup{group.title, {}});
            for (const Option<Config>& option : group.options)
                written.options.push_back(written_option(
                    option, option.value.kind, option.value.allowed, option.value.write(config)));
        }
        return result;
    }

  private:
    std::vector<Group> groups_;
};

template <class Type>
inline constexpr bool is_optional = false;
template <class Type>
inline constexpr bool is_optional<std::optional<Type>> = true;

/// A format and the member for the value, before the configuration type is known.
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

/// Binds an option to the member of a configuration that stores its value. The member has the
/// format's type, a number type that can hold it, or an optional of these, empty if the option is
/// not given. An empty string counts as not given.
/// @param access pointer to the member, or `[](auto& c) -> auto& { return c.topology.radius; }`.
template <class Access, class Value>
[[nodiscard]] BoundMember<Access, Value> bound(Access access, OptionFormat<Value> format) {
    return {std::move(access), std::move(format)};
}

/// For options that the command line parser handles and no configuration stores.
template <class Config>
[[nodiscard]] Binding<Config> bound_to_nothing(OptionKind kind, AllowedValues allowed = {}) {
    return {kind,
            std::move(allowed),
            [](Config&, const std::string&, const std::string&) {},
            [](const Config&) { return std::optional<std::string>(); }};
}

}  // namespace sotto
