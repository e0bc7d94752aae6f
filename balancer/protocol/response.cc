// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/response.h"

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/report_json.h"
#include "balancer/protocol/time_text.h"
#include "balancer/protocol/view_fields.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

using Json = nlohmann::ordered_json;

// ---- writing

class ViewWriter {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value, const Metric& /*its*/ = {}) {
    object_[std::string(name)] = json_of(value);
  }
  void time(std::string_view name, std::int64_t unix_s) {
    object_[std::string(name)] = time_text(unix_s);
  }

  template <class View>
  [[nodiscard]] static Json write(const View& view) {
    ViewWriter writer;
    visit_fields(writer, view);
    return std::move(writer.object_);
  }

 private:
  static Json json_of(const std::string& value) { return value; }
  static Json json_of(std::int64_t value) { return value; }
  static Json json_of(std::int32_t value) { return value; }
  static Json json_of(bool value) { return value; }
  static Json json_of(Mode value) { return name_of(value); }
  static Json json_of(Origin value) { return name_of(value); }
  static Json json_of(placement::Permille value) { return value.value; }
  static Json json_of(placement::NodeId value) {
    return value.value < 0 ? Json(nullptr) : Json(value.value);
  }
  template <class T>
  static Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json(nullptr);
  }
  template <class T>
  static Json json_of(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) {
      array.push_back(json_of(value));
    }
    return array;
  }
  template <class View>
  requires std::is_class_v<View>
  static Json json_of(const View& view) { return write(view); }

  Json object_ = Json::object();
};

std::string line_of(std::optional<std::int64_t> id, const char* key, Json value) {
  Json line;
  line["version"] = kProtocolVersion;
  line["id"] = id ? Json(*id) : Json(nullptr);
  line["ok"] = std::string_view(key) == "result";
  line[key] = std::move(value);
  return text::json_text(line) + "\n";
}

std::string failure_line(std::optional<std::int64_t> id, const Error& error) {
  Json value;
  value["code"] = name_of(error.code);
  value["message"] = error.message;
  return line_of(id, "error", std::move(value));
}

// ---- reading

tl::unexpected<Error> corrupt(std::string message) {
  return failure(ErrorCode::kCorrupt, std::move(message));
}

/// Reads fields out of an object. Keeps the name of the first one that is not what it should be.
class ViewReader {
 public:
  template <class T>
  void operator()(std::string_view name, T& value, const Metric& /*its*/ = {}) {
    if (const auto found = object_.find(std::string(name));
        found != object_.end() && !assign(*found, value)) {
      note(name);
    }
  }
  void time(std::string_view name, std::int64_t& unix_s) {
    std::string text;
    (*this)(name, text);
    if (const auto time = parse_time(text)) {
      unix_s = *time;
    } else if (!text.empty()) {
      note(name);
    }
  }

  template <class View>
  [[nodiscard]] static Result<View> read(const Json& json) {
    if (!json.is_object()) {
      return corrupt("it is not an object");
    }
    View view;
    ViewReader reader(json);
    visit_fields(reader, view);
    if (!reader.wrong_field_.empty()) {
      return corrupt("'" + reader.wrong_field_ + "' is not what it should be");
    }
    return view;
  }

 private:
  explicit ViewReader(const Json& object) : object_(object) {}

  void note(std::string_view name) {
    if (wrong_field_.empty()) {
      wrong_field_ = name;
    }
  }

