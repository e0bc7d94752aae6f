#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests check-layers on small trees. Usage: check_layers_test.py CHECK_LAYERS"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK_LAYERS = pathlib.Path(sys.argv.pop(1)).resolve()


class CheckLayers(unittest.TestCase):
    def check(self, **files):
        """Runs the check on a tree; `files` maps a path with __ for / and _cc or _h for the suffix
        to its includes (or other lines)."""
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, lines in files.items():
                path, _, suffix = name.replace("__", "/").rpartition("_")
                path = root / f"{path}.{suffix}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(line + "\n" if line[0] not in '<"' else
                                        f"#include {line}\n" for line in lines))
            result = subprocess.run([CHECK_LAYERS, "--root", root], capture_output=True, text=True,
                                    check=False)
            return result.returncode, result.stdout + result.stderr

    def assert_passes(self, **files):
        self.assertEqual(self.check(**files), (0, ""))

    def assert_finds(self, expected, **files):
        status, text = self.check(**files)
        self.assertEqual(status, 1, text)
        self.assertIn(expected, text)

    def test_accepts_arrows_that_point_down(self):
        self.assert_passes(placement__a_h=['"placement/model/b.h"', "<vector>"],
                           placement__model__b_h=["<tl/expected.hpp>"],
                           balancer__core__c_h=['"placement/a.h"'],
                           balancer__controller__d_cc=['"balancer/core/c.h"', "<fmt/format.h>",
                                                        '"placement/a.h"'],
                           stats__e_cc=['"placement/a.h"', "<dirent.h>", "<sys/stat.h>"])

    def test_finds_placement_looking_up(self):
        self.assert_finds("placement/a.cc:1: 'placement' may not include 'balancer/core'",
                          placement__a_cc=['"balancer/core/b.h"'], balancer__core__b_h=[])

    def test_finds_the_core_looking_up(self):
        self.assert_finds("'balancer/core' may not include 'balancer/controller'",
                          balancer__core__a_cc=['"balancer/controller/b.h"'], balancer__controller__b_h=[])

    def test_finds_folders_that_include_each_other(self):
        self.assert_finds("in a circle: tools/a, tools/b, tools/c",
                          tools__a__a_h=['"tools/b/b.h"'], tools__b__b_h=['"tools/c/c.h"'],
                          tools__c__c_cc=['"tools/a/a.h"'])
        self.assert_finds("in a circle: placement, placement/model",
                          placement__a_h=['"placement/model/b.h"'], placement__model__b_h=[],
                          placement__model__c_h=['"placement/a.h"'])

    def test_finds_an_arrow_that_nothing_uses(self):
        self.assert_finds("'stats/linux' never includes 'stats/files'", stats__files__a_h=[],
                          stats__linux__b_h=[])

    def test_keeps_stats_and_migration_apart(self):
        self.assert_finds("'stats' may not include 'migration'", stats__a_cc=['"migration/b.h"'],
                          migration__b_h=[])
        self.assert_finds("'migration/linux' may not include 'stats/linux'",
                          migration__linux__a_cc=['"stats/linux/b.h"'], stats__linux__b_h=[])

    def test_lets_the_host_see_only_the_ports_it_implements(self):
        self.assert_passes(balancer__host__a_h=['"migration/b.h"'], migration__b_h=[])
        self.assert_finds("may not include 'balancer/model'", balancer__host__a_h=['"balancer/model/b.h"'],
                          balancer__model__b_h=[])

    def test_finds_files_that_are_opened_past_the_helper(self):
        for line in ("std::ifstream file(path);", "std::basic_ofstream<char> f;", "auto* f = std::fopen(a, b);"):
            self.assert_finds("tools/a.cc:1: files are opened by stats/files", tools__a_cc=[line])
            self.assert_passes(tests__a_cc=[line], stats__files__b_cc=[line])
        self.assert_finds("files are opened by stats/files", stats__a_cc=["<fstream>"])
        self.assert_passes(tools__a_cc=["// an ifstream would wait", "Directory::open(path);"])

    def test_lets_one_file_alone_know_of_plain_qemu(self):
        self.assert_finds("'balancer/qemu' is included only in balancer/service/hypervisors.cc",
                          balancer__qemu__a_h=[], balancer__service__b_cc=['"balancer/qemu/a.h"'])
        self.assert_passes(balancer__qemu__a_h=[], balancer__qemu__c_cc=['"balancer/qemu/a.h"'],
                           balancer__service__hypervisors_cc=['"balancer/qemu/a.h"'])

    def test_lets_nobody_above_the_adapter_ask_who_starts_vms(self):
        for line in ("if (vm.is_pve) {", 'cgroup.starts_with("/qemu.slice/")', "enum Kind { kLibvirt, Proxmox };"):
            self.assert_finds("balancer/controller/a.cc:1: only balancer/qemu and tools may know who starts VMs",
                              balancer__controller__a_cc=[line])
            self.assert_passes(balancer__qemu__a_cc=[line], tools__hook__a_cc=[line])
        self.assert_passes(balancer__controller__a_cc=["int approve(); // not Proxmox VE's", "int katakana;"])

    def test_keeps_tests_out_of_the_product(self):
        self.assert_finds("belongs to the tests", tools__x__a_cc=['"tests/support/b.h"'],
                          tests__support__b_h=[])

    def test_lets_tests_see_everything(self):
        self.assert_passes(tests__unit__a_cc=['"stats/b.h"', '"migration/c.h"', "<sqlite3.h>"],
                           stats__b_h=[], migration__c_h=[])

    def test_finds_a_library_away_from_its_home(self):
        for header, home in (("libvirt/libvirt.h", "balancer/host"), ("hwloc.h", "stats/topology"),
                             ("numaif.h", "migration/linux"), ("sqlite3.h", "stats/history"),
                             ("SQLiteCpp/Database.h", "stats/history"),
                             ("coin/CbcModel.hpp", "balancer/optimal"),
                             ("pugixml.hpp", "balancer/host")):
            self.assert_finds(f"<{header}> is included only in {home}",
                              stats__linux__a_cc=[f"<{header}>"])
            path = home.replace("/", "__") + "__a_cc"
            self.assert_passes(**{path: [f"<{header}>"]})
        self.assert_finds("<toml++/toml.h> is included only in balancer/config and tools/sim",
                          balancer__controller__a_cc=["<toml++/toml.h>"])

    def test_finds_a_library_without_a_home(self):
        self.assert_finds("<absl/strings/str_cat.h> has no home yet",
                          stats__a_cc=["<absl/strings/str_cat.h>"])

    def test_finds_the_world_in_the_pure_part(self):
        for header in ("chrono", "random", "iostream", "thread", "cmath", "unistd.h", "cstdio",
                       "fmt/format.h", "sys/types.h"):
            self.assert_finds(f"<{header}> does not belong in the pure part",
                              balancer__core__a_cc=[f"<{header}>"])

    def test_finds_floating_point_in_the_pure_part(self):
        self.assert_finds("placement/a.cc:1: floating point", placement__a_cc=["double x = 0.5;"])
        self.assert_passes(placement__a_cc=["int doubled; // no double"],
                           stats__b_cc=["double x = 0.5;"])

    def test_keeps_the_full_json_header_out_of_headers(self):
        self.assert_finds("belongs in .cc files only", stats__a_h=["<nlohmann/json.hpp>"])
        self.assert_passes(stats__a_h=["<nlohmann/json_fwd.hpp>"],
                           stats__a_cc=["<nlohmann/json.hpp>"])

    def test_keeps_property_tests_on_one_wrapper(self):
        self.assert_finds("only in tests/support", tests__property__a_cc=["<rapidcheck.h>"])
        self.assert_passes(tests__support__a_h=["<rapidcheck.h>"])

    def test_finds_an_include_that_does_not_start_at_the_root(self):
        self.assert_finds("is no file of the tree", placement__a_cc=['"b.h"'], placement__b_h=[])

    def test_finds_a_folder_without_a_rule(self):
        self.assert_finds("there is no rule for 'placemint'", placement__a_cc=['"placemint/b.h"'],
                          placemint__b_h=[])

    def test_finds_a_function_that_hides_one_of_its_library(self):
        rules = ["vmnuma_library(some SOURCES a.cc b.cc)"]
        hidden = ["namespace {", "int size_of(int a) {", "}", "}  // namespace"]
        self.assert_finds("tools/b.cc: 'size_of' is also in tools/a.cc, which is compiled together with it",
                          tools__CMakeLists_txt=rules, tools__a_cc=hidden, tools__b_cc=hidden)
        self.assert_finds("tools/b.cc: 'size_of' is also in tools/a.h",
                          tools__CMakeLists_txt=rules, tools__a_h=["int size_of(long a);"], tools__a_cc=[],
                          tools__b_cc=hidden)
        self.assert_passes(tools__CMakeLists_txt=["vmnuma_library(some SOURCES a.cc)",
                                                  "vmnuma_library(other SOURCES b.cc)"],
                           tools__a_cc=hidden, tools__b_cc=hidden)

    def test_fails_where_there_is_nothing_to_check(self):
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
