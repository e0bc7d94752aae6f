#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/declared.md against the code: every option and every key of a VM's policy has a row there, the files of the row
use what it sets, and its test exists.

A file that only reads, writes or shows a setting does not act upon it, and does not count.

Usage: declared_test.py CHECKOUT
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
DOCUMENT = ROOT / "docs/declared.md"
OPTIONS = ROOT / "placement/model/options.cc"
POLICY_KEYS = ROOT / "balancer/policy/policy_keys.cc"
ONLY_SHOWS = re.compile(r"balancer/(config|policy|protocol|record)/|balancer/model/view|placement/model/|tools/vmnuma/|tools/describe/")
ROW = re.compile(r"^\| `([^`]+)` \| (.+) \| `([^`]+)` \|$")


def declared():
    """Each setting with the names of the struct members that hold it."""
    options = {name: {member} for name, member in
               re.findall(r'\{"(Numa\.\w+)".*?&Options::(\w+)', OPTIONS.read_text(), re.S)}
    table = POLICY_KEYS.read_text().split("kPolicy[] = {")[1].split("\n};")[0]
    rows = re.split(r'\n    (?=\{"\w+", KeyKind|choice_key<)', table)
    keys = {re.search(r'[{(]\s*"(\w+)"', row)[1]: set(re.findall(r"(?:policy\.|&VmPolicy::)(\w+)", row))
            for row in rows if row.strip()}
    # Kept by a helper of the same file.
    keys["anti_affinity"] = {"anti_affinity_hard"}
    return options | keys


def documented():
    rows = [match.groups() for line in DOCUMENT.read_text().splitlines() if (match := ROW.match(line))]
    return [(name, re.findall(r"`([^`]+)`", files), test) for name, files, test in rows]


def tests():
    """All claims as <Suite>.<Claim>, and the names given to CTest."""
    found = set()
    for path in (ROOT / "tests").rglob("*.cc"):
        found |= {f"{suite}.{claim}" for suite, claim in
                  re.findall(r"^(?:TEST|TEST_F|TEST_P|RC_GTEST\w*PROP)\(\s*(\w+),\s*(\w+)", path.read_text(), re.M)}
    return found


class DeclaredTest(unittest.TestCase):
    def test_every_setting_has_exactly_one_row(self):
        names = [name for name, _, _ in documented()]
        self.assertEqual(sorted(names), sorted(declared()))

    def test_every_setting_is_acted_upon_where_its_row_says(self):
        members = declared()
        for name, files, _ in documented():
            self.assertTrue(files, name)
            for file in files:
                with self.subTest(setting=name, file=file):
                    self.assertIsNone(ONLY_SHOWS.match(file), "only shows it")
                    text = (ROOT / file).read_text()
                    self.assertTrue(any(re.search(rf"\b{member}\b", text) for member in members.get(name, ())),
                                    f"'{file}' does not use {sorted(members.get(name, ()))}")

    def test_every_test_exists(self):
        existing = tests()
        for name, _, test in documented():
            with self.subTest(setting=name):
                self.assertTrue(test in existing, f"there is no test {test}")


if __name__ == "__main__":
    unittest.main()
