// SPDX-License-Identifier: Apache-2.0
#include "balancer/host/xml_fields.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "placement/base/lower_case.h"
#include "placement/base/number.h"
#include "placement/base/trimmed.h"
#include "placement/model/text.h"

namespace vmnuma::balancer {
namespace {

constexpr std::size_t kMostQuoted = 100;
constexpr std::size_t kMostComplaint = 400;

/// The size of a `unit` in bytes, or nothing if there is no such unit.
std::optional<std::int64_t> bytes_in(std::string_view unit) {
  const std::string name = lower_case(unit);
  if (name.empty()) {
    return 1024;
  }
  if (name == "b" || name == "byte" || name == "bytes") {
    return 1;
  }
  const std::size_t power = std::string_view("kmgtpe").find(name.front());
  const std::string suffix = name.substr(1);
  if (power == std::string_view::npos || (!suffix.empty() && suffix != "ib" && suffix != "b")) {
    return std::nullopt;
  }
  std::int64_t bytes = 1;
  for (std::size_t i = 0; i <= power; ++i) {
    bytes *= suffix == "b" ? 1000 : 1024;
  }
  return bytes;
}

/// Parses a list in which "^2" removes what was named before it. `parse` reads lists without
/// exclusions.
template <class Id>
Result<std::vector<Id>> parse_with_exclusions(std::string_view text,
                                              Result<std::vector<Id>> (*parse)(std::string_view)) {
  if (text.find('^') == std::string_view::npos) {
    return parse(text);
  }
  constexpr std::size_t kMostNamed = 65536;  // as in a list without exclusions
  const auto malformed = [&] {
    return failure(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' is not a list like 0-3,^2,8", text.substr(0, kMostQuoted)));
  };
  std::set<Id> left;
  std::size_t named = 0;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = trimmed(rest.substr(0, comma));
    if (part.starts_with('^')) {
      const auto number = whole_number<std::int32_t>(part.substr(1));
      if (!number || *number < 0) {
        return malformed();
      }
      left.erase(Id{*number});
    } else {
      const auto ids = parse(part);
      if (!ids || ids->empty() || (named += ids->size()) > kMostNamed) {
        return malformed();
      }
      left.insert(ids->begin(), ids->end());
    }
    if (comma == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  if (left.empty()) {
    return malformed();
  }
  return std::vector<Id>(left.begin(), left.end());
}

template <class Id>
std::vector<Id> checked_list(Result<std::vector<Id>> list, std::string_view what,
                             std::int32_t limit, XmlFields& fields) {
  if (!list) {
    fields.complain(fmt::format("{}: {}", what, list.error().message));
    return {};
  }
  if (!list->empty() && list->back().value >= limit) {
    fields.complain(fmt::format("{}: {} is beyond the largest number, {}", what, list->back().value,
                                limit - 1));
    return {};
  }
  return std::move(*list);
}

}  // namespace

void XmlFields::complain(std::string message) {
  if (!complaint_) {
    complaint_ = std::move(message);
    complaint_->resize(std::min(complaint_->size(), kMostComplaint));
  }
}

std::int64_t XmlFields::number(std::string_view text, std::string_view what, std::int64_t least,
                               std::int64_t most) {
  std::string_view digits = trimmed(text);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
    base = 16;
  }
  const auto value = whole_number<std::int64_t>(digits, base);
  if (!value || *value < least || *value > most) {
    complain(fmt::format("{}: '{}' is not a number from {} to {}", what,
                         text.substr(0, kMostQuoted), least, most));
    return least;
  }
  return *value;
}

std::int32_t XmlFields::small_number(std::string_view text, std::string_view what,
                                     std::int32_t least, std::int32_t most) {
  return static_cast<std::int32_t>(number(text, what, least, most));
}

Bytes XmlFields::size(std::string_view number, std::string_view unit, std::string_view what) {
  const std::optional<std::int64_t> scale = bytes_in(unit);
  if (!scale) {
    complain(fmt::format("{}: '{}' is not a unit of memory", what, unit.substr(0, kMostQuoted)));
    return {};
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / *scale;
  return Bytes{this->number(number, what, 0, most) * *scale};
}

Bytes XmlFields::size(pugi::xml_node element, std::string_view what) {
  return size(element.text().get(), element.attribute("unit").value(), what);
}

std::vector<CpuId> XmlFields::cpus(std::string_view text, std::string_view what) {
  return checked_list(parse_with_exclusions(text, parse_cpu_list), what, kMostCpus, *this);
}

std::vector<NodeId> XmlFields::nodes(std::string_view text, std::string_view what) {
  return checked_list(parse_with_exclusions(text, parse_node_list), what, kMostNodes, *this);
}

}  // namespace vmnuma::balancer
