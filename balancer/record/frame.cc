// SPDX-License-Identifier: Apache-2.0
#include "balancer/record/frame.h"

#include <array>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/crc.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "balancer/policy/policy_keys.h"
#include "balancer/protocol/request.h"
#include "balancer/record/fields.h"
#include "balancer/record/sound.h"
#include "placement/model/text.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

using Json = nlohmann::ordered_json;
using placement::VmId;

constexpr std::string_view kBefore = R"({"frame":)";
constexpr std::string_view kBetween = R"(,"crc32":")";
constexpr std::string_view kAfter = R"("})";
constexpr std::size_t kDigits = 8;
constexpr std::string_view kLeftOut = "left out";

/// In the order of the alternatives of Event.
constexpr std::array<std::string_view, std::variant_size_v<Event>> kEvents{
    "domains", "sample",   "action", "transfers", "source", "command",
    "config",  "topology", "load",   "forecast",  "memory", "stopping"};

template <class T>
struct IsAmount : std::false_type {};
template <class Unit>
struct IsAmount<placement::Amount<Unit>> : std::true_type {};

std::uint32_t crc32_of(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

/// Counters of nanoseconds reach it in 36 years.
constexpr std::int64_t kMostNumber = std::int64_t{1} << 60U;

std::string text_of(const Json& json) {
  return text::json_text(json);
}

template <Named Enum>
bool is_place_in(std::int64_t place) {
  return place >= 0 && place < static_cast<std::int64_t>(kValuesOf<Enum>.size());
}

std::string line_of(const Json& frame) {
  const std::string text = text_of(frame);
  return fmt::format("{}{}{}{:08x}{}\n", kBefore, text, kBetween, crc32_of(text), kAfter);
}

// ---- writing

class Writer {
 public:
  explicit Writer(Anonymizer* anonymizer) : anonymizer_(anonymizer) {}

  template <class T>
  void operator()(std::string_view name, const T& value) {
    object_[std::string(name)] = json_of(value);
  }
  template <class T>
  void added(std::string_view name, const T& value) {
    (*this)(name, value);
  }
  template <class T>
  void unbounded(std::string_view name, const T& value) {
    (*this)(name, value);
  }
  void vm_name(std::string_view name, const std::string& value) {
    (*this)(name, anonymizer_ == nullptr ? value : anonymizer_->vm_name(value));
  }
  void group(std::string_view name, const std::string& value) {
    (*this)(name, anonymizer_ == nullptr ? value : anonymizer_->group(value));
  }
  void prose(std::string_view name, const std::string& value) { (*this)(name, sentence(value)); }
  void sentences(std::string_view name, const std::map<VmId, std::string>& values) {
    std::map<VmId, std::string> written;
    for (const auto& [vm, text] : values) {
      written[vm] = sentence(text);
    }
    (*this)(name, written);
  }
  void policies(std::string_view name, const std::map<std::string, placement::VmPolicy>& policies) {
    std::map<std::string, placement::VmPolicy> written;
    for (const auto& [vm, policy] : policies) {
      written[name_or_uuid(vm)] = policy;
    }
    (*this)(name, written);
  }
  void settings(std::string_view name, std::vector<placement::PolicySetting> settings) {
    (*this)(name, anonymous(std::move(settings)));
  }
  /// A setting that is wrong stays wrong, and any other says the same.
  [[nodiscard]] std::vector<placement::PolicySetting> anonymous(
      std::vector<placement::PolicySetting> settings) const {
    for (placement::PolicySetting& setting : settings) {
      placement::VmPolicy policy;
      if (anonymizer_ == nullptr) {
        break;
      }
      if (!set_policy_key(policy, setting.key, setting.value)) {
        setting = {std::string(kLeftOut), ""};
      } else if (!policy.affinity_group.empty() || !policy.anti_affinity_group.empty()) {
        setting.value = anonymizer_->group(setting.value);
      }
    }
    return settings;
  }
  void command(std::string_view name, Command command) {
    std::visit(
        [this]<class T>(T& request) {
          if constexpr (std::is_same_v<T, MoveRequest>) {
            request.vm = name_or_uuid(request.vm);
          } else if constexpr (std::is_same_v<T, MoveTogetherRequest>) {
            for (MoveTogetherRequest::ClientMove& move : request.moves) {
              move.vm = name_or_uuid(move.vm);
            }
          } else if constexpr (std::is_same_v<T, SetRequest>) {
            // What it brings comes with the VM's next description.
            request = {name_or_uuid(request.vm), {}, request.persistent};
          } else if constexpr (std::is_same_v<T, AnnounceRequest>) {
            request.vm = name_or_uuid(request.vm);
            request.vm_uuid = name_or_uuid(request.vm_uuid);
            for (AnnounceRequest::Device& device : request.devices) {
              device.address = kLeftOut;
            }
            for (AnnounceRequest::Interface& interface : request.interfaces) {
              interface.name = kLeftOut;
            }
            for (AnnounceRequest::Disk& disk : request.disks) {
              disk.name = kLeftOut;
            }
            std::vector<placement::PolicySetting> policy;
            for (const RequestedSetting& setting : request.policy) {
              policy.push_back({setting.key, setting.value.value_or("")});
            }
            request.policy.clear();
            for (placement::PolicySetting& setting : anonymous(std::move(policy))) {
              request.policy.push_back({setting.key, setting.value.empty()
                                                         ? std::nullopt
                                                         : std::optional(setting.value)});
            }
          } else if constexpr (std::is_same_v<T, WithdrawRequest>) {
            request.vm_uuid = name_or_uuid(request.vm_uuid);
          } else if constexpr (std::is_same_v<T, ReleaseRequest> ||
                               std::is_same_v<T, ManageRequest>) {
            request.vm = request.vm ? std::optional(name_or_uuid(*request.vm)) : std::nullopt;
          }
        },
        command);
    (*this)(name, encode_request({0, std::move(command)}));
  }

  template <class T>
  [[nodiscard]] Json write(const T& value) const {
    Writer writer(anonymizer_);
    RecordFields::visit(writer, value);
    return std::move(writer.object_);
  }

 private:
  [[nodiscard]] std::string sentence(const std::string& text) const {
    return anonymizer_ == nullptr || text.empty() ? text : std::string(kLeftOut);
  }
  [[nodiscard]] std::string name_or_uuid(const std::string& text) const {
    return anonymizer_ == nullptr ? text : anonymizer_->name_or_uuid(text);
  }

  template <class T>
  [[nodiscard]] Json json_of(const T& value) const {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      return value;
    } else if constexpr (Named<T>) {
      return name_of(value);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<std::int64_t>(value);  // no node is -1
    } else if constexpr (IsAmount<T>::value || std::is_same_v<T, placement::NodeId> ||
                         std::is_same_v<T, placement::CpuId>) {
      return value.value;
    } else {
      return write(value);
    }
  }
  [[nodiscard]] Json json_of(const VmId& vm) const {
    return to_text(anonymizer_ == nullptr ? vm : anonymizer_->id(vm));
  }
  [[nodiscard]] Json json_of(const placement::ClientId& client) const {
    return Json::array({json_of(client.vm), client.index});
  }
  template <class T>
  [[nodiscard]] Json json_of(const std::optional<T>& value) const {
    return value ? json_of(*value) : Json(nullptr);
  }
  template <class A, class B>
  [[nodiscard]] Json json_of(const std::pair<A, B>& value) const {
    return Json::array({json_of(value.first), json_of(value.second)});
  }
  template <class Range>
  [[nodiscard]] Json list_of(const Range& values) const {
    Json list = Json::array();
    for (const auto& value : values) {
      list.push_back(json_of(value));
    }
    return list;
  }
  template <class T>
  [[nodiscard]] Json json_of(const std::vector<T>& values) const {
    return list_of(values);
  }
  template <class T, std::size_t n>
  [[nodiscard]] Json json_of(const std::array<T, n>& values) const {
    return list_of(values);
  }
  template <class Key, class T>
  [[nodiscard]] Json json_of(const std::map<Key, T>& values) const {
    return list_of(values);
  }

  Anonymizer* anonymizer_;
  Json object_ = Json::object();
};

