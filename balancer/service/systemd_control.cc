// SPDX-License-Identifier: Apache-2.0
#include "balancer/service/systemd_control.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <systemd/sd-bus.h>

namespace vmnuma::balancer {
namespace {

/// systemd's value for "no limit".
constexpr std::uint64_t kInfinity = UINT64_MAX;

struct UnrefMessage {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Message = std::unique_ptr<sd_bus_message, UnrefMessage>;

std::uint64_t number_of(const std::optional<Bytes>& limit) {
  return limit ? static_cast<std::uint64_t>(limit->value) : kInfinity;
}

using Property = std::pair<const char*, std::uint64_t>;

std::array<Property, 5> properties_of(const MemoryLimits& limits) {
  return {{{"MemoryMin", number_of(limits.min)},
           {"MemoryLow", number_of(limits.low)},
           {"MemoryHigh", number_of(limits.high)},
           {"MemoryMax", number_of(limits.max)},
           {"MemorySwapMax", number_of(limits.swap_max)}}};
}

/// Appends the arguments s b a(sv). Returns a negative errno on failure.
int append(sd_bus_message* call, const std::string& unit, const MemoryLimits& limits) {
  int done = sd_bus_message_append(call, "sb", unit.c_str(), /*runtime=*/1);
  if (done >= 0) {
    done = sd_bus_message_open_container(call, 'a', "(sv)");
  }
  for (const auto& [name, value] : properties_of(limits)) {
    if (done >= 0) {
      done = sd_bus_message_append(call, "(sv)", name, "t", value);
    }
  }
  return done >= 0 ? sd_bus_message_close_container(call) : done;
}

ErrorCode code_of(int number) {
  switch (number) {
    case EACCES:
    case EPERM:
      return ErrorCode::kPermissionDenied;
    case ENOENT:
      return ErrorCode::kNotFound;
    case ETIMEDOUT:
    case ECONNRESET:
    case ENOTCONN:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

void SystemdControl::CloseBus::operator()(sd_bus* bus) const {
  sd_bus_close_unref(bus);
}

SystemdControl::SystemdControl(std::string address, std::string settings)
    : address_(std::move(address)), settings_(std::move(settings)) {}

SystemdControl::~SystemdControl() = default;

Result<void> SystemdControl::connect() {
  if (bus_ != nullptr) {
    return {};
  }
  sd_bus* bus = nullptr;
  int done = 0;
  if (address_.empty()) {
    done = sd_bus_open_system(&bus);
  } else {
    done = sd_bus_new(&bus);
    if (done >= 0) {
      done = sd_bus_set_address(bus, address_.c_str());
    }
    if (done >= 0) {
      done = sd_bus_set_bus_client(bus, 1);
    }
    if (done >= 0) {
      done = sd_bus_start(bus);
    }
  }
  std::unique_ptr<sd_bus, CloseBus> opened(bus);
  if (done < 0) {
    return failure(ErrorCode::kUnavailable,
                   fmt::format("cannot connect to systemd's bus: {}", std::strerror(-done)), -done);
  }
  bus_ = std::move(opened);
  return {};
}

Result<void> SystemdControl::set_memory(const std::string& unit, const MemoryLimits& limits) {
  return call("SetUnitProperties",
              [&](sd_bus_message* message) { return append(message, unit, limits); });
}

Result<bool> SystemdControl::has_memory_settings(const std::string& unit) {
  for (const char* folder : {"system.control", "transient"}) {
    for (const auto& [name, value] : properties_of({})) {
      std::error_code error;
      const bool there = std::filesystem::exists(
          fmt::format("{}/{}/{}.d/50-{}.conf", settings_, folder, unit, name), error);
      if (error) {
        return failure(ErrorCode::kIo,
                       fmt::format("cannot look for settings of '{}' in '{}': {}", unit, settings_,
                                   error.message()),
                       error.value());
      }
      if (there) {
        return true;
      }
    }
  }
  return false;
}

Result<void> SystemdControl::remove_memory_settings(const std::string& unit) {
  const std::string service = fmt::format("vmnuma-revert@{}.service", unit);
  return call("StartUnit", [&](sd_bus_message* message) {
    return sd_bus_message_append(message, "ss", service.c_str(), "replace");
  });
}

Result<void> SystemdControl::call(const char* method,
                                  const std::function<int(sd_bus_message*)>& add) {
  VMNUMA_RETURN_IF_ERROR(connect());
  sd_bus_message* created = nullptr;
  int done = sd_bus_message_new_method_call(bus_.get(), &created, "org.freedesktop.systemd1",
                                            "/org/freedesktop/systemd1",
                                            "org.freedesktop.systemd1.Manager", method);
  const Message message(created);
  if (done >= 0) {
    done = add(message.get());
  }
  sd_bus_error error{};
  if (done >= 0) {
    const auto patience = std::chrono::duration_cast<std::chrono::microseconds>(kPatience);
    done =
        sd_bus_call(bus_.get(), message.get(), static_cast<std::uint64_t>(patience.count()), &error,
                    /*ret_reply=*/nullptr);
  }
  if (done >= 0) {
    return {};
  }
  const std::string why = error.message != nullptr ? error.message : std::strerror(-done);
  sd_bus_error_free(&error);
  const ErrorCode code = code_of(-done);
  if (code == ErrorCode::kUnavailable || code == ErrorCode::kIo) {
    bus_.reset();  // whatever is wrong with it, the next call connects again
  }
  return failure(code, fmt::format("systemd refuses: {}", why), -done);
}

}  // namespace vmnuma::balancer
