// SPDX-License-Identifier: Apache-2.0
/// Tests vmnuma-wakeups with the real kernel: children play ping-pong over pipes, and those that
/// have a pid file are VMs.
///
/// Both players are on one CPU, so that one is asleep when the other serves, unless it was
/// preempted just before: at least one of the two wake-ups of a round is certain.
// Without this, linux/vhost.h includes code that is not C++.
#define VIRTIO_RING_NO_LEGACY

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/vhost.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stats/files/file_descriptor.h"
#include "stats/linux/wakeup_counts.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

using files::FileDescriptor;
using stats::PidWakeups;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kRounds = 1000;
constexpr std::int64_t kInitialPidNamespace = 0xeffffffc;  // Linux 6.1, linux/proc_ns.h

std::optional<std::string> why_not_here() {
  if (::geteuid() != 0) {
    return "needs root to load BPF programs";
  }
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return "the kernel has no BTF (/sys/kernel/btf/vmlinux)";
  }
  // A container may refuse BPF even to root.
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_ARRAY;
  map.key_size = map.value_size = sizeof(std::uint32_t);
  map.max_entries = 1;
  const files::FileDescriptor made(
      static_cast<int>(::syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map)));
  if (made.get() < 0) {
    return std::string("BPF is not permitted here: ") + std::strerror(errno);
  }
  struct stat pids {};
  if (::stat("/proc/self/ns/pid", &pids) != 0 ||
      static_cast<std::int64_t>(pids.st_ino) != kInitialPidNamespace) {
    return "pids are not the kernel's own in this pid namespace";
  }
  return std::nullopt;
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    VMNUMA_CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0);
    read_end = files::FileDescriptor(ends[0]);
    write_end = files::FileDescriptor(ends[1]);
  }
  files::FileDescriptor read_end{-1};
  files::FileDescriptor write_end{-1};
};

bool take(const Pipe& pipe) {
  char c = 0;
  return files::uninterrupted([&] { return ::read(pipe.read_end.get(), &c, 1); }) == 1;
}

bool give(const Pipe& pipe) {
  const char c = 'x';
  return ::write(pipe.write_end.get(), &c, 1) == 1;
}

void stay_on_one_cpu() {
  cpu_set_t set{};
  VMNUMA_CHECK(::sched_getaffinity(0, sizeof(set), &set) == 0);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &set)) {
    ++first;
  }
  CPU_ZERO(&set);
  CPU_SET(first, &set);
  VMNUMA_CHECK(::sched_setaffinity(0, sizeof(set), &set) == 0);
}

/// A child that does some work and then waits to be killed.
template <class Work>
pid_t start(Work work) {
  const pid_t pid = ::fork();
  VMNUMA_CHECK(pid >= 0);
  if (pid == 0) {
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    for (;;) {
      (void)::pause();
    }
  }
  return pid;
}

void end(pid_t pid) {
  (void)::kill(pid, SIGKILL);
  (void)::waitpid(pid, nullptr, 0);
}

/// Two processes that wake each other in turn on request, and then wait to be killed.
class PingPong {
 public:
  PingPong() {
    first_ = start([this] {
      stay_on_one_cpu();
      (void)take(go_);
      for (int round = 0; round < kRounds; ++round) {
        (void)give(ping_);
        (void)take(pong_);
      }
      (void)give(done_);
    });
    second_ = start([this] {
      stay_on_one_cpu();
      for (int round = 0; round < kRounds; ++round) {
        (void)take(ping_);
        (void)give(pong_);
      }
    });
  }
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;
  ~PingPong() {
    end(first_);
    end(second_);
  }

  [[nodiscard]] pid_t first() const { return first_; }
  [[nodiscard]] pid_t second() const { return second_; }
  void play() const { VMNUMA_CHECK(give(go_) && take(done_)); }

 private:
  Pipe go_;
  Pipe ping_;
  Pipe pong_;
  Pipe done_;
  pid_t first_ = 0;
  pid_t second_ = 0;
};

