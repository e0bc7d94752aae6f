// SPDX-License-Identifier: Apache-2.0
/// Processes as they are started where VMs run without libvirt: each in a cgroup of its own, into
/// which it goes before it becomes QEMU.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace vmnuma::tests {

/// Cgroups of the test's own in the hierarchy of cgroup v2, wherever it is mounted.
class OwnCgroups {
 public:
  /// Nothing where cgroup v2 is not mounted or may not be written to.
  [[nodiscard]] static std::unique_ptr<OwnCgroups> make();
  OwnCgroups(const OwnCgroups&) = delete;
  OwnCgroups& operator=(const OwnCgroups&) = delete;
  /// Removes them, which must be empty.
  ~OwnCgroups();

  /// What all of them are in.
  [[nodiscard]] const std::string& path() const { return directory_; }
  /// Makes one, "100.scope", and returns its directory.
  [[nodiscard]] std::string add(const std::string& name);
  void remove(const std::string& name);

 private:
  explicit OwnCgroups(std::string directory) : directory_(std::move(directory)) {}
  std::string directory_;
  std::vector<std::string> names_;
};

/// A child process; ends with the object, and with the test.
class PlainProcess {
 public:
  /// `arguments` begin with the name that the program has on its command line. `cgroup` is a
  /// directory, or empty. Its standard input is a pipe without a writer.
  PlainProcess(const std::string& program, std::vector<std::string> arguments,
               const std::string& cgroup);
  PlainProcess(const PlainProcess&) = delete;
  PlainProcess& operator=(const PlainProcess&) = delete;
  ~PlainProcess();

  [[nodiscard]] std::int64_t pid() const { return pid_; }
  /// Waits for its first byte of output, or its end.
  void await_output() const;
  /// Ends it and collects it.
  void kill();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
};

/// A process with named vCPU threads that is no QEMU but looks like one, and is quick to start.
/// `options` are further ones of its command line, `program` is where it lies if not where it was
/// built.
struct QemuLike {
  std::string uuid;
  std::int32_t vcpus = 1;
  std::string cgroup;
  std::vector<std::string> options;
  std::string program;
};
[[nodiscard]] std::unique_ptr<PlainProcess> start(const QemuLike& qemu);
/// Where it was built.
[[nodiscard]] std::string qemu_like_program();

/// The process that started `pid`. Nothing if that has ended.
[[nodiscard]] std::optional<std::int64_t> parent_of(std::int64_t pid);

}  // namespace vmnuma::tests
