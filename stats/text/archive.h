// SPDX-License-Identifier: Apache-2.0
/// Converts values to members of JSON objects, field by field, and back. All code uses this.
///
/// Problem: requests, answers, recordings and the journal's orders are all objects with one list of
/// fields for both writing and reading, and most of the code for that would be the same for all of
/// them. Approach: a format is a pair of classes, one derived from FieldWriter and one from
/// FieldReader, which contain only what is specific to the format:
///
///     class ViewWriter : public text::FieldWriter<ViewWriter, Json> {
///       // Optional: lists the fields of a T.
///       static void visit(ViewWriter& fields, const T& value);
///       // Optional, for any T: how it is written here.
///       Json leaf(const T& value) const;
///     };
///     class ViewReader : public text::FieldReader<ViewReader, Json> {
///       static void visit(ViewReader& fields, T& value);  // optional
///       bool leaf(const Json& json, T& value);            // optional; false: not a T
///       void absent(std::string_view name);               // optional: a field is missing
///     };
///
/// Without a visit() of its own, a class calls visit_fields(fields, value), which must be found in
/// its own namespace or that of the value. A list of fields calls `fields(NAME, value)` for each;
/// further arguments are for other visitors. Both classes can be constructed from a parent, so that
/// nested objects have access to external data that was passed to their format. The limits on the
/// size and depth of a text are those of read_json().
///
/// Unless leaf() does it differently, values are written as follows: amounts and the numbers of
/// nodes and CPUs as integers, enumerations by name, VMs by UUID, a client as [UUID, index], an
/// absent optional value as null, pairs and the entries of maps as [first, second], other classes
/// as objects.
///
/// Properties:
///  - a FieldReader reads the same value that a FieldWriter of the same format wrote;
///  - reading any JSON gives either a value or a message that names the path of the first wrong
///    field: "'vms[3].clients[0].home' is not what it should be" or "... is missing".
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "placement/base/names.h"
#include "placement/base/result.h"
#include "placement/model/ids.h"
#include "placement/model/text.h"
#include "stats/text/json.h"

namespace vmnuma::text {

/// T itself when reading, const T when writing.
template <class Value, class T>
concept MaybeConst = std::same_as<std::remove_const_t<Value>, T>;

/// A class that wraps one number: amounts, NodeId, CpuId.
template <class T>
concept Numbered = std::is_class_v<T> && requires(T value) {
  requires std::is_integral_v<decltype(value.value)>;
} && sizeof(T) == sizeof(T::value);

template <class T>
concept Optional = requires(T value) {
  value.reset();
  value.emplace();
  *value;
};

template <class T>
concept Paired = requires(T value) {
  value.first;
  value.second;
};

template <class T>
concept Range = !std::is_same_v<T, std::string> && requires(T value) {
  value.begin();
  value.end();
  value.size();
};

template <class Self, class Json>
class FieldWriter {
 public:
  FieldWriter() = default;
  /// Has the external data of `other`, and writes an object of its own.
  FieldWriter(const FieldWriter& /*other*/) {}
  FieldWriter& operator=(const FieldWriter&) = delete;

  template <class T, class... Notes>
  void operator()(std::string_view name, const T& value, const Notes&... /*for others*/) {
    object_[std::string(name)] = json_of(value);
  }

  template <class T>
  static void visit(Self& fields, const T& value) {
    visit_fields(fields, value);
  }

  /// Writes a nested object, with the same external data.
  template <class T>
  [[nodiscard]] Json write(const T& value) const {
    Self inside(self());
    Self::visit(inside, value);
    return std::move(inside.object_);
  }

 protected:
  template <class T>
  [[nodiscard]] Json json_of(const T& value) const {
    if constexpr (requires { self().leaf(value); }) {
      return self().leaf(value);
    } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>) {
      return value;
    } else if constexpr (Named<T>) {
      return name_of(value);
    } else if constexpr (Numbered<T>) {
      return json_of(value.value);
    } else if constexpr (std::is_same_v<T, VmId>) {
      return to_text(value);
    } else if constexpr (std::is_same_v<T, ClientId>) {
      return Json::array({json_of(value.vm), json_of(value.index)});
    } else if constexpr (Optional<T>) {
      return value ? json_of(*value) : Json(nullptr);
    } else if constexpr (Paired<T>) {
      return Json::array({json_of(value.first), json_of(value.second)});
    } else if constexpr (Range<T>) {
      Json list = Json::array();
      for (const auto& element : value) {
        list.push_back(json_of(element));
      }
      return list;
    } else {
      return write(value);
    }
  }

 private:
  [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }

  Json object_ = Json::object();
};

template <class Self, class Json>
class FieldReader {
 public:
  explicit FieldReader(const Json& object) : object_(&object) {}
  /// Has the external data of the reader around it, and reads an object of its own.
  FieldReader(const Self& /*around*/, const Json& object) : FieldReader(object) {}

  template <class T>
  static void visit(Self& fields, T& value) {
    visit_fields(fields, value);
  }

  template <class T, class... Notes>
  void operator()(std::string_view name, T& value, const Notes&... /*for others*/) {
    if (const Json* json = find(name); json != nullptr) {
      take(name, *json, value);
    } else {
      self().absent(name);
    }
  }
  /// Reads a field that older texts lack; the value then keeps its default.
  template <class T>
  void added(std::string_view name, T& value) {
    if (const Json* json = find(name); json != nullptr) {
      take(name, *json, value);
    }
  }

