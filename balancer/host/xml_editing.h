// SPDX-License-Identifier: Apache-2.0
/// Editing a domain's XML so that everything else stays as it was written. Internal to this folder.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace vmnuma::balancer {

/// Parser flags with which everything not explicitly dropped is written as it was read.
inline constexpr unsigned int kKeepEverything = pugi::parse_full | pugi::parse_ws_pcdata;

/// The text of the whole document; `original` is what it was read from.
[[nodiscard]] std::string text_of(const pugi::xml_document& document, std::string_view original);

/// Removes the child, and the blanks before it, which formed its line.
void remove_line(pugi::xml_node child);

/// Adds a last child on its own line, indented as libvirt does.
pugi::xml_node add_line(pugi::xml_node parent, const char* name);

/// Adds a sibling on its own line.
pugi::xml_node add_line_after(pugi::xml_node sibling, const char* name);

/// Sets an attribute, adding it if there is none.
void set(pugi::xml_node element, const char* attribute, const std::string& value);

}  // namespace vmnuma::balancer