// ---- reading

/// Reads members of one object. Keeps the first thing that is wrong.
class Reader {
 public:
  template <class T>
  void operator()(std::string_view name, T& value) {
    const auto found = object_.find(std::string(name));
    if (found == object_.end()) {
      note(fmt::format("there is no '{}'", name));
    } else if (wrong_.empty() && !assign(*found, value)) {
      wrong_ = wrong_.empty() ? fmt::format("'{}' is not what it should be", name)
                              : fmt::format("'{}': {}", name, wrong_);
    }
  }
  template <class T>
  void added(std::string_view name, T& value) {
    if (object_.contains(std::string(name))) {
      (*this)(name, value);
    }
  }
  template <class T>
  void unbounded(std::string_view name, T& value) {
    is_bounded_ = false;
    (*this)(name, value);
    is_bounded_ = true;
  }
  void vm_name(std::string_view name, std::string& value) { (*this)(name, value); }
  void group(std::string_view name, std::string& value) { (*this)(name, value); }
  void prose(std::string_view name, std::string& value) { (*this)(name, value); }
  void sentences(std::string_view name, std::map<VmId, std::string>& values) {
    (*this)(name, values);
  }
  void policies(std::string_view name, std::map<std::string, placement::VmPolicy>& policies) {
    (*this)(name, policies);
  }
  void settings(std::string_view name, std::vector<placement::PolicySetting>& settings) {
    (*this)(name, settings);
  }
  void command(std::string_view name, Command& command) {
    std::string line;
    (*this)(name, line);
    if (auto request = parse_request(line)) {
      command = std::move(request->command);
    } else {
      note(request.error().error.message);
    }
  }

