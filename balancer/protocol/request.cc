// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/request.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/time_text.h"
#include "placement/model/suggest.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

/// For reading: look-ups stay fast however many keys a line has.
using Json = nlohmann::json;
/// For writing: keys stay in the order in which they are listed.
using OrderedJson = nlohmann::ordered_json;

/// A request without arguments lists none.
template <class Fields, class T>
void visit_arguments(Fields& fields, T& request) {
  if constexpr (!std::is_empty_v<T>) {
    T::visit(fields, request);
  }
}

/// Reads arguments out of an object. Keeps the first problem.
class ArgumentReader {
 public:
  ArgumentReader(std::string_view command, const Json& args) : command_(command), args_(args) {}

  template <class T>
  void required(std::string_view name, T& value) {
    if (!read(name, value)) {
      note(fmt::format("the command '{}' needs the argument '{}'", command_, name));
    }
  }

  template <class T>
  void optional(std::string_view name, T& value) {
    (void)read(name, value);  // absent: the default stays
  }

  template <class T>
  void optional(std::string_view name, std::optional<T>& value) {
    T given{};
    if (read(name, given)) {
      value = std::move(given);
    }
  }

  void optional_time(std::string_view name, std::optional<std::int64_t>& value) {
    std::string text;
    if (read(name, text)) {
      value = parse_time(text);
      if (!value) {
        note(fmt::format(
            "the argument '{}' is '{}', but must be a time such as '2025-01-31T12:00:00Z'", name,
            text));
      }
    }
  }

  /// What was wrong: with an argument that was asked for, or with one that nobody asked for.
  [[nodiscard]] const std::string& problem() {
    for (const auto& [name, value] : args_.items()) {
      if (!problem_.empty()) {
        break;  // the first is enough
      }
      if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
        note(fmt::format("the command '{}' has no argument '{}'{}", command_, name,
                         placement::did_you_mean(name, known_)));
      }
    }
    return problem_;
  }

 private:
  /// False if it is absent or null.
  template <class T>
  bool read(std::string_view name, T& value) {
    known_.push_back(name);
    const auto found = args_.find(name);
    if (found == args_.end() || found->is_null()) {
      return false;
    }
    assign(name, *found, value);
    return true;
  }

  void assign(std::string_view name, const Json& json, std::string& value) {
    if (!json.is_string() || json.get_ref<const std::string&>().empty()) {
      note(fmt::format("the argument '{}' must be a string that is not empty", name));
      return;
    }
    value = json.get<std::string>();
  }

  void assign(std::string_view name, const Json& json, bool& value) {
    if (!json.is_boolean()) {
      note(fmt::format("the argument '{}' must be true or false", name));
      return;
    }
    value = json.get<bool>();
  }

  void assign(std::string_view name, const Json& json, std::int64_t& value) {
    if (const auto number = text::integer_of(json)) {
      value = *number;
    } else {
      note(fmt::format("the argument '{}' must be an integer", name));
    }
  }

  void assign(std::string_view name, const Json& json, std::int32_t& value) {
    const auto number = text::integer_of(json);
    if (number && *number >= 0 && *number <= std::numeric_limits<std::int32_t>::max()) {
      value = static_cast<std::int32_t>(*number);
    } else {
      note(fmt::format("the argument '{}' must be an integer from 0 up", name));
    }
  }

  void assign(std::string_view name, const Json& json, placement::NodeId& value) {
    assign(name, json, value.value);
  }

  template <class T>
  void assign(std::string_view name, const Json& json, std::vector<T>& values) {
    if (!json.is_array() || json.size() > kMostSupposed) {
      note(fmt::format("the argument '{}' must be a list of at most {}", name, kMostSupposed));
      return;
    }
    for (const Json& element : json) {
      assign(name, element, values.emplace_back());
    }
  }

  /// An object with arguments of its own.
  template <class T>
  requires std::is_class_v<T>
  void assign(std::string_view name, const Json& json, T& value) {
    if (!json.is_object()) {
      note(fmt::format("the argument '{}' must be a list of objects", name));
      return;
    }
    ArgumentReader reader(command_, json);
    visit_arguments(reader, value);
    note(reader.problem());
  }

  /// An empty one is none.
  void note(std::string problem) {
    if (problem_.empty()) {
      problem_ = std::move(problem);
    }
  }

  std::string_view command_;
  const Json& args_;
  std::vector<std::string_view> known_;
  std::string problem_;
};

/// Writes arguments into an object; what is optional and absent is left out.
class ArgumentWriter {
 public:
  template <class T>
  void required(const char* name, const T& value) {
    args_[name] = json_of(value);
  }

  template <class T>
  void optional(const char* name, const T& value) {
    required(name, value);
  }
  template <class T>
  void optional(const char* name, const std::optional<T>& value) {
    if (value) {
      required(name, *value);
    }
  }
  void optional_time(const char* name, const std::optional<std::int64_t>& value) {
    if (value) {
      required(name, time_text(*value));
    }
  }

  [[nodiscard]] OrderedJson take() && { return std::move(args_); }

