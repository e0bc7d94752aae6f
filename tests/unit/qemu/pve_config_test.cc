// SPDX-License-Identifier: Apache-2.0
#include "balancer/qemu/pve_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_host.h"

namespace vmnuma::balancer::qemu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kConfig =
    "#Mail of the whole firm\n"
    "#vmnuma%3A nodes=0-1 strategy=MostAllocated\n"
    "agent: 1\n"
    "cores: 4\n"
    "hugepages: 2\n"
    "memory: 8192\n"
    "name: mail\n"
    "numa: 1\n"
    "scsi0: local-lvm:vm-100-disk-0,size=32G\n"
    "tags: firm;mail\n"
    "\n"
    "[PENDING]\n"
    "affinity: 0-3\n"
    "[before-upgrade]\n"
    "#vmnuma%3A do_not_move=true\n"
    "affinity: 4\n";

TEST(PveConfigTest, ThePolicyIsALineOfTheDescription) {
  const PveConfig config = parse_pve_config(kConfig);
  EXPECT_THAT(config.policy, ElementsAre(PolicySetting{"nodes", "0-1"},
                                         PolicySetting{"strategy", "MostAllocated"}));
}

TEST(PveConfigTest, SnapshotsAndPendingChangesDoNotCount) {
  EXPECT_EQ(parse_pve_config(kConfig).value("affinity"), "");
  EXPECT_EQ(parse_pve_config("affinity: 0,5,8-11\n").value("affinity"), "0,5,8-11");
}

TEST(PveConfigTest, ADescriptionInOneLineIsReadToo) {
  EXPECT_THAT(parse_pve_config("description: one%0Avmnuma%3A nodes=1%0Athree\n").policy,
              ElementsAre(PolicySetting{"nodes", "1"}));
}

TEST(PveConfigTest, WordsThatAreNoSettingsAreKeptForTheirChecker) {
  EXPECT_THAT(parse_pve_config("#vmnuma: quickly x=\n").policy,
              ElementsAre(PolicySetting{"quickly", ""}, PolicySetting{"x", ""}));
}

TEST(PveConfigTest, TagsOfOursArePolicyToo) {
  EXPECT_THAT(
      parse_pve_config("tags: firm;vmnuma.nodes.0-1+3;vmnumad.x.y;vmnuma.do_not_move\n").policy,
      ElementsAre(PolicySetting{"nodes", "0-1,3"}, PolicySetting{"do_not_move", "true"}));
  EXPECT_THAT(parse_pve_config("tags: vmnuma.affinity_group.db.1, vmnuma.quickly.2\n").policy,
              ElementsAre(PolicySetting{"affinity_group", "db.1"}, PolicySetting{"quickly", "2"}));
  EXPECT_THAT(parse_pve_config("tags: ;;vmnuma.;vmnuma\n").policy,
              ElementsAre(PolicySetting{"", "true"}));
}

TEST(PveConfigTest, TheDescriptionCountsBeforeTags) {
  EXPECT_THAT(
      parse_pve_config("#vmnuma%3A nodes=1\ntags: vmnuma.nodes.0;vmnuma.prefer_ht\n").policy,
      ElementsAre(PolicySetting{"nodes", "1"}, PolicySetting{"prefer_ht", "true"}));
}

TEST(PveConfigTest, TagsOfASnapshotDoNotCount) {
  EXPECT_THAT(parse_pve_config("[before]\ntags: vmnuma.nodes.0\n").policy, IsEmpty());
}

TEST(PveConfigTest, AnyTextIsAConfiguration) {
  EXPECT_EQ(parse_pve_config(""), PveConfig{});
  EXPECT_EQ(parse_pve_config("%\n#%\n#%zz%4\n:\nno colon"), PveConfig{});
}

TEST(PveConfigTest, AScopeOfTheSliceIsAVm) {
  EXPECT_EQ(vmid_of_scope("/qemu.slice/100.scope"), 100);
  EXPECT_EQ(vmid_of_scope("/qemu.slice/web.scope"), std::nullopt);
  EXPECT_EQ(vmid_of_scope("/qemu.slice/100.scope/x"), std::nullopt);
  EXPECT_EQ(vmid_of_scope("/machine.slice/100.scope"), std::nullopt);
}

class PvePolicyTest : public testing::Test {
 protected:
  DescribedVm described(std::string_view cgroup) {
    DescribedVm vm;
    add_pve_policy(root_, cgroup, vm);
    return vm;
  }
  tests::FakeHost host_;
  files::Directory root_ = files::Directory::open(host_.path()).value();
};

TEST_F(PvePolicyTest, AVmHasThePolicyOfItsConfiguration) {
  host_.write("etc/pve/qemu-server/100.conf", kConfig);
  EXPECT_THAT(
      described("/qemu.slice/100.scope").description.own_policy,
      ElementsAre(PolicySetting{"nodes", "0-1"}, PolicySetting{"strategy", "MostAllocated"}));
  EXPECT_THAT(described("/user.slice").description.own_policy, IsEmpty());
}

TEST_F(PvePolicyTest, AVmThatMigratesToThisNodeHasItsPolicyAlready) {
  host_.write("etc/pve/nodes/other/qemu-server/104.conf", kConfig);
  EXPECT_THAT(described("/qemu.slice/104.scope").description.own_policy, testing::SizeIs(2));
}

TEST_F(PvePolicyTest, AVmWithAnAffinityIsLeftWhereItIsWhichIsSaid) {
  host_.write("etc/pve/qemu-server/101.conf",
              "#vmnuma%3A memory_mode=soft nodes=0\naffinity: 0-3\n");
  const DescribedVm vm = described("/qemu.slice/101.scope");
  EXPECT_THAT(vm.description.own_policy,
              ElementsAre(PolicySetting{"nodes", "0"}, PolicySetting{"do_not_move", "true"},
                          PolicySetting{"memory_mode", "hands-off"}));
  EXPECT_THAT(vm.notes, ElementsAre(HasSubstr("affinity 0-3")));
}

TEST_F(PvePolicyTest, AFileThatCannotBeReadIsSaidAndOneThatIsNotThereIsNot) {
  EXPECT_THAT(described("/qemu.slice/102.scope").notes, IsEmpty());
  host_.write("etc/pve/qemu-server/103.conf/x", "");
  EXPECT_THAT(described("/qemu.slice/103.scope").notes,
              ElementsAre(HasSubstr("Proxmox VE cannot be read")));
}

}  // namespace
}  // namespace vmnuma::balancer::qemu