  template <class T>
  [[nodiscard]] static Result<void> read(const Json& json, T& value) {
    if (!json.is_object()) {
      return failure(ErrorCode::kCorrupt, "it is no object");
    }
    Reader reader(json);
    RecordFields::visit(reader, value);
    return std::move(reader).result();
  }

  explicit Reader(const Json& object) : object_(object) {}
  [[nodiscard]] Result<void> result() && {
    if (!wrong_.empty()) {
      return failure(ErrorCode::kCorrupt, std::move(wrong_));
    }
    return {};
  }

 private:
  void note(std::string wrong) {
    if (wrong_.empty()) {
      wrong_ = std::move(wrong);
    }
  }

  template <class T>
  bool assign(const Json& json, T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      const bool fits = std::is_same_v<T, bool> ? json.is_boolean() : json.is_string();
      if (fits) {
        value = json.get<T>();
      }
      return fits;
    } else if constexpr (Named<T>) {
      std::optional<T> named;
      if (json.is_string()) {
        named = value_named<T>(json.get_ref<const std::string&>());
      } else if (const auto place = text::integer_of(json); place && is_place_in<T>(*place)) {
        named = static_cast<T>(*place);  // as format 1 has it
      }
      value = named.value_or(T{});
      return named.has_value();
    } else if constexpr (std::is_integral_v<T>) {
      // Of an index, -1 stands for none.
      const std::optional<std::int64_t> number = text::integer_of(json);
      const bool fits = number &&
                        (std::in_range<T>(*number) || (sizeof(T) == 8 && *number == -1)) &&
                        (!is_bounded_ || (*number <= kMostNumber && *number >= -kMostNumber));
      value = fits ? static_cast<T>(*number) : T{};
      return fits;
    } else if constexpr (IsAmount<T>::value) {
      return assign(json, value.value) &&
             (!is_bounded_ || (value.value <= kMostAmount && value.value >= -kMostAmount));
    } else if constexpr (std::is_same_v<T, placement::NodeId> ||
                         std::is_same_v<T, placement::CpuId>) {
      return assign(json, value.value);
    } else {
      const Result<void> done = read(json, value);
      if (!done) {
        note(done.error().message);
      }
      return done.has_value();
    }
  }
  bool assign(const Json& json, VmId& vm) {
    const auto id = json.is_string() ? placement::parse_vm_id(json.get_ref<const std::string&>())
                                     : Result<VmId>(failure(ErrorCode::kCorrupt, ""));
    vm = id.value_or(VmId{});
    return id.has_value();
  }
  bool assign(const Json& json, placement::ClientId& client) {
    return json.is_array() && json.size() == 2 && assign(json[0], client.vm) &&
           assign(json[1], client.index);
  }
  template <class T>
  bool assign(const Json& json, std::optional<T>& value) {
    if (json.is_null()) {
      value.reset();
      return true;
    }
    return assign(json, value.emplace());
  }
  template <class A, class B>
  bool assign(const Json& json, std::pair<A, B>& value) {
    return json.is_array() && json.size() == 2 && assign(json[0], value.first) &&
           assign(json[1], value.second);
  }
  template <class T>
  bool assign(const Json& json, std::vector<T>& values) {
    values.clear();
    if (!json.is_array()) {
      return false;
    }
    for (const Json& element : json) {
      if (!assign(element, values.emplace_back())) {
        return false;
      }
    }
    return true;
  }
  template <class T, std::size_t n>
  bool assign(const Json& json, std::array<T, n>& values) {
    if (!json.is_array() || json.size() != n) {
      return false;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!assign(json[i], values[i])) {
        return false;
      }
    }
    return true;
  }
  template <class Key, class T>
  bool assign(const Json& json, std::map<Key, T>& values) {
    values.clear();
    if (!json.is_array()) {
      return false;
    }
    for (const Json& element : json) {
      Key key{};
      const bool is_pair = element.is_array() && element.size() == 2;
      if (!is_pair || !assign(element[0], key) || !assign(element[1], values[key])) {
        return false;
      }
    }
    return true;
  }

  const Json& object_;
  std::string wrong_;
  bool is_bounded_ = true;
};

