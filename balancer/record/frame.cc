// SPDX-License-Identifier: Apache-2.0
#include "balancer/record/frame.h"

#include <algorithm>
#include <array>
#include <concepts>
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
#include "stats/text/archive.h"
#include "stats/text/json.h"

namespace vmnuma::balancer {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFrameBegin = R"({"frame":)";
constexpr std::string_view kChecksumKey = R"(,"crc32":")";
constexpr std::string_view kFrameEnd = R"("})";
constexpr std::size_t kDigits = 8;
constexpr std::string_view kLeftOut = "left out";

/// In the order of the alternatives of Event.
constexpr std::array<std::string_view, std::variant_size_v<Event>> kEvents{
    "domains",  "sample", "action",   "transfers", "source", "command", "config",
    "topology", "load",   "forecast", "memory",    "room",   "stopping"};

std::uint32_t crc32_of(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

/// Nanosecond counters reach this after 36 years.
constexpr std::int64_t kMostNumber = std::int64_t{1} << 60U;

std::string line_of(const Json& frame) {
  const std::string text = text::json_text(frame);
  return fmt::format("{}{}{}{:08x}{}\n", kFrameBegin, text, kChecksumKey, crc32_of(text),
                     kFrameEnd);
}

// ---- writing

class Writer : public text::FieldWriter<Writer, Json> {
 public:
  explicit Writer(Anonymizer* anonymizer) : anonymizer_(anonymizer) {}

  template <class T>
  static void visit(Writer& fields, const T& value) {
    RecordFields::visit(fields, value);
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
  void group(std::string_view name, const std::string& value) { (*this)(name, group_alias(value)); }
  void added_group(std::string_view name, const std::string& value) { group(name, value); }
  void prose(std::string_view name, const std::string& value) { (*this)(name, sentence(value)); }
  void sentences(std::string_view name, const std::map<VmId, std::string>& values) {
    std::map<VmId, std::string> written;
    for (const auto& [vm, text] : values) {
      written[vm] = sentence(text);
    }
    (*this)(name, written);
  }
  void policies(std::string_view name, const std::map<std::string, VmPolicy>& policies) {
    std::map<std::string, VmPolicy> written;
    for (const auto& [vm, policy] : policies) {
      written[name_or_uuid(vm)] = policy;
    }
    (*this)(name, written);
  }
  void settings(std::string_view name, std::vector<PolicySetting> settings) {
    (*this)(name, anonymous(std::move(settings)));
  }
  /// Anonymizes settings so that an invalid one stays invalid, and any other keeps its meaning.
  [[nodiscard]] std::vector<PolicySetting> anonymous(std::vector<PolicySetting> settings) const {
    for (PolicySetting& setting : settings) {
      VmPolicy policy;
      if (anonymizer_ == nullptr) {
        break;
      }
      if (!set_policy_key(policy, setting.key, setting.value)) {
        setting = {std::string(kLeftOut), ""};
      } else if (!policy.affinity_group.empty() || !policy.anti_affinity_group.empty() ||
                 !policy.owner.empty()) {
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
            // The effect is in the VM's next description.
            request = {name_or_uuid(request.vm), {}, request.persistent};
          } else if constexpr (std::is_same_v<T, AnnounceRequest>) {
            request.vm = name_or_uuid(request.vm);
            request.vm_uuid = name_or_uuid(request.vm_uuid);
            for (NovaProject& project : request.nova_project) {
              project.name = group_alias(project.name);
              project.uuid = group_alias(project.uuid);
            }
            for (PciDevice& device : request.devices) {
              device.address = sentence(device.address);
            }
            for (HostInterface& interface : request.interfaces) {
              interface.name = sentence(interface.name);
            }
            for (HostDisk& disk : request.disks) {
              disk.name = sentence(disk.name);
            }
            std::vector<PolicySetting> policy;
            for (const RequestedSetting& setting : request.policy) {
              policy.push_back({setting.key, setting.value.value_or("")});
            }
            request.policy.clear();
            for (PolicySetting& setting : anonymous(std::move(policy))) {
              request.policy.push_back({setting.key, setting.value.empty()
                                                         ? std::nullopt
                                                         : std::optional(setting.value)});
            }
          } else if constexpr (std::is_same_v<T, ReserveRequest>) {
            if (!request.vm && !request.group && !request.owner && anonymizer_ != nullptr) {
              request.vm = request.group = request.name;  // each is renamed differently
            }
            request.vm = request.vm ? std::optional(name_or_uuid(*request.vm)) : std::nullopt;
            if (request.group) {
              request.group = group_alias(*request.group);
            }
            if (request.owner) {
              request.owner = group_alias(*request.owner);
            }
            request.name = name_or_uuid(request.name);
          } else if constexpr (std::is_same_v<T, UnreserveRequest>) {
            request.name = name_or_uuid(request.name);
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

  /// Writes an index; -1 if it means none.
  template <std::integral T>
  requires(!std::same_as<T, bool>) [[nodiscard]] static Json leaf(T number) {
    return static_cast<std::int64_t>(number);
  }
  [[nodiscard]] Json leaf(const VmId& vm) const {
    return to_text(anonymizer_ == nullptr ? vm : anonymizer_->id(vm));
  }

 private:
  [[nodiscard]] std::string sentence(const std::string& text) const {
    return anonymizer_ == nullptr || text.empty() ? text : std::string(kLeftOut);
  }
  [[nodiscard]] std::string group_alias(const std::string& name) const {
    return anonymizer_ == nullptr ? name : anonymizer_->group(name);
  }
  [[nodiscard]] std::string name_or_uuid(const std::string& text) const {
    return anonymizer_ == nullptr ? text : anonymizer_->name_or_uuid(text);
  }

  Anonymizer* anonymizer_;
};

// ---- reading

class Reader : public text::FieldReader<Reader, Json> {
 public:
  using FieldReader::FieldReader;

  template <class T>
  static void visit(Reader& fields, T& value) {
    RecordFields::visit(fields, value);
  }
  template <class T>
  void unbounded(std::string_view name, T& value) {
    is_bounded_ = false;
    (*this)(name, value);
    is_bounded_ = true;
  }
  void vm_name(std::string_view name, std::string& value) { (*this)(name, value); }
  void group(std::string_view name, std::string& value) { (*this)(name, value); }
  void added_group(std::string_view name, std::string& value) { added(name, value); }
  void prose(std::string_view name, std::string& value) { (*this)(name, value); }
  void sentences(std::string_view name, std::map<VmId, std::string>& values) {
    (*this)(name, values);
  }
  void policies(std::string_view name, std::map<std::string, VmPolicy>& policies) {
    (*this)(name, policies);
  }
  void settings(std::string_view name, std::vector<PolicySetting>& settings) {
    (*this)(name, settings);
  }
  void command(std::string_view name, Command& command) {
    std::string line;
    (*this)(name, line);
    if (auto request = parse_request(line)) {
      command = std::move(request->command);
    } else {
      note(name, "is no request: " + request.error().error.message);
    }
  }

  /// Reads an enumeration, by name or, in format 1, by position.
  template <Named T>
  [[nodiscard]] bool leaf(const Json& json, T& value) {
    if (const auto place = text::integer_of(json);
        place && *place >= 0 && std::cmp_less(*place, kValuesOf<T>.size())) {
      value = static_cast<T>(*place);
      return true;
    }
    return usual(json, value);
  }
  /// Reads an index; -1 means none.
  template <std::integral T>
  requires(!std::same_as<T, bool>) [[nodiscard]] bool leaf(const Json& json, T& value) {
    const std::optional<std::int64_t> number = text::integer_of(json);
    const bool fits = number && (std::in_range<T>(*number) || (sizeof(T) == 8 && *number == -1)) &&
                      (!is_bounded_ || (*number <= kMostNumber && *number >= -kMostNumber));
    value = fits ? static_cast<T>(*number) : T{};
    return fits;
  }
  template <class Unit>
  [[nodiscard]] bool leaf(const Json& json, Amount<Unit>& amount) {
    return usual(json, amount) &&
           (!is_bounded_ || (amount.value <= kMostAmount && amount.value >= -kMostAmount));
  }

 private:
  bool is_bounded_ = true;
};

template <class T>
Result<Event> read_one(const Json& data) {
  Event event(std::in_place_type<T>);
  return Reader(data).read(std::get<T>(event)).map([&] { return std::move(event); });
}

/// The readers, in the order of the alternatives of Event.
constexpr auto kReadEvent = []<class... T>(std::variant<T...>*) {
  return std::array{&read_one<T>...};
}(static_cast<Event*>(nullptr));

Result<Event> read_event(std::string_view name, const Json& data) {
  const auto found = std::ranges::find(kEvents, name);
  if (found == kEvents.end()) {
    return failure(ErrorCode::kCorrupt, fmt::format("there is no event '{}'", name));
  }
  return kReadEvent.at(static_cast<std::size_t>(found - kEvents.begin()))(data);
}

Result<HeaderFrame> read_header(const Json& header) {
  const auto found = header.find("format");
  const std::int64_t format = found == header.end() ? 0 : text::integer_of(*found).value_or(0);
  if (format < kOldestRecordingFormat || format > kRecordingFormat) {
    return failure(ErrorCode::kUnsupported,
                   format == 0
                       ? std::string("this is not a recording: it does not begin with its format")
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
  return fields.result()
      .and_then([&] { return check_state(*frame.controller); })
      .and_then([&]() -> Result<HeaderFrame> {
        const std::int64_t period = frame.controller->ledger().options().rebalance_period;
        if (frame.epoch_length_ms != period) {
          return failure(ErrorCode::kCorrupt,
                         fmt::format("the recording's epochs take {} ms, but its options say {}",
                                     frame.epoch_length_ms, period));
        }
        return std::move(frame);
      });
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
    // Written in the current format, whatever the original one. An invalid plan stays as it is, and
    // will differ.
    Plan plan;
    const bool is_plan = Reader(*found).read(plan).has_value();
    frame.content = PlanFrame{is_plan ? plan_text(plan, nullptr) : text::json_text(*found)};
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

std::string plan_line(std::int64_t number, const Plan& plan, Anonymizer* anonymizer) {
  Json frame;
  frame["n"] = number;
  frame["plan"] = Writer(anonymizer).write(plan);
  return line_of(frame);
}

std::string plan_text(const Plan& plan, Anonymizer* anonymizer) {
  return text::json_text(Writer(anonymizer).write(plan));
}

Result<Frame> read_frame(std::string_view line) {
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  if (line.size() > kLongestFrame) {
    return failure(ErrorCode::kCorrupt,
                   fmt::format("the line is longer than {} bytes", kLongestFrame));
  }
  const std::size_t around = kFrameBegin.size() + kChecksumKey.size() + kDigits + kFrameEnd.size();
  if (line.size() < around || !line.starts_with(kFrameBegin) || !line.ends_with(kFrameEnd)) {
    return failure(ErrorCode::kCorrupt, "the line is truncated, or not a frame");
  }
  const std::string_view text = line.substr(kFrameBegin.size(), line.size() - around);
  const std::string_view rest = line.substr(kFrameBegin.size() + text.size());
  if (!rest.starts_with(kChecksumKey) ||
      rest.substr(kChecksumKey.size(), kDigits) != fmt::format("{:08x}", crc32_of(text))) {
    return failure(ErrorCode::kCorrupt, "the checksum is wrong, so the line is damaged");
  }
  return text::read_json<Json>(text, {kLongestFrame}, "the frame").and_then(read_content);
}

bool matters(const Event& event) {
  const auto* command = std::get_if<CommandReceived>(&event);
  return command == nullptr || changes_something(command->command);
}

}  // namespace vmnuma::balancer