/// A process with a vhost thread, and another one that wakes that thread, like a VM that sends to
/// it.
class VhostKicks {
 public:
  explicit VhostKicks(files::FileDescriptor vhost) {
    owner_ = start([&] {
      vhost_vring_file ring{.index = 0, .fd = kick_.get()};
      if (::ioctl(vhost.get(), VHOST_SET_OWNER) == 0 &&
          ::ioctl(vhost.get(), VHOST_SET_VRING_KICK, &ring) == 0) {
        (void)give(ready_);
      }
    });
    sender_ = start([this] {
      const std::uint64_t one = 1;
      while (take(go_)) {
        (void)::write(kick_.get(), &one, sizeof(one));
      }
    });
    VMNUMA_CHECK(take(ready_));
  }
  VhostKicks(const VhostKicks&) = delete;
  VhostKicks& operator=(const VhostKicks&) = delete;
  ~VhostKicks() {
    end(owner_);
    end(sender_);
  }

  [[nodiscard]] pid_t owner() const { return owner_; }
  [[nodiscard]] pid_t sender() const { return sender_; }
  void send() const { VMNUMA_CHECK(give(go_)); }

 private:
  Pipe ready_;
  Pipe go_;
  files::FileDescriptor kick_{::eventfd(0, EFD_CLOEXEC)};
  pid_t owner_ = 0;
  pid_t sender_ = 0;
};