/// Reads data into the alternative of that name.
template <std::size_t kIndex = 0>
Result<Event> read_event(std::string_view name, const Json& data) {
  if constexpr (kIndex == std::variant_size_v<Event>) {
    return failure(ErrorCode::kCorrupt, fmt::format("there is no event '{}'", name));
  } else {
    if (name != kEvents[kIndex]) {
      return read_event<kIndex + 1>(name, data);
    }
    std::variant_alternative_t<kIndex, Event> event;
    return Reader::read(data, event).map([&] { return Event(std::move(event)); });
  }
}

Result<HeaderFrame> read_header(const Json& header) {
  const auto found = header.find("format");
  const std::int64_t format = found == header.end() ? 0 : text::integer_of(*found).value_or(0);
  if (format < kOldestRecordingFormat || format > kRecordingFormat) {
    return failure(ErrorCode::kUnsupported,
                   format == 0
                       ? std::string("this is no recording: it does not begin with its format")
                       : fmt::format("the recording has format {}; this vmnuma reads {} to {}",
                                     format, kOldestRecordingFormat, kRecordingFormat));
  }
  HeaderFrame frame;
  frame.controller = std::make_shared<Controller>(ControllerSetup{});
  Reader fields(header);
  fields("version", frame.version);
  fields("epoch_length_ms", frame.epoch_length_ms);
  fields("anonymized", frame.anonymized);
  fields("state", *frame.controller);
  return std::move(fields)
      .result()
      .and_then([&] { return check_state(*frame.controller); })
      .map([&] { return std::move(frame); });
}