  static bool assign(const Json& json, std::string& value) {
    if (json.is_string()) {
      value = json.get<std::string>();
    }
    return json.is_string();
  }
  static bool assign(const Json& json, bool& value) {
    if (json.is_boolean()) {
      value = json.get<bool>();
    }
    return json.is_boolean();
  }
  template <class Integer>
  requires std::is_same_v<Integer, std::int64_t> || std::is_same_v<Integer, std::int32_t>
  static bool assign(const Json& json, Integer& value) {
    const std::optional<std::int64_t> number = text::integer_of(json);
    if (!number || !std::in_range<Integer>(*number)) {
      return false;
    }
    value = static_cast<Integer>(*number);
    return true;
  }
  static bool assign(const Json& json, placement::NodeId& value) {
    value = placement::NodeId{};
    return json.is_null() || assign(json, value.value);
  }
  static bool assign(const Json& json, placement::Permille& value) {
    return assign(json, value.value);
  }
  template <class Choice>
  requires std::is_enum_v<Choice>
  static bool assign(const Json& json, Choice& value) {
    std::string text;
    if (!assign(json, text)) {
      return false;
    }
    const std::optional<Choice> named = value_named<Choice>(text);
    value = named.value_or(value);
    return named.has_value();
  }
  template <class T>
  static bool assign(const Json& json, std::optional<T>& value) {
    if (json.is_null()) {
      value.reset();
      return true;
    }
    return assign(json, value.emplace());
  }
  template <class T>
  static bool assign(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) {
      return false;
    }
    values.clear();
    for (const Json& element : json) {
      if (!assign(element, values.emplace_back())) {
        return false;
      }
    }
    return true;
  }
  template <class View>
  requires std::is_class_v<View>
  static bool assign(const Json& json, View& view) {
    auto read_view = read<View>(json);
    if (read_view) {
      view = std::move(*read_view);
    }
    return read_view.has_value();
  }

  const Json& object_;
  std::string wrong_field_;
};

/// Tries every alternative of Answer in turn.
template <std::size_t kIndex = 0>
Result<Answer> read_view(std::size_t index, const Json& json) {
  using View = std::variant_alternative_t<kIndex, Answer>;
  if constexpr (kIndex + 1 < std::variant_size_v<Answer>) {
    if (index != kIndex) {
      return read_view<kIndex + 1>(index, json);
    }
  }
  const auto as_answer = [](View&& view) { return Answer(std::move(view)); };
  if constexpr (std::is_same_v<View, stats::Report>) {
    return report_of_json(json).map(as_answer);
  } else {
    return ViewReader::read<View>(json).map(as_answer);
  }
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string encode_response(std::int64_t id, const Result<Answer>& answer) {
  if (!answer) {
    return failure_line(id, answer.error());
  }
  return std::visit(
      [id]<class View>(const View& view) {
        if constexpr (std::is_same_v<View, stats::Report>) {
          return line_of(id, "result", json_of_report(view));
        } else {
          return line_of(id, "result", ViewWriter::write(view));
        }
      },
      *answer);
}

std::string encode_response(const BadRequest& bad) {
  return failure_line(bad.id, bad.error);
}

Result<Response> parse_response(std::string_view line, std::int64_t id) {
  const Result<Json> read = text::read_json<Json>(line, {kLongestAnswer}, "the answer");
  if (!read) {
    return tl::unexpected(read.error());
  }
  const Json& json = *read;
  if (const auto version = json.find("version");
      version == json.end() || *version != kProtocolVersion) {
    return failure(
        ErrorCode::kUnsupported,
        fmt::format("the answer is not of version {} of the protocol", kProtocolVersion));
  }
  const auto ok = json.find("ok");
  if (ok == json.end() || !ok->is_boolean()) {
    return corrupt("the answer does not say whether it is a success");
  }
  // An error without an id is about a line in which the daemon could not find one.
  const auto answered = json.find("id");
  if (answered == json.end() || (*answered != id && (ok->get<bool>() || !answered->is_null()))) {
    return corrupt("the answer belongs to another request");
  }
  if (ok->get<bool>()) {
    const auto result = json.find("result");
    if (result == json.end()) {
      return corrupt("the answer has no 'result'");
    }
    return Response{text::json_text(*result)};
  }
  const auto error = json.find("error");
  if (error == json.end() || !error->is_object()) {
    return corrupt("the answer has no 'error'");
  }
  return Response{failure(value_named<ErrorCode>(text_in(*error, "code")).value_or(ErrorCode::kIo),
                          text_in(*error, "message"))};
}

Result<Answer> decode_answer(std::size_t index, std::string_view result) {
  auto answer = text::read_json<Json>(result, {kLongestAnswer}, "its result")
                    .and_then([index](const Json& json) { return read_view(index, json); });
  if (!answer) {
    return failure(std::move(answer).error(), "the daemon's answer cannot be read");
  }
  return answer;
}

}  // namespace vmnuma::balancer
