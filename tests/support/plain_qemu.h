// SPDX-License-Identifier: Apache-2.0
/// Processes started like VMs without libvirt: each in a cgroup of its own, which it enters before
/// it executes QEMU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace vmnuma::tests {

/// The test's own cgroups in the cgroup v2 hierarchy, wherever that is mounted.
class OwnCgroups {
 public:
  /// Returns nothing if cgroup v2 is not mounted or not writable.
  [[nodiscard]] static std::unique_ptr<OwnCgroups> make();
  OwnCgroups(const OwnCgroups&) = delete;
  OwnCgroups& operator=(const OwnCgroups&) = delete;
  /// Removes the cgroups, which must be empty.
  ~OwnCgroups();

  /// Returns the directory that contains all of them.
  [[nodiscard]] const std::string& path() const { return directory_; }
  /// Creates a cgroup, such as "100.scope", and returns its directory.
  [[nodiscard]] std::string add(const std::string& name);
  void remove(const std::string& name);

 private:
  explicit OwnCgroups(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
  std::vector<std::string> names_;
};

/// A child process, which ends with the object, and with the test.
class PlainProcess {
 public:
  /// `arguments` begins with the program's name as shown on its command line. `cgroup` is a
  /// directory, or empty. Its standard input is a pipe without a writer.
  PlainProcess(const std::string& program, std::vector<std::string> arguments,
               const std::string& cgroup);
  PlainProcess(const PlainProcess&) = delete;
  PlainProcess& operator=(const PlainProcess&) = delete;
  ~PlainProcess();

  [[nodiscard]] std::int64_t pid() const { return pid_; }
  /// Waits for the process's first byte of output, or its end.
  void await_output() const;
  /// Kills the process and reaps it.
  void kill();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
};

/// A process with named vCPU threads that looks like QEMU but starts quickly. `options` are added
/// to its command line; `program` is its path if it is not where it was built.
struct QemuLike {
  std::string uuid;
  std::int32_t vcpus = 1;
  std::string cgroup;
  std::vector<std::string> options;
  std::string program;
};
[[nodiscard]] std::unique_ptr<PlainProcess> start(const QemuLike& qemu);
/// Returns the path where it was built.
[[nodiscard]] std::string qemu_like_program();

/// Returns the parent of `pid`; nothing if `pid` has ended.
[[nodiscard]] std::optional<std::int64_t> parent_of(std::int64_t pid);

}  // namespace vmnuma::tests
