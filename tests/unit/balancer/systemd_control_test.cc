// SPDX-License-Identifier: Apache-2.0
// The adapter against a peer that speaks D-Bus as systemd does, on a socket of its own.
#include "balancer/service/systemd_control.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

using balancer::SystemdControl;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::string settings_folder() {
  return "/no/such/folder";
}

/// One call of SetUnitProperties, or of StartUnit as text.
struct Call {
  std::string unit;
  bool runtime = false;
  std::map<std::string, std::uint64_t> properties;
};

/// Answers on "unix:path=DIR/bus", one connection after the other. A refusal is answered with that
/// D-Bus error.
class FakeSystemd {
 public:
  FakeSystemd() {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof(address.sun_path) - 1);
    VMNUMA_CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    VMNUMA_CHECK(::listen(listener_, 4) == 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeSystemd() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }
  FakeSystemd(const FakeSystemd&) = delete;
  FakeSystemd& operator=(const FakeSystemd&) = delete;

  [[nodiscard]] std::string path() const { return directory_.path() + "/bus"; }
  [[nodiscard]] std::string address() const { return "unix:path=" + path(); }
  [[nodiscard]] std::vector<Call> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  void refuse(std::string name, std::string message) {
    const std::lock_guard lock(mutex_);
    refusal_ = {std::move(name), std::move(message)};
  }
  /// Closes the present connection, as a bus that is started anew does.
  void hang_up() { hang_up_ = true; }

 private:
  void serve() {
    while (!stop_) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 20) == 1) {
        serve_one(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
      }
    }
  }
  void serve_one(int fd) {
    sd_bus* bus = nullptr;
    VMNUMA_CHECK(sd_bus_new(&bus) >= 0);
    VMNUMA_CHECK(sd_bus_set_fd(bus, fd, fd) >= 0);
    VMNUMA_CHECK(sd_bus_set_server(bus, 1, sd_id128_t{{1, 2, 3, 4}}) >= 0);
    VMNUMA_CHECK(sd_bus_start(bus) >= 0);
    hang_up_ = false;
    while (!stop_ && !hang_up_) {
      sd_bus_message* message = nullptr;
      const int done = sd_bus_process(bus, &message);
      if (done < 0) {
        break;
      }
      if (message != nullptr) {
        answer(message);
        sd_bus_message_unref(message);
      } else if (done == 0) {
        constexpr std::uint64_t kShortly = 20'000;  // us
        (void)sd_bus_wait(bus, kShortly);
      }
    }
    sd_bus_close_unref(bus);
  }
  void answer(sd_bus_message* message) {
    if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus", "Hello") > 0) {
      (void)sd_bus_reply_method_return(message, "s", ":1.1");
      return;
    }
    Call call;
    if (sd_bus_message_is_method_call(message, "org.freedesktop.systemd1.Manager", "StartUnit") >
        0) {
      const char* started = nullptr;
      const char* mode = nullptr;
      (void)sd_bus_message_read(message, "ss", &started, &mode);
      call.unit = std::string("start ") + started + " " + mode;
      const std::lock_guard lock(mutex_);
      calls_.push_back(std::move(call));
      (void)sd_bus_reply_method_return(message, "o", "/org/freedesktop/systemd1/job/1");
      return;
    }
    if (sd_bus_message_is_method_call(message, "org.freedesktop.systemd1.Manager",
                                      "SetUnitProperties") <= 0) {
      return;
    }
    const char* unit = nullptr;
    int runtime = 0;
    (void)sd_bus_message_read(message, "sb", &unit, &runtime);
    call.unit = unit;
    call.runtime = runtime != 0;
    (void)sd_bus_message_enter_container(message, 'a', "(sv)");
    const char* name = nullptr;
    std::uint64_t value = 0;
    while (sd_bus_message_read(message, "(sv)", &name, "t", &value) > 0) {
      call.properties[name] = value;
    }
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    if (refusal_.first.empty()) {
      (void)sd_bus_reply_method_return(message, "");
    } else {
      (void)sd_bus_reply_method_errorf(message, refusal_.first.c_str(), "%s",
                                       refusal_.second.c_str());
    }
  }

  TempDirectory directory_;
  int listener_ = -1;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> hang_up_ = false;
  std::mutex mutex_;
  std::vector<Call> calls_;
  std::pair<std::string, std::string> refusal_;
  std::thread thread_;
};

