// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/xml_editing.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "placement/base/trimmed.h"

namespace vmnuma::balancer {
namespace {

class StringWriter : public pugi::xml_writer {
 public:
  void write(const void* data, std::size_t size) override {
    text_.append(static_cast<const char*>(data), size);
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

bool is_blank(pugi::xml_node node) {
  return node.type() == pugi::node_pcdata &&
         std::string_view(node.value()).find_first_not_of(kBlanks) == std::string_view::npos;
}

/// The white space before an element nested in this many others.
std::string line_start(int elements) {
  constexpr std::size_t kIndent = 2;
  return "\n" + std::string(kIndent * static_cast<std::size_t>(elements), ' ');
}

/// The number of elements that contain the node.
int depth_of(pugi::xml_node node) {
  int depth = 0;
  for (pugi::xml_node at = node.parent(); at.type() == pugi::node_element; at = at.parent()) {
    ++depth;
  }
  return depth;
}

}  // namespace

std::string text_of(const pugi::xml_document& document, std::string_view original) {
  StringWriter writer;
  document.save(
      writer, "",
      pugi::format_raw | pugi::format_no_declaration | pugi::format_attribute_single_quote,
      pugi::encoding_utf8);
  std::string text = std::move(writer).take();
  if (original.ends_with('\n')) {
    text += '\n';  // white space after the root element is not part of the document
  }
  return text;
}

void remove_line(pugi::xml_node child) {
  pugi::xml_node parent = child.parent();
  if (pugi::xml_node before = child.previous_sibling(); is_blank(before)) {
    parent.remove_child(before);
  } else if (before.type() == pugi::node_pcdata) {
    const std::string_view text = before.value();
    before.set_value(std::string(text.substr(0, text.find_last_not_of(kBlanks) + 1)).c_str());
  }
  parent.remove_child(child);
}

pugi::xml_node add_line(pugi::xml_node parent, const char* name) {
  const int depth = depth_of(parent);
  if (!is_blank(parent.last_child())) {
    parent.append_child(pugi::node_pcdata).set_value(line_start(depth).c_str());
  }
  const pugi::xml_node end = parent.last_child();
  parent.insert_child_before(pugi::node_pcdata, end).set_value(line_start(depth + 1).c_str());
  return parent.insert_child_before(name, end);
}

pugi::xml_node add_line_after(pugi::xml_node sibling, const char* name) {
  pugi::xml_node parent = sibling.parent();
  pugi::xml_node blanks = parent.insert_child_after(pugi::node_pcdata, sibling);
  blanks.set_value(line_start(depth_of(sibling)).c_str());
  return parent.insert_child_after(name, blanks);
}

void set(pugi::xml_node element, const char* attribute, const std::string& value) {
  pugi::xml_attribute there = element.attribute(attribute);
  if (!there) {
    there = element.append_attribute(attribute);
  }
  there.set_value(value.c_str());
}

}  // namespace vmnuma::balancer
