// SPDX-License-Identifier: Apache-2.0
#include "tools/wakeups/wakeup_counter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <tuple>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>
#include <wakeups.skel.h>
#include <wakeups_in_interrupts.skel.h>
#include <wakeups_pcpu_hot.skel.h>

#include "stats/files/file_descriptor.h"

namespace vmnuma::tools {
namespace {

/// As in wakeups.bpf.c.
struct PairKey {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// Suppresses libbpf's own messages, which are meant for authors of BPF programs.
int stay_silent(libbpf_print_level /*level*/, const char* /*format*/, va_list /*arguments*/) {
  return 0;
}

tl::unexpected<Error> cannot_load(int errno_value) {
  constexpr const char* kBtf = "/sys/kernel/btf/vmlinux";
  const std::string what = "cannot load the BPF program: ";
  if (::access(kBtf, R_OK) != 0) {
    return failure(ErrorCode::kUnsupported, what + "the kernel has no BTF (" + kBtf + ")",
                   errno_value);
  }
  if (errno_value == EPERM || errno_value == EACCES) {
    return failure(ErrorCode::kPermissionDenied,
                   what + "CAP_BPF and CAP_PERFMON are needed, and no lockdown", errno_value);
  }
  return failure(ErrorCode::kUnsupported, what + std::strerror(errno_value), errno_value);
}

}  // namespace

void WakeupCounter::Close::operator()(bpf_object* object) const {
  bpf_object__close(object);
}

void WakeupCounter::Close::operator()(bpf_link* link) const {
  (void)bpf_link__destroy(link);  // this only closes a descriptor
}

Result<WakeupCounter> WakeupCounter::load(ElfBytes bytes_of, bool reports_interrupts) {
  std::size_t size = 0;
  const void* bytes = bytes_of(&size);
  WakeupCounter counter;
  counter.object_.reset(bpf_object__open_mem(bytes, size, nullptr));
  if (!counter.object_) {
    return cannot_load(errno);
  }
  if (const int result = bpf_object__load(counter.object_.get()); result != 0) {
    return cannot_load(-result);
  }
  counter.link_.reset(
      bpf_program__attach(bpf_object__find_program_by_name(counter.object_.get(), "count_wakeup")));
  if (!counter.link_) {
    return cannot_load(errno);
  }
  counter.vms_map_ = bpf_object__find_map_fd_by_name(counter.object_.get(), "vms");
  counter.pairs_map_ = bpf_object__find_map_fd_by_name(counter.object_.get(), "pairs");
  counter.reports_interrupts_ = reports_interrupts;
  return counter;
}

Result<WakeupCounter> WakeupCounter::load() {
  (void)libbpf_set_print(stay_silent);
  auto counter = load(wakeups::elf_bytes, /*reports_interrupts=*/true);
  if (!counter) {
    counter = load(wakeups_pcpu_hot::elf_bytes, /*reports_interrupts=*/true);
  }
  if (!counter) {
    counter = load(wakeups_in_interrupts::elf_bytes, /*reports_interrupts=*/false);
  }
  return counter;
}

Result<void> WakeupCounter::set_vms(const std::set<std::uint32_t>& pids) {
  for (auto vm = vms_.begin(); vm != vms_.end();) {
    if (pids.contains(*vm)) {
      ++vm;
      continue;
    }
    (void)bpf_map_delete_elem(vms_map_, &*vm);  // a missing entry is fine, too
    vm = vms_.erase(vm);
  }
  for (const std::uint32_t pid : pids) {
    if (vms_.contains(pid)) {
      continue;
    }
    const std::uint8_t is_vm = 1;
    if (bpf_map_update_elem(vms_map_, &pid, &is_vm, BPF_ANY) != 0) {
      return errno == E2BIG ? failure(ErrorCode::kNoSpace,
                                      "there are more than " + std::to_string(kMostVms) +
                                          " VMs, the last ones are not counted",
                                      errno)
                            : tl::unexpected(files::system_error(
                                  errno, "cannot count VMs' process " + std::to_string(pid)));
    }
    vms_.insert(pid);
  }
  return {};
}

Result<std::vector<stats::PidWakeups>> WakeupCounter::read() {
  std::vector<PairKey> keys(kMostPairs);
  std::vector<std::uint64_t> counts(kMostPairs);
  std::uint32_t found = kMostPairs;
  std::uint32_t next = 0;
  // ENOENT: there are no more.
  if (bpf_map_lookup_batch(pairs_map_, nullptr, &next, keys.data(), counts.data(), &found,
                           nullptr) != 0 &&
      errno != ENOENT) {
    return tl::unexpected(files::system_error(errno, "cannot read the counted wake-ups"));
  }
  std::vector<stats::PidWakeups> read;
  for (std::size_t i = 0; i < found; ++i) {
    if (vms_.contains(keys[i].a) && vms_.contains(keys[i].b)) {
      read.push_back({keys[i].a, keys[i].b, static_cast<std::int64_t>(counts[i])});
    } else {
      (void)bpf_map_delete_elem(pairs_map_, &keys[i]);  // retried at the next reading
    }
  }
  std::sort(read.begin(), read.end(), [](const auto& left, const auto& right) {
    return std::tie(left.a, left.b) < std::tie(right.a, right.b);
  });
  return read;
}

}  // namespace vmnuma::tools