/// A run of the program. The constructor returns once it has printed its first line or given up.
class Counting {
 public:
  /// `before`: a program, with arguments, that starts it, or nothing.
  explicit Counting(const std::vector<pid_t>& vms, std::vector<std::string> before = {}) {
    VMNUMA_CHECK(::mkdir(pid_dir().c_str(), 0755) == 0);
    for (const pid_t pid : vms) {
      std::ofstream(pid_file(pid)) << pid << "\n";
    }
    // For a run as another user, who may have no access to the build tree.
    VMNUMA_CHECK(::chmod(directory_.path().c_str(), 0777) == 0);
    const std::string program = directory_.path() + "/vmnuma-wakeups";
    std::filesystem::copy_file(VMNUMA_WAKEUPS, program);
    VMNUMA_CHECK(::inotify_add_watch(news_.get(), directory_.path().c_str(), IN_MOVED_TO) >= 0);
    std::vector<std::string> words = std::move(before);
    words.insert(words.end(),
                 {program, "--pid-dir", pid_dir(), "--output", output(), "--period", "20"});
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    std::optional<Pipe> said(std::in_place);
    program_ = ::fork();
    VMNUMA_CHECK(program_ >= 0);
    if (program_ == 0) {
      (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
      (void)::dup2(said->write_end.get(), STDOUT_FILENO);
      (void)::dup2(said->write_end.get(), STDERR_FILENO);
      (void)::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
    said->write_end = files::FileDescriptor(-1);
    for (char c = 0;
         ::read(said->read_end.get(), &c, 1) == 1 && !written_text_.ends_with("writes '");) {
      written_text_ += c;
    }
    out_ = std::move(said->read_end);
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
  ~Counting() {
    if (program_ > 0) {
      (void)end();
    }
  }

  /// Returns what it printed before it was ready or gave up.
  [[nodiscard]] const std::string& said() const { return written_text_; }
  [[nodiscard]] bool has_file() const { return ::access(output().c_str(), F_OK) == 0; }
  void forget(pid_t pid) const { VMNUMA_CHECK(::unlink(pid_file(pid).c_str()) == 0); }

  /// Returns the first contents, from now on, for which `is_it` is true; the last ones if that
  /// takes more than 20 seconds.
  template <class Condition>
  std::vector<PidWakeups> pairs_when(Condition is_it) {
    std::vector<PidWakeups> pairs;
    constexpr int kLimitMs = 20'000;
    for (int left = 1000; left > 0; --left) {
      pollfd news{news_.get(), POLLIN, 0};
      if (::poll(&news, 1, kLimitMs) != 1) {
        break;
      }
      alignas(inotify_event) std::array<char, 4096> events{};
      (void)::read(news_.get(), events.data(), events.size());
      std::ifstream file(output());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const auto counts = stats::parse_wakeup_counts(text);
      if (!counts) {
        ADD_FAILURE() << counts.error().message;
        break;
      }
      pairs = counts->pairs;
      if (is_it(pairs)) {
        break;
      }
    }
    return pairs;
  }

  /// Asks it to end; returns its exit status, or -1.
  int end() {
    (void)::kill(program_, SIGTERM);
    int status = 0;
    (void)::waitpid(std::exchange(program_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  [[nodiscard]] std::string pid_dir() const { return directory_.path() + "/pids"; }
  [[nodiscard]] std::string output() const { return directory_.path() + "/counts"; }
  [[nodiscard]] std::string pid_file(pid_t pid) const {
    return fmt::format("{}/vm{}.pid", pid_dir(), pid);
  }

  TempDirectory directory_;
  files::FileDescriptor news_{::inotify_init1(IN_CLOEXEC)};
  files::FileDescriptor out_{-1};
  std::string written_text_;
  pid_t program_ = 0;
};

class WakeupsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_not_here()) {
      GTEST_SKIP() << *why;
    }
  }
};

TEST_F(WakeupsTest, CountsOnlyWakeUpsBetweenTheTwoVms) {
  const PingPong vms;
  const PingPong others;
  const PingPong more;
  Counting counting({vms.second(), vms.first(), more.first()});
  ASSERT_THAT(counting.said(), HasSubstr("writes '"));
  others.play();
  more.play();  // between a VM and a process that is not a VM
  vms.play();
  const std::vector<PidWakeups> pairs =
      counting.pairs_when([](const auto& now) { return !now.empty() && now[0].count >= kRounds; });
  ASSERT_THAT(pairs, testing::SizeIs(1));
  EXPECT_EQ(pairs[0].a, std::min(vms.first(), vms.second()));
  EXPECT_EQ(pairs[0].b, std::max(vms.first(), vms.second()));
  EXPECT_GE(pairs[0].count, kRounds);
  EXPECT_LE(pairs[0].count, 2 * kRounds + 2);  // two per round
  EXPECT_EQ(counting.end(), 0);
}

TEST_F(WakeupsTest, ForgetsPairsOfAVmThatIsGone) {
  const PingPong vms;
  Counting counting({vms.first(), vms.second()});
  vms.play();
  EXPECT_THAT(counting.pairs_when([](const auto& now) { return !now.empty(); }),
              testing::SizeIs(1));
  counting.forget(vms.second());
  EXPECT_THAT(counting.pairs_when([](const auto& now) { return now.empty(); }), IsEmpty());
}

TEST_F(WakeupsTest, VhostThreadsCountForTheirVm) {
  files::FileDescriptor vhost(::open("/dev/vhost-net", O_RDWR | O_CLOEXEC));
  if (vhost.get() < 0) {
    GTEST_SKIP() << "there is no /dev/vhost-net";
  }
  const VhostKicks vms(std::move(vhost));
  Counting counting({vms.owner(), vms.sender()});
  EXPECT_THAT(counting.pairs_when([&](const auto& now) {
    vms.send();
    return !now.empty();
  }),
              testing::SizeIs(1));
}

TEST_F(WakeupsTest, LeavesNoFileBehind) {
  Counting counting({});
  EXPECT_TRUE(counting.has_file());
  EXPECT_EQ(counting.end(), 0);
  EXPECT_FALSE(counting.has_file());
}

TEST_F(WakeupsTest, NeedsTwoCapabilitiesAndNoMore) {
  const PingPong vms;
  Counting counting({vms.first(), vms.second()},
                    {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                     "--bounding-set=-all,+bpf,+perfmon", "--inh-caps=-all,+bpf,+perfmon",
                     "--ambient-caps=-all,+bpf,+perfmon"});
  ASSERT_THAT(counting.said(), HasSubstr("writes '"));
  vms.play();
  EXPECT_THAT(counting.pairs_when([](const auto& now) { return !now.empty(); }),
              testing::SizeIs(1));
}

TEST_F(WakeupsTest, SaysWhatIsMissingWithoutThem) {
  Counting counting({}, {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                         "--inh-caps=-all", "--bounding-set=-all"});
  EXPECT_THAT(counting.said(), HasSubstr("CAP_BPF and CAP_PERFMON are needed"));
  EXPECT_THAT(counting.said(), HasSubstr("only declared affinity groups have an effect"));
  EXPECT_EQ(counting.end(), 1);
}

}  // namespace
}  // namespace vmnuma::tests
