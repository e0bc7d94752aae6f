// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plain_qemu.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "placement/base/result.h"

namespace vmnuma::tests {

std::unique_ptr<OwnCgroups> OwnCgroups::make() {
  for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    const std::string directory = std::string(mount) + "/vmnuma-test-" + std::to_string(::getpid());
    std::error_code error;
    if (std::filesystem::exists(std::string(mount) + "/cgroup.procs", error) &&
        std::filesystem::create_directory(directory, error)) {
      return std::unique_ptr<OwnCgroups>(new OwnCgroups(directory));
    }
  }
  return nullptr;
}

OwnCgroups::~OwnCgroups() {
  for (const std::string& name : std::vector(names_)) {
    remove(name);
  }
  ::rmdir(directory_.c_str());
}

std::string OwnCgroups::add(const std::string& name) {
  names_.push_back(name);
  std::string directory = directory_ + "/" + name;
  VMNUMA_CHECK(std::filesystem::create_directory(directory));
  return directory;
}

void OwnCgroups::remove(const std::string& name) {
  std::erase(names_, name);
  ::rmdir((directory_ + "/" + name).c_str());
}

PlainProcess::PlainProcess(const std::string& program, std::vector<std::string> arguments,
                           const std::string& cgroup) {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  VMNUMA_CHECK(::pipe2(input.data(), O_CLOEXEC) == 0);
  VMNUMA_CHECK(::pipe2(output.data(), O_CLOEXEC) == 0);
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  const std::string procs = cgroup.empty() ? "" : cgroup + "/cgroup.procs";
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  VMNUMA_CHECK(pid_ >= 0);
  if (pid_ == 0) {  // only what is safe after forking a process with threads
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    if (!procs.empty()) {
      const int fd = ::open(procs.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0 || ::write(fd, "0", 1) != 1) {
        ::_exit(126);
      }
      ::close(fd);
    }
    if (::getppid() == parent) {
      ::execv(program.c_str(), argv.data());
    }
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  input_ = input[1];
  output_ = output[0];
}

PlainProcess::~PlainProcess() {
  kill();
}

void PlainProcess::await_output() const {
  char byte = 0;
  (void)!::read(output_, &byte, 1);
}

void PlainProcess::kill() {
  if (pid_ < 0) {
    return;
  }
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  ::close(input_);
  ::close(output_);
}

std::unique_ptr<PlainProcess> start(const QemuLike& qemu) {
  std::vector<std::string> arguments{"qemu-system-like", "-uuid", qemu.uuid,
                                     std::to_string(qemu.vcpus)};
  arguments.insert(arguments.end(), qemu.options.begin(), qemu.options.end());
  return std::make_unique<PlainProcess>(qemu.program.empty() ? qemu_like_program() : qemu.program,
                                        std::move(arguments), qemu.cgroup);
}

std::string qemu_like_program() {
  return VMNUMA_FAKE_QEMU;
}

std::optional<std::int64_t> parent_of(std::int64_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kParent = "PPid:";
    if (line.starts_with(kParent)) {
      return std::stoll(line.substr(kParent.size()));
    }
  }
  return std::nullopt;
}

}  // namespace vmnuma::tests
