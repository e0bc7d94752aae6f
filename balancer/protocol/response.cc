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
#include "stats/text/archive.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

using Json = nlohmann::ordered_json;

class ViewWriter : public text::FieldWriter<ViewWriter, Json> {
 public:
  template <class View>
  static void visit(ViewWriter& fields, const View& view) {
    visit_fields(fields, view);
  }
  void time(std::string_view name, std::int64_t unix_s) { (*this)(name, time_text(unix_s)); }
  void time(std::string_view name, const std::optional<std::int64_t>& unix_s) {
    (*this)(name, unix_s ? std::optional(time_text(*unix_s)) : std::nullopt);
  }
  [[nodiscard]] static Json leaf(NodeId node) {
    return node.value < 0 ? Json(nullptr) : Json(node.value);
  }
};

/// Reads views; absent fields keep their default.
class ViewReader : public text::FieldReader<ViewReader, Json> {
 public:
  using FieldReader::FieldReader;

  template <class View>
  static void visit(ViewReader& fields, View& view) {
    visit_fields(fields, view);
  }
  void absent(std::string_view /*name*/) {}
  void time(std::string_view name, std::int64_t& unix_s) {
    std::string text;
    (*this)(name, text);
    if (const auto time = parse_time(text)) {
      unix_s = *time;
    } else if (!text.empty()) {
      note(name, "is not what it should be");
    }
  }
  void time(std::string_view name, std::optional<std::int64_t>& unix_s) {
    std::optional<std::string> text;
    (*this)(name, text);
    unix_s = text ? parse_time(*text) : std::nullopt;
    if (text && !unix_s) {
      note(name, "is not what it should be");
    }
  }
  [[nodiscard]] bool leaf(const Json& json, NodeId& node) {
    node = NodeId{};
    return json.is_null() || usual(json, node);
  }
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

template <class View>
Result<Answer> read_view(const Json& json) {
  if constexpr (std::is_same_v<View, stats::Report>) {
    return report_of_json(json);
  } else {
    Answer answer(std::in_place_type<View>);
    return ViewReader(json).read(std::get<View>(answer)).map([&] { return std::move(answer); });
  }
}

/// The readers, in the order of Answer's alternatives.
constexpr auto kReadView = []<class... Views>(std::variant<Views...>*) {
  return std::array{&read_view<Views>...};
}(static_cast<Answer*>(nullptr));

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Answer::Answer() = default;
Answer::Answer(const Answer& other) = default;
Answer::Answer(Answer&& other) noexcept = default;
Answer& Answer::operator=(const Answer& other) = default;
Answer& Answer::operator=(Answer&& other) noexcept = default;
Answer::~Answer() = default;
bool Answer::operator==(const Answer& other) const {
  return static_cast<const AnswerVariant&>(*this) == static_cast<const AnswerVariant&>(other);
}

std::string encode_response(std::int64_t id, const Result<Answer>& answer) {
  if (!answer) {
    return failure_line(id, answer.error());
  }
  return std::visit(
      [id]<class View>(const View& view) {
        if constexpr (std::is_same_v<View, stats::Report>) {
          return line_of(id, "result", json_of_report(view));
        } else {
          return line_of(id, "result", ViewWriter().write(view));
        }
      },
      *answer);
}

std::string encode_response(const BadRequest& bad) {
  return failure_line(bad.id, bad.error);
}

Result<Response> parse_response(std::string_view line, std::int64_t id) {
  VMNUMA_ASSIGN_OR_RETURN(const auto read,
                          text::read_json<Json>(line, {kLongestAnswer}, "the answer"));
  const Json& json = read;
  if (const auto version = json.find("version");
      version == json.end() || *version != kProtocolVersion) {
    return failure(
        ErrorCode::kUnsupported,
        fmt::format("the answer is not of version {} of the protocol", kProtocolVersion));
  }
  const auto ok = json.find("ok");
  if (ok == json.end() || !ok->is_boolean()) {
    return failure(ErrorCode::kCorrupt, "the answer does not say whether it is a success");
  }
  // An error without an id is about a line in which the daemon could not find one.
  const auto answered = json.find("id");
  if (answered == json.end() || (*answered != id && (ok->get<bool>() || !answered->is_null()))) {
    return failure(ErrorCode::kCorrupt, "the answer belongs to another request");
  }
  if (ok->get<bool>()) {
    const auto result = json.find("result");
    if (result == json.end()) {
      return failure(ErrorCode::kCorrupt, "the answer has no 'result'");
    }
    return Response{text::json_text(*result)};
  }
  const auto error = json.find("error");
  if (error == json.end() || !error->is_object()) {
    return failure(ErrorCode::kCorrupt, "the answer has no 'error'");
  }
  return Response{failure(value_named<ErrorCode>(text_in(*error, "code")).value_or(ErrorCode::kIo),
                          text_in(*error, "message"))};
}

Result<Answer> decode_answer(std::size_t index, std::string_view result) {
  auto answer = text::read_json<Json>(result, {kLongestAnswer}, "its result")
                    .and_then([index](const Json& json) { return kReadView.at(index)(json); });
  if (!answer) {
    return failure(std::move(answer).error(), "the daemon's answer cannot be read");
  }
  return answer;
}

}  // namespace vmnuma::balancer
