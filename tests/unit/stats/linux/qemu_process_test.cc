// SPDX-License-Identifier: Apache-2.0
#include "stats/linux/qemu_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class QemuProcessTest : public testing::Test {
 protected:
  QemuProcessTest() { host_.start(vm_); }

  Result<QemuProcess> find() const { return find_qemu_process(root_, vm_.name, vm_.id()); }
  files::Directory tasks() const { return root_.directory("proc/500/task").value(); }

  tests::FakeVm vm_{.name = "web1",
                    .uuid = 7,
                    .domain_id = 3,
                    .pid = 500,
                    .start_time_ticks = 4242,
                    .vcpus = {{0, 501}, {1, 502}}};
  tests::FakeHost host_;
  files::Directory root_ = files::Directory::open(host_.path()).value();
};

TEST_F(QemuProcessTest, IsFoundByItsPidFile) {
  const auto process = find();
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(process->identity, (VmProcess{500, 4242}));
  EXPECT_TRUE(check_alive(*process).has_value());
}

TEST_F(QemuProcessTest, IsNotFoundWithoutPidFile) {
  host_.remove("run/libvirt/qemu/web1.pid");
  const auto process = find();
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().code, ErrorCode::kNotFound);
}

TEST_F(QemuProcessTest, HasEndedIfThePidFileIsLeftOver) {
  host_.remove("proc/500");
  const auto process = find();
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().code, ErrorCode::kVanished);
  EXPECT_THAT(process.error().message, HasSubstr("process 500"));
}

TEST_F(QemuProcessTest, HasEndedIfItWaitsToBeCollected) {
  host_.write("proc/500/stat",
              "500 (qemu) Z 1 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 4242 22\n");
  EXPECT_EQ(find().error().code, ErrorCode::kVanished);
}

TEST_F(QemuProcessTest, IsNotAnotherVmUnderTheSameNumber) {
  tests::FakeVm other = vm_;
  other.uuid = 8;
  host_.start(other);
  const auto process = find();
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(process.error().message, HasSubstr("not the QEMU of this VM"));
}

TEST_F(QemuProcessTest, IsNotAnotherProgram) {
  host_.write("proc/500/cmdline", std::string("/usr/bin/vim\0web1.pid\0", 22));
  EXPECT_EQ(find().error().code, ErrorCode::kCorrupt);
}

TEST_F(QemuProcessTest, RejectsADamagedPidFile) {
  host_.write("run/libvirt/qemu/web1.pid", "");
  EXPECT_EQ(find().error().code, ErrorCode::kCorrupt);
}

TEST_F(QemuProcessTest, NeverLeavesTheDirectoryOfPidFiles) {
  host_.write("run/libvirt/qemu/web1.pid", "500");
  for (const char* name : {"", "../qemu/web1", "a/b", "/etc/passwd"}) {
    const auto process = find_qemu_process(root_, name, vm_.id());
    ASSERT_FALSE(process.has_value()) << name;
    EXPECT_EQ(process.error().code, ErrorCode::kInvalidArgument) << name;
  }
}

TEST_F(QemuProcessTest, AcceptsOddButLegalNames) {
  tests::FakeVm odd{.name = "web 1.-#%\\é", .uuid = 9, .pid = 600, .vcpus = {{0, 601}}};
  host_.start(odd);
  EXPECT_TRUE(find_qemu_process(root_, odd.name, odd.id()).has_value());
}

TEST_F(QemuProcessTest, NoticesThatItEnded) {
  const auto process = find();
  ASSERT_TRUE(process.has_value());
  host_.stop(vm_);
  EXPECT_EQ(check_alive(*process).error().code, ErrorCode::kVanished);
}

TEST_F(QemuProcessTest, HasItsVcpuThreadsInCgroups) {
  const auto group = root_.directory(vm_.scope() + "libvirt").value();
  EXPECT_THAT(vcpu_threads_by_cgroup(group, tasks()).value(),
              ElementsAre(VcpuThread{0, 501}, VcpuThread{1, 502}));
}

TEST_F(QemuProcessTest, SortsVcpusByNumberAndNotByName) {
  host_.plug(vm_, {10, 510});
  host_.plug(vm_, {2, 520});
  const auto group = root_.directory(vm_.scope() + "libvirt").value();
  EXPECT_THAT(
      vcpu_threads_by_cgroup(group, tasks()).value(),
      ElementsAre(VcpuThread{0, 501}, VcpuThread{1, 502}, VcpuThread{2, 520}, VcpuThread{10, 510}));
}

TEST_F(QemuProcessTest, TellsAVcpuFromTheKernelsThreadInItsGroup) {
  host_.write(vm_.vcpu_group(1) + "cgroup.threads", "502\n503\n");
  host_.write("proc/500/task/503/comm", "kvm-nx-lpage-re\n");
  const auto group = root_.directory(vm_.scope() + "libvirt").value();
  EXPECT_THAT(vcpu_threads_by_cgroup(group, tasks()).value(),
              ElementsAre(VcpuThread{0, 501}, VcpuThread{1, 502}));
}

TEST_F(QemuProcessTest, LeavesOutAVcpuWhoseGroupHasNoOrTwoThreadsOfThatName) {
  host_.write(vm_.vcpu_group(0) + "cgroup.threads", "501\n504\n");
  host_.write("proc/500/task/504/comm", "CPU 0/KVM\n");
  host_.write(vm_.vcpu_group(1) + "cgroup.threads", "503\n505\n");
  host_.write("proc/500/task/503/comm", "kvm-nx-lpage-re\n");  // and 505 has ended
  const auto group = root_.directory(vm_.scope() + "libvirt").value();
  EXPECT_THAT(vcpu_threads_by_cgroup(group, tasks()).value(), IsEmpty());
}

TEST_F(QemuProcessTest, LeavesOutAVcpuThatIsBeingPlugged) {
  host_.write(vm_.vcpu_group(2) + "cgroup.threads", "");
  host_.write(vm_.vcpu_group(3) + "cgroup.procs", "");  // its files are not there yet
  const auto group = root_.directory(vm_.scope() + "libvirt").value();
  EXPECT_THAT(vcpu_threads_by_cgroup(group, tasks()).value(),
              ElementsAre(VcpuThread{0, 501}, VcpuThread{1, 502}));
}

TEST_F(QemuProcessTest, SaysWhichThreadListIsDamaged) {
  host_.write(vm_.vcpu_group(1) + "cgroup.threads", "50");
  const auto group = root_.directory(vm_.scope() + "libvirt").value();
  const auto threads = vcpu_threads_by_cgroup(group, tasks());
  ASSERT_FALSE(threads.has_value());
  EXPECT_EQ(threads.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(threads.error().message, HasSubstr("vcpu1/cgroup.threads"));
}

TEST_F(QemuProcessTest, HasItsVcpuThreadsByNameToo) {
  const auto tasks = root_.directory("proc/500/task").value();
  EXPECT_THAT(vcpu_threads_by_name(tasks).value(),
              ElementsAre(VcpuThread{0, 501}, VcpuThread{1, 502}));
}

TEST_F(QemuProcessTest, HasNoVcpuAmongOtherThreads) {
  host_.remove("proc/500/task/501");
  host_.remove("proc/500/task/502");
  const auto tasks = root_.directory("proc/500/task").value();
  EXPECT_THAT(vcpu_threads_by_name(tasks).value(), IsEmpty());
}

}  // namespace
}  // namespace vmnuma::stats
