// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/libvirt/virsh.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "placement/model/text.h"
#include "tests/support/temp_directory.h"

namespace vmnuma::tests {
namespace {

std::string first_line_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<CpuId> affinity_of(pid_t tid) {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(tid, sizeof(set), &set), 0);
  std::vector<CpuId> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) {
      cpus.push_back({cpu});
    }
  }
  return cpus;
}

}  // namespace

std::string shell(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t size = 0; (size = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.append(buffer.data(), size);
  }
  EXPECT_EQ(::pclose(pipe), 0) << command << ": " << output;
  return output;
}

std::string virsh(const std::string& arguments) {
  return shell("virsh --quiet " + arguments);
}

void stop_libvirtd() {
  shell("\"$VMNUMA_TEST_LIBVIRTD\" --stop");
}
void start_libvirtd() {
  shell("\"$VMNUMA_TEST_LIBVIRTD\" --start");
}

std::string libvirtd_pid() {
  return first_line_of("/run/libvirt/private/libvirtd.pid");
}

std::string guest_xml(const std::string& name, const std::string& elements) {
  return fmt::format(
      "<domain type='qemu'><name>{}</name><memory unit='MiB'>32</memory>"
      "<vcpu current='2'>4</vcpu><iothreads>1</iothreads>{}"
      "<os><type arch='x86_64' machine='q35'>hvm</type></os>"
      "<features><acpi/></features></domain>",
      name, elements);
}

VmId start_guest(const std::string& name, const std::string& elements) {
  const TempDirectory directory;
  const std::string file = directory.path() + "/guest.xml";
  std::ofstream(file) << guest_xml(name, elements);
  virsh("create " + file);
  return id_of(name);
}

VmId id_of(const std::string& name) {
  std::string uuid = virsh("domuuid " + name);
  while (!uuid.empty() && uuid.back() == '\n') {
    uuid.pop_back();
  }
  const auto id = parse_vm_id(uuid);
  EXPECT_TRUE(id.has_value()) << uuid;
  return id.value_or(VmId{});
}

std::vector<CpuId> allowed_cpus(const std::string& name, const std::string& thread) {
  const std::string pid = first_line_of("/run/libvirt/qemu/" + name + ".pid");
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
    if (first_line_of(task.path() / "comm") == thread) {
      return affinity_of(std::stoi(task.path().filename()));
    }
  }
  ADD_FAILURE() << "QEMU of '" << name << "' has no thread '" << thread << "'";
  return {};
}

std::vector<CpuId> host_cpus() {
  return affinity_of(0);
}

}  // namespace vmnuma::tests
