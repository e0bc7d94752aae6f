// SPDX-License-Identifier: Apache-2.0
#include "balancer/protocol/request.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/protocol/time_text.h"
#include "placement/base/mapped.h"
#include "placement/model/suggest.h"
#include "stats/text/archive.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

/// For reading: fast look-ups, however many keys a line has.
using ReadJson = nlohmann::json;
/// For writing: keys keep the order in which they are listed.
using OrderedJson = nlohmann::ordered_json;

// The parts of arguments that are not the protocol's own types.

void visit_arguments(auto& fields, text::MaybeConst<PciDevice> auto& device) {
  fields.required("address", device.address);
  fields.required("node", device.node);
}
void visit_arguments(auto& fields, text::MaybeConst<HostInterface> auto& interface) {
  fields.required("name", interface.name);
  fields.required("node", interface.node);
}
void visit_arguments(auto& fields, text::MaybeConst<HostDisk> auto& disk) {
  fields.required("name", disk.name);
  fields.required("node", disk.node);
}
void visit_arguments(auto& fields, text::MaybeConst<CellBinding> auto& binding) {
  fields.required("mode", binding.mode);
  fields.required("nodes", binding.nodes);
}
void visit_arguments(auto& fields, text::MaybeConst<NovaProject> auto& project) {
  fields.required("name", project.name);
  fields.required("uuid", project.uuid);
}

/// Visits the arguments; a request without arguments lists none.
template <class Fields, class T>
void visit_arguments(Fields& fields, T& request) {
  if constexpr (!std::is_empty_v<T>) {
    T::visit(fields, request);
  }
}

/// Reads arguments from an object and its nested objects. Keeps the first problem.
class ArgumentReader : public text::FieldReader<ArgumentReader, ReadJson> {
 public:
  ArgumentReader(std::string_view command, const ReadJson& args, std::string& problem)
      : FieldReader(args), command_(command), problem_found_(problem) {}
  ArgumentReader(const ArgumentReader& around, const ReadJson& args)
      : ArgumentReader(around.command_, args, around.problem_found_) {}

  template <class T>
  static void visit(ArgumentReader& fields, T& request) {
    visit_arguments(fields, request);
    fields.refuse_others();
  }

  template <class T>
  void required(std::string_view name, T& value) {
    if (!given(name, value)) {
      say(fmt::format("the command '{}' needs the argument '{}'", command_, name));
    }
  }

  template <class T>
  void optional(std::string_view name, T& value) {
    (void)given(name, value);  // absent: the default remains
  }

  void optional_time(std::string_view name, std::optional<std::int64_t>& value) {
    std::string text;
    if (given(name, text)) {
      value = parse_time(text);
      if (!value) {
        say(fmt::format(
            "the argument '{}' is '{}', but must be a time such as '2025-01-31T12:00:00Z'", name,
            text));
      }
    }
  }

  template <class T>
  [[nodiscard]] bool leaf(const ReadJson& json, T& value) {
    const bool fits = is_allowed(json, value) && usual(json, value) && is_allowed(value);
    if (!fits) {
      say(fmt::format("the argument '{}' must be {}", name_, kind_of(value)));
    }
    return fits;
  }

 private:
  /// Reads the value if it is given; false if it is absent or null.
  template <class T>
  bool given(std::string_view name, T& value) {
    known_.push_back(name);
    const ReadJson* json = find(name);
    if (json == nullptr || json->is_null()) {
      return false;
    }
    name_ = name;
    (void)from(*json, value);  // problems are reported there
    return true;
  }

  template <class T>
  static bool is_allowed(const ReadJson& /*json*/, const T& /*value*/) {
    return true;
  }
  template <class T>
  static bool is_allowed(const ReadJson& json, const std::vector<T>& /*values*/) {
    return json.size() <= kMostSupposed;
  }
  template <class T>
  static bool is_allowed(const T& /*value*/) {
    return true;
  }
  static bool is_allowed(const std::string& text) { return !text.empty(); }
  static bool is_allowed(std::int32_t number) { return number >= 0; }

  template <class T>
  static std::string kind_of(const T& /*value*/) {
    if constexpr (std::is_same_v<T, std::string>) {
      return "a string that is not empty";
    } else if constexpr (std::is_same_v<T, bool>) {
      return "true or false";
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      return "an integer";
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
      return "an integer from 0 up";
    } else if constexpr (Named<T>) {
      return std::string(kChoices<T>);
    } else if constexpr (text::Range<T>) {
      return fmt::format("a list of at most {}", kMostSupposed);
    } else {
      return "a list of objects";
    }
  }

  /// Refuses unknown arguments.
  void refuse_others() {
    for (const auto& [name, value] : object().items()) {
      if (!problem_found_.empty()) {
        return;  // the first is enough
      }
      if (std::ranges::find(known_, name) == known_.end()) {
        say(fmt::format("the command '{}' has no argument '{}'{}", command_, name,
                        did_you_mean(name, known_)));
      }
    }
  }

