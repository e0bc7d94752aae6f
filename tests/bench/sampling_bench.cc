// SPDX-License-Identifier: Apache-2.0
/// What one epoch of sampling costs: 4000 real threads in 500 processes that look like QEMU, read
/// from the real /proc and /sys. The goal is less than 10 ms of CPU time an epoch, half a percent
/// of one core at two seconds.
///
/// Counters: every vCPU's run and wait time, the case of almost every VM in almost every epoch.
///
/// WithTurns: the same plus full readings of 25 VMs, as by default. These processes are in no
/// cgroup of libvirt, so each such reading walks the mappings instead of reading memory.numa_stat.
///
/// FirstEpoch: everything is opened; once after a start.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "placement/base/result.h"
#include "stats/sampler.h"
#include "stats/topology/topology_reader.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_qemu.h"

namespace vmnuma::stats {
namespace {

constexpr int kVms = 500;
constexpr int kVcpusPerVm = 8;

/// Sampling needs a descriptor for each thread; the service raises its limit in the same way.
void raise_descriptor_limit() {
  rlimit limit{};
  VMNUMA_CHECK(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  VMNUMA_CHECK(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

class SamplingBench : public benchmark::Fixture {
 public:
  void SetUp(benchmark::State&) override {
    raise_descriptor_limit();
    host_ = std::make_unique<tests::FakeHost>();
    host_->link("proc", "/proc");
    host_->link("sys", "/sys");
    for (int i = 0; i < kVms; ++i) {
      VmDescription vm;
      vm.id.uuid[14] = static_cast<std::uint8_t>(i / 256);
      vm.id.uuid[15] = static_cast<std::uint8_t>(i % 256);
      vm.name = "vm" + std::to_string(i);
      vm.domain_id = i;
      qemus_.push_back(std::make_unique<tests::FakeQemu>(vm.id, kVcpusPerVm));
      host_->write("run/libvirt/qemu/" + vm.name + ".pid", std::to_string(qemus_.back()->pid()));
      running_.push_back(std::move(vm));
    }
  }

  void TearDown(benchmark::State&) override {
    running_.clear();
    qemus_.clear();
    host_.reset();
  }

 protected:
  [[nodiscard]] Sampler make_sampler(std::size_t slow_vms_per_epoch) const {
    return {files::Directory::open(host_->path()).value(),
            read_topology(files::Directory::open("/").value()).value().topology,
            {.slow_vms_per_epoch = slow_vms_per_epoch}};
  }

  void sample(Sampler& sampler) {
    const std::set<VmId> none;
    const Sample sample = sampler.sample(
        {.sequence = 1, .now = {}, .running = running_, .moving = none, .spilling = none});
    VMNUMA_CHECK(sample.vms.size() == kVms);
    VMNUMA_CHECK(sample.vms.back().vcpus.size() == kVcpusPerVm);
  }

  void run(benchmark::State& state, std::size_t slow_vms_per_epoch) {
    Sampler sampler = make_sampler(slow_vms_per_epoch);
    sample(sampler);  // opens everything
    for ([[maybe_unused]] const auto _ : state) {
      sample(sampler);
    }
    state.counters["threads"] = kVms * kVcpusPerVm;
  }

 private:
  std::unique_ptr<tests::FakeHost> host_;
  std::vector<std::unique_ptr<tests::FakeQemu>> qemus_;
  std::vector<VmDescription> running_;
};

BENCHMARK_DEFINE_F(SamplingBench, Counters)(benchmark::State& state) {
  run(state, 0);
}
BENCHMARK_REGISTER_F(SamplingBench, Counters)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(SamplingBench, WithTurns)(benchmark::State& state) {
  run(state, SamplerOptions{}.slow_vms_per_epoch);
}
BENCHMARK_REGISTER_F(SamplingBench, WithTurns)->Unit(benchmark::kMillisecond);

BENCHMARK_DEFINE_F(SamplingBench, FirstEpoch)(benchmark::State& state) {
  for ([[maybe_unused]] const auto _ : state) {
    Sampler sampler = make_sampler(0);
    sample(sampler);
  }
  state.counters["threads"] = kVms * kVcpusPerVm;
}
BENCHMARK_REGISTER_F(SamplingBench, FirstEpoch)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vmnuma::stats

BENCHMARK_MAIN();