 private:
  template <class T>
  static OrderedJson json_of(const T& value) {
    if constexpr (std::is_same_v<T, std::string> || !std::is_class_v<T>) {
      return value;
    } else {
      ArgumentWriter object;
      visit_arguments(object, value);
      return std::move(object).take();
    }
  }
  static OrderedJson json_of(const placement::NodeId& value) { return value.value; }
  template <class T>
  static OrderedJson json_of(const std::vector<T>& values) {
    OrderedJson list = OrderedJson::array();
    for (const T& value : values) {
      list.push_back(json_of(value));
    }
    return list;
  }

  OrderedJson args_ = OrderedJson::object();
};

template <class T>
Result<Command> read_command(const Json& args) {
  T request;
  ArgumentReader reader(T::kCommand, args);
  visit_arguments(reader, request);
  if (const std::string& problem = reader.problem(); !problem.empty()) {
    return failure(ErrorCode::kInvalidArgument, problem);
  }
  if constexpr (std::is_same_v<T, HistoryRequest>) {
    if (request.limit < 1 || request.limit > kMostHistoryRows) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("the argument 'limit' is {}, but must be a number from 1 to {}",
                                 request.limit, kMostHistoryRows));
    }
  }
  return Command(std::move(request));
}

/// Tries every alternative of Command in turn.
template <std::size_t kIndex = 0>
Result<Command> find_command(std::string_view name, const Json& args) {
  if constexpr (kIndex == std::variant_size_v<Command>) {
    return failure(ErrorCode::kNotFound,
                   fmt::format("there is no command '{}'{}", name,
                               placement::did_you_mean(name, command_names())));
  } else {
    using T = std::variant_alternative_t<kIndex, Command>;
    return name == T::kCommand ? read_command<T>(args) : find_command<kIndex + 1>(name, args);
  }
}

tl::unexpected<Error> refuse(std::string message) {
  return failure(ErrorCode::kInvalidArgument, std::move(message));
}

Result<Command> command_of(const Json& line) {
  const auto version = line.find("version");
  if (version == line.end() || !version->is_number_integer()) {
    return refuse("the request has no 'version'");
  }
  if (text::integer_of(*version) != kProtocolVersion) {
    return failure(ErrorCode::kUnsupported,
                   fmt::format("the request is of version {}, but only version {} is spoken here",
                               version->dump(), kProtocolVersion));
  }
  const auto name = line.find("command");
  if (name == line.end() || !name->is_string()) {
    return refuse("the request has no 'command'");
  }
  const std::vector<std::string_view> known{"version", "id", "command", "args"};
  for (const auto& [key, value] : line.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return refuse(
          fmt::format("a request has no '{}'{}", key, placement::did_you_mean(key, known)));
    }
  }
  const auto args = line.find("args");
  if (args != line.end() && !args->is_object()) {
    return refuse("'args' must be an object");
  }
  return find_command(name->get_ref<const std::string&>(),
                      args == line.end() ? Json::object() : *args);
}

}  // namespace

tl::expected<Request, BadRequest> parse_request(std::string_view line) {
  const auto bad = [](std::optional<std::int64_t> id, std::string message) {
    return tl::unexpected(
        BadRequest{id, Error{ErrorCode::kInvalidArgument, 0, std::move(message)}});
  };
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  const Result<Json> json =
      text::read_json<Json>(line,
                            {.bytes = kLongestRequest,
                             .depth = kDeepestRequest,
                             .values = kMostValues,
                             .members = kLongestRequest},  // they are looked up by a tree
                            "the request");
  if (!json) {
    return bad(std::nullopt, json.error().message);
  }
  std::optional<std::int64_t> id = 0;
  if (const auto given = json->find("id"); given != json->end()) {
    id = text::integer_of(*given);
    if (!id) {
      return bad(std::nullopt, "'id' must be an integer");
    }
  }
  auto command = command_of(*json);
  if (!command) {
    return tl::unexpected(BadRequest{id, std::move(command).error()});
  }
  return Request{*id, std::move(*command)};
}

std::string encode_request(const Request& request) {
  ArgumentWriter args;
  std::visit([&args](const auto& command) { visit_arguments(args, command); }, request.command);
  OrderedJson line;
  line["version"] = kProtocolVersion;
  line["id"] = request.id;
  line["command"] = name_of(request.command);
  line["args"] = std::move(args).take();
  return text::json_text(line) + "\n";
}

std::vector<std::string_view> command_names() {
  return []<class... T>(std::variant<T...>*) {
    return std::vector<std::string_view>{T::kCommand...};
  }(static_cast<Command*>(nullptr));
}

std::string_view name_of(const Command& command) {
  return std::visit([](const auto& request) { return request.kCommand; }, command);
}

bool changes_something(const Command& command) {
  return std::visit([](const auto& request) { return request.kRights == Rights::kRoot; }, command);
}

bool is_permitted(const Command& command, std::uint32_t peer_uid, std::uint32_t own_uid) {
  return !changes_something(command) || peer_uid == 0 || peer_uid == own_uid;
}

}  // namespace vmnuma::balancer