TEST(SystemdControlTest, ASettingIsThereIfSystemdKeepsADropIn) {
  // Where it keeps those of units that are transient, and of others.
  for (const char* folder : {"transient", "system.control"}) {
    const TempDirectory settings;
    SystemdControl control("unix:path=/no/bus", settings.path());
    const std::string unit = "machine-qemu\\x2d1\\x2da.scope";
    EXPECT_FALSE(control.has_memory_settings(unit).value());
    const std::string drop_ins = settings.path() + "/" + folder + "/" + unit + ".d";
    std::filesystem::create_directories(drop_ins);
    std::ofstream(drop_ins + "/50-CPUWeight.conf") << "[Scope]\n";
    EXPECT_FALSE(control.has_memory_settings(unit).value());
    std::ofstream(drop_ins + "/50-MemorySwapMax.conf") << "[Scope]\n";
    EXPECT_TRUE(control.has_memory_settings(unit).value()) << folder;
  }
}

TEST(SystemdControlTest, RemovesSettingsByAUnitOfRoots) {
  FakeSystemd systemd;
  SystemdControl control(systemd.address(), settings_folder());
  const auto done = control.remove_memory_settings("machine-qemu\\x2d1\\x2da.scope");
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_THAT(systemd.calls(), SizeIs(1));
  EXPECT_EQ(systemd.calls()[0].unit,
            "start vmnuma-revert@machine-qemu\\x2d1\\x2da.scope.service replace");
}

TEST(SystemdControlTest, NamesAllSettingsOfTheUnit) {
  FakeSystemd systemd;
  SystemdControl control(systemd.address(), settings_folder());
  const auto done = control.set_memory("machine-qemu\\x2d1\\x2da.scope",
                                       {kGiB, kGiB / 2, std::nullopt, kGiB * 3, Bytes{0}});
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_THAT(systemd.calls(), SizeIs(1));
  const Call call = systemd.calls()[0];
  EXPECT_EQ(call.unit, "machine-qemu\\x2d1\\x2da.scope");
  EXPECT_TRUE(call.runtime);
  EXPECT_THAT(call.properties,
              UnorderedElementsAre(Pair("MemoryMin", 1U << 30U), Pair("MemoryLow", 1U << 29U),
                                   Pair("MemoryHigh", UINT64_MAX), Pair("MemoryMax", 3ULL << 30U),
                                   Pair("MemorySwapMax", 0U)));
}

TEST(SystemdControlTest, KeepsItsConnection) {
  FakeSystemd systemd;
  SystemdControl control(systemd.address(), settings_folder());
  EXPECT_TRUE(control.set_memory("a.scope", {}));
  EXPECT_TRUE(control.set_memory("b.scope", {}));
  ASSERT_THAT(systemd.calls(), SizeIs(2));
  EXPECT_EQ(systemd.calls()[1].unit, "b.scope");
}

TEST(SystemdControlTest, SaysWhatSystemdSays) {
  FakeSystemd systemd;
  SystemdControl control(systemd.address(), settings_folder());
  systemd.refuse("org.freedesktop.DBus.Error.AccessDenied", "Access denied");
  auto done = control.set_memory("a.scope", {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kPermissionDenied);
  EXPECT_EQ(done.error().message, "systemd refuses: Access denied");

  systemd.refuse("org.freedesktop.systemd1.NoSuchUnit", "Unit a.scope not loaded.");
  done = control.set_memory("a.scope", {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("Unit a.scope not loaded."));
  systemd.refuse("", "");
  EXPECT_TRUE(control.set_memory("a.scope", {}));
}

TEST(SystemdControlTest, WithoutABusIsUnavailable) {
  TempDirectory nowhere;
  SystemdControl control("unix:path=" + nowhere.path() + "/bus", settings_folder());
  const auto done = control.set_memory("a.scope", {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(done.error().message, HasSubstr("cannot connect to systemd's bus"));
}

TEST(SystemdControlTest, ConnectsAnewAfterTheBusWasStartedAnew) {
  FakeSystemd systemd;
  SystemdControl control(systemd.address(), settings_folder());
  ASSERT_TRUE(control.set_memory("a.scope", {}));
  systemd.hang_up();
  // The call that notices it may fail, the next one does not.
  bool works = false;
  for (int attempt = 0; attempt < 3 && !works; ++attempt) {
    works = control.set_memory("b.scope", {}).has_value();
  }
  EXPECT_TRUE(works);
}

}  // namespace
}  // namespace vmnuma::tests