  void say(std::string problem) {
    if (problem_found_.empty()) {
      problem_found_ = std::move(problem);
    }
  }

  std::string_view command_;
  std::string_view name_;
  std::vector<std::string_view> known_;
  std::string& problem_found_;
};

/// Writes arguments into an object; absent optional ones are left out.
class ArgumentWriter : public text::FieldWriter<ArgumentWriter, OrderedJson> {
 public:
  template <class T>
  static void visit(ArgumentWriter& fields, const T& request) {
    visit_arguments(fields, request);
  }
  template <class T>
  void required(std::string_view name, const T& value) {
    (*this)(name, value);
  }
  template <class T>
  void optional(std::string_view name, const T& value) {
    (*this)(name, value);
  }
  template <class T>
  void optional(std::string_view name, const std::optional<T>& value) {
    if (value) {
      (*this)(name, *value);
    }
  }
  void optional_time(std::string_view name, const std::optional<std::int64_t>& value) {
    if (value) {
      (*this)(name, time_text(*value));
    }
  }
};

template <class T>
Result<Command> read_command(const ReadJson& args) {
  T request;
  std::string problem;
  ArgumentReader reader(T::kCommand, args, problem);
  ArgumentReader::visit(reader, request);
  if (!problem.empty()) {
    return failure(ErrorCode::kInvalidArgument, problem);
  }
  if constexpr (requires { request.limit; }) {
    if (request.limit < 1 || request.limit > kMostHistoryRows) {
      return failure(ErrorCode::kInvalidArgument,
                     fmt::format("the argument 'limit' is {}, but must be a number from 1 to {}",
                                 request.limit, kMostHistoryRows));
    }
  }
  return Command(std::move(request));
}

/// A command's name, and the function that reads its arguments.
struct Reading {
  std::string_view name;
  Result<Command> (*read)(const ReadJson& args);
};

constexpr auto kReadings = []<class... T>(std::variant<T...>*) {
  return std::array{Reading{T::kCommand, &read_command<T>}...};
}(static_cast<Command*>(nullptr));

Result<Command> find_command(std::string_view name, const ReadJson& args) {
  const auto found = std::ranges::find(kReadings, name, &Reading::name);
  if (found == kReadings.end()) {
    return failure(ErrorCode::kNotFound, fmt::format("there is no command '{}'{}", name,
                                                     did_you_mean(name, command_names())));
  }
  return found->read(args);
}

tl::unexpected<Error> refuse(std::string message) {
  return failure(ErrorCode::kInvalidArgument, std::move(message));
}

Result<Command> command_of(const ReadJson& line) {
  const auto version = line.find("version");
  if (version == line.end() || !version->is_number_integer()) {
    return refuse("the request has no 'version'");
  }
  if (text::integer_of(*version) != kProtocolVersion) {
    return failure(
        ErrorCode::kUnsupported,
        fmt::format("the request is of version {}, but only version {} is supported here",
                    version->dump(), kProtocolVersion));
  }
  const auto name = line.find("command");
  if (name == line.end() || !name->is_string()) {
    return refuse("the request has no 'command'");
  }
  const std::vector<std::string_view> known{"version", "id", "command", "args"};
  for (const auto& [key, value] : line.items()) {
    if (std::ranges::find(known, key) == known.end()) {
      return refuse(fmt::format("a request has no '{}'{}", key, did_you_mean(key, known)));
    }
  }
  const auto args = line.find("args");
  if (args != line.end() && !args->is_object()) {
    return refuse("'args' must be an object");
  }
  return find_command(name->get_ref<const std::string&>(),
                      args == line.end() ? ReadJson::object() : *args);
}

}  // namespace

Command::Command() = default;
Command::Command(const Command& other) = default;
Command::Command(Command&& other) noexcept = default;
Command& Command::operator=(const Command& other) = default;
Command& Command::operator=(Command&& other) noexcept = default;
Command::~Command() = default;
bool Command::operator==(const Command& other) const {
  return static_cast<const CommandVariant&>(*this) == static_cast<const CommandVariant&>(other);
}

tl::expected<Request, BadRequest> parse_request(std::string_view line) {
  const auto bad = [](std::optional<std::int64_t> id, std::string message) {
    return tl::unexpected(
        BadRequest{id, Error{ErrorCode::kInvalidArgument, 0, std::move(message)}});
  };
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  const Result<ReadJson> json =
      text::read_json<ReadJson>(line,
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
  OrderedJson line;
  line["version"] = kProtocolVersion;
  line["id"] = request.id;
  line["command"] = name_of(request.command);
  line["args"] = std::visit([](const auto& command) { return ArgumentWriter().write(command); },
                            request.command);
  return text::json_text(line) + "\n";
}

std::vector<std::string_view> command_names() {
  return mapped(kReadings, &Reading::name);
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
