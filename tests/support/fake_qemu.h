// SPDX-License-Identifier: Apache-2.0
/// A real process that looks like a VM's QEMU: its command line names the UUID, its threads are
/// called "CPU 0/KVM". It serves for what a directory of files cannot imitate: threads that end
/// while their files are open, and processes that restart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "placement/model/ids.h"

namespace vmnuma::tests {

class FakeQemu {
 public:
  /// Starts the process with vCPUs 0 to `vcpus` - 1 and returns when they exist.
  FakeQemu(const VmId& id, std::int32_t vcpus);
  FakeQemu(const FakeQemu&) = delete;
  FakeQemu& operator=(const FakeQemu&) = delete;
  ~FakeQemu();

  [[nodiscard]] std::int64_t pid() const { return pid_; }

  /// These return when they are done.
  void plug(std::int32_t vcpu);
  void unplug(std::int32_t vcpu);
  /// Lets a vCPU's thread use at least 20 ms of CPU time.
  void burn(std::int32_t vcpu);
  /// Kills the process and reaps it.
  void kill();

 private:
  void command(std::string_view verb, std::int32_t vcpu);

  pid_t pid_ = -1;
  int commands_ = -1;
  int answers_ = -1;
};

}  // namespace vmnuma::tests