Result<Frame> read_content(const Json& json) {
  Frame frame;
  const auto number = json.find("n");
  frame.number = number == json.end() ? -1 : text::integer_of(*number).value_or(-1);
  if (const auto header = json.find("header"); header != json.end() && header->is_object()) {
    return read_header(*header).map([&](HeaderFrame content) {
      frame.content = std::move(content);
      return std::move(frame);
    });
  }
  if (const auto found = json.find("plan"); found != json.end()) {
    // As this format writes it, whichever one it was. What is no plan stays as it is, and differs.
    placement::Plan plan;
    const bool is_plan = Reader::read(*found, plan).has_value();
    frame.content = PlanFrame{is_plan ? plan_text(plan, nullptr) : text_of(*found)};
    return frame;
  }
  const auto event = json.find("event");
  const auto data = json.find("data");
  if (event == json.end() || !event->is_string() || data == json.end()) {
    return failure(ErrorCode::kCorrupt, "the frame is neither header nor event nor plan");
  }
  return read_event(event->get_ref<const std::string&>(), *data).map([&](Event content) {
    frame.content = std::move(content);
    return std::move(frame);
  });
}

}  // namespace

std::string header_line(std::int64_t number, const Controller& controller, Anonymizer* anonymizer) {
  const Writer writer(anonymizer);
  Json header;
  header["format"] = kRecordingFormat;
  header["version"] = VMNUMA_VERSION;
  header["epoch_length_ms"] = controller.ledger().options().rebalance_period;
  header["anonymized"] = anonymizer != nullptr;
  header["topology"] = writer.write(controller.ledger().topology());
  header["options"] = writer.write(controller.ledger().options());
  header["state"] = writer.write(controller);
  Json frame;
  frame["n"] = number;
  frame["header"] = std::move(header);
  return line_of(frame);
}

std::string event_line(std::int64_t number, const Event& event, Anonymizer* anonymizer) {
  Json frame;
  frame["n"] = number;
  frame["event"] = kEvents.at(event.index());
  frame["data"] =
      std::visit([&](const auto& data) { return Writer(anonymizer).write(data); }, event);
  return line_of(frame);
}

std::string plan_line(std::int64_t number, const placement::Plan& plan, Anonymizer* anonymizer) {
  Json frame;
  frame["n"] = number;
  frame["plan"] = Writer(anonymizer).write(plan);
  return line_of(frame);
}

std::string plan_text(const placement::Plan& plan, Anonymizer* anonymizer) {
  return text_of(Writer(anonymizer).write(plan));
}

Result<Frame> read_frame(std::string_view line) {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  if (line.size() > kLongestFrame) {
    return failure(ErrorCode::kCorrupt,
                   fmt::format("the line is longer than {} bytes", kLongestFrame));
  }
  const std::size_t around = kBefore.size() + kBetween.size() + kDigits + kAfter.size();
  if (line.size() < around || !line.starts_with(kBefore) || !line.ends_with(kAfter)) {
    return failure(ErrorCode::kCorrupt, "the line is cut off or no frame");
  }
  const std::string_view text = line.substr(kBefore.size(), line.size() - around);
  const std::string_view rest = line.substr(kBefore.size() + text.size());
  if (!rest.starts_with(kBetween) ||
      rest.substr(kBetween.size(), kDigits) != fmt::format("{:08x}", crc32_of(text))) {
    return failure(ErrorCode::kCorrupt, "the checksum is wrong, so the line is damaged");
  }
  return text::read_json<Json>(text, {kLongestFrame}, "the frame").and_then(read_content);
}

bool matters(const Event& event) {
  const auto* command = std::get_if<CommandReceived>(&event);
  return command == nullptr || changes_something(command->command);
}

}  // namespace vmnuma::balancer