  /// Called for a missing field, which is a problem unless the format overrides this.
  void absent(std::string_view name) { note(name, "is missing"); }

  /// Reads the fields of an object. Error: corrupt.
  template <class T>
  [[nodiscard]] Result<void> read(T& value) {
    if (!object_->is_object()) {
      return failure(ErrorCode::kCorrupt, "it is not an object");
    }
    Self::visit(self(), value);
    return result();
  }

  /// Returns the first problem found so far.
  [[nodiscard]] Result<void> result() const {
    if (problem_.empty()) {
      return {};
    }
    return failure(ErrorCode::kCorrupt, fmt::format("'{}' {}", path_, problem_));
  }

 protected:
  [[nodiscard]] const Json& object() const { return *object_; }

  [[nodiscard]] const Json* find(std::string_view name) const {
    const auto found = object_->find(std::string(name));
    return found == object_->end() ? nullptr : &*found;
  }

  /// Records a problem, such as "'NAME' is missing"; only the first one is kept.
  void note(std::string_view name, std::string problem) {
    if (problem_.empty()) {
      path_ = name;
      problem_ = std::move(problem);
    }
  }

  template <class T>
  void take(std::string_view name, const Json& json, T& value) {
    if (problem_.empty() && !from(json, value)) {
      within(std::string(name));
    }
  }

  /// Returns false if it is not a T.
  template <class T>
  [[nodiscard]] bool from(const Json& json, T& value) {
    if constexpr (requires { self().leaf(json, value); }) {
      return self().leaf(json, value);
    } else {
      return usual(json, value);
    }
  }

  /// As from(), but ignores leaf().
  template <class T>
  [[nodiscard]] bool usual(const Json& json, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = json.is_boolean() && json.template get<bool>();
      return json.is_boolean();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = json.is_string() ? json.template get<std::string>() : std::string();
      return json.is_string();
    } else if constexpr (Named<T>) {
      const auto named = json.is_string()
                             ? value_named<T>(json.template get_ref<const std::string&>())
                             : std::nullopt;
      value = named.value_or(T{});
      return named.has_value();
    } else if constexpr (std::is_integral_v<T>) {
      const auto fits = [&value](std::integral auto number) {
        value = std::in_range<T>(number) ? static_cast<T>(number) : T{};
        return std::in_range<T>(number);
      };
      return json.is_number_unsigned()
                 ? fits(json.template get<std::uint64_t>())
                 : json.is_number_integer() && fits(json.template get<std::int64_t>());
    } else if constexpr (Numbered<T>) {
      return from(json, value.value);
    } else if constexpr (std::is_same_v<T, VmId>) {
      const auto id = json.is_string() ? parse_vm_id(json.template get_ref<const std::string&>())
                                       : Result<T>(failure(ErrorCode::kCorrupt, ""));
      value = id.value_or(T{});
      return id.has_value();
    } else if constexpr (std::is_same_v<T, ClientId>) {
      return is_pair(json) && from(json[0], value.vm) && from(json[1], value.index);
    } else if constexpr (Optional<T>) {
      value = json.is_null() ? T() : T(std::in_place);
      return !value || from(json, *value);
    } else if constexpr (Paired<T>) {
      return is_pair(json) && from(json[0], value.first) && from(json[1], value.second);
    } else if constexpr (Range<T>) {
      return list(json, value);
    } else {
      Self inside(self(), json);
      const bool is_object = json.is_object();
      if (is_object) {
        Self::visit(inside, value);
      }
      FieldReader& found = inside;
      path_ = std::move(found.path_);
      problem_ = std::move(found.problem_);
      return is_object && problem_.empty();
    }
  }

 private:
  [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }

  [[nodiscard]] static bool is_pair(const Json& json) {
    return json.is_array() && json.size() == 2;
  }

  /// Prefixes the problem's path with `name`.
  void within(std::string name) {
    path_ = std::move(name) + (path_.empty() || path_.front() == '[' ? "" : ".") + path_;
    if (problem_.empty()) {
      problem_ = "is not what it should be";
    }
  }

  template <class T>
  [[nodiscard]] bool list(const Json& json, T& values) {
    if (!json.is_array()) {
      return false;
    }
    if constexpr (requires { values.clear(); }) {
      values.clear();
    } else if (json.size() != values.size()) {
      return false;
    }
    std::size_t index = 0;
    for (const Json& json_element : json) {
      if (!element(json_element, index, values)) {
        within(fmt::format("[{}]", index));
        return false;
      }
      ++index;
    }
    return true;
  }

  template <class T>
  [[nodiscard]] bool element(const Json& json, std::size_t index, T& values) {
    if constexpr (requires { typename T::mapped_type; }) {
      typename T::key_type key{};
      return is_pair(json) && from(json[0], key) && from(json[1], values[key]);
    } else if constexpr (requires { values.emplace_back(); }) {
      return from(json, values.emplace_back());
    } else {
      return from(json, values[index]);
    }
  }

  const Json* object_;
  std::string path_;
  std::string problem_;
};

}  // namespace vmnuma::text
