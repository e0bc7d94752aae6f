#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/declared.md with the code: every option, every key of a VM's policy and of the configuration file has a row
there, the files of the row use what it sets, and its test exists, in a file that names the setting or what it sets.

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
FILE_KEYS = ROOT / "balancer/config/keys.cc"
ONLY_SHOWS = re.compile(r"balancer/(config|policy|protocol|record)/|balancer/model/view|placement/model/|tools/vmnuma/|tools/describe/")
FILLS_IN = "balancer/config/parse.cc"  # what a preset has for options that are set nowhere
ROW = re.compile(r"^\| `([^`]+)` \| (.+) \| `([^`]+)` \|$")


def code(path):
    """The text of a source file without its comments."""
    return re.sub(r"//[^\n]*", "", path.read_text())


def options():
    return {name: {member} for name, member in
            re.findall(r'\{"(Numa\.\w+)".*?&Options::(\w+)', OPTIONS.read_text(), re.S)}


def table(path, name):
    """The rows of a table of keys: each key with its text."""
    text = path.read_text().split(f"{name}[] = {{")[1].split("\n};")[0]
    rows = re.split(r'\n    (?=\{"\w+", KeyKind|\w+_key<)', text)
    return {re.search(r'[{(]\s*"(\w+)"', row)[1]: row for row in rows if row.strip()}


def policy_keys():
    keys = {key: set(re.findall(r"(?:policy\.|&VmPolicy::)(\w+)", row))
            for key, row in table(POLICY_KEYS, "kPolicy").items()}
    # Kept by a helper of the same file.
    keys["anti_affinity"] = {"anti_affinity_hard"}
    return keys


def file_keys():
    keys = {key: set(re.findall(r"(?:config\.|&Config::)(\w+)", row)) | {key}
            for key, row in table(FILE_KEYS, "kTop").items()}
    # Passed on under another name.
    keys["foreign_pins"] |= {"repairs_pins"}
    return keys | {f"history.{key}": {key} for key in table(FILE_KEYS, "kHistory")}


# By the title of its table in the document: each setting with the names of the struct members that hold it.
DECLARED = {"A VM's policy": policy_keys(), "Options": options(), "The configuration file": file_keys()}


def documented():
    """(table, setting, files, test) of every row."""
    rows = []
    title = ""
    for line in DOCUMENT.read_text().splitlines():
        title = line[3:] if line.startswith("## ") else title
        if match := ROW.match(line):
            rows.append((title, match[1], re.findall(r"`([^`]+)`", match[2]), match[3]))
    return rows


def tests():
    """The text that each test may name its setting in, by <Suite>.<Claim> or the name given to CTest."""
    found = {}
    for path in (ROOT / "tests").rglob("*.cc"):
        text = code(path)
        for suite, claim in re.findall(r"^(?:TEST|TEST_F|TEST_P|RC_GTEST\w*PROP)\(\s*(\w+),\s*(\w+)", text, re.M):
            found[f"{suite}.{claim}"] = text
    for path in (ROOT / "tests").rglob("CMakeLists.txt"):
        for name, command in re.findall(r"add_test\(\s*NAME (\S+)\s+COMMAND (.*?)\)", path.read_text(), re.S):
            found[name] = "".join((path.parent / script).read_text()
                                  for script in re.findall(r"\$\{CMAKE_CURRENT_SOURCE_DIR\}/(\S+)", command))
    return found


def type_name(setting):
    """Of an enum with the setting's values: CpuPolicy of cpu_policy."""
    return "".join(word.capitalize() for word in setting.split("_"))


def names(text, words):
    return any(re.search(rf"(?<![a-zA-Z0-9]){re.escape(word)}(?![a-zA-Z0-9])", text) for word in words)


class DeclaredTest(unittest.TestCase):
    def test_every_setting_has_exactly_one_row(self):
        for title, settings in DECLARED.items():
            with self.subTest(table=title):
                rows = [setting for its_title, setting, _, _ in documented() if its_title == title]
                self.assertEqual(sorted(rows), sorted(settings))

    def test_every_setting_is_acted_upon_where_its_row_says(self):
        for title, setting, files, _ in documented():
            members = DECLARED[title][setting]
            self.assertTrue(files, setting)
            for file in files:
                with self.subTest(setting=setting, file=file):
                    self.assertTrue(file == FILLS_IN or not ONLY_SHOWS.match(file), "only shows it")
                    self.assertTrue(names(code(ROOT / file), members), f"'{file}' does not use {sorted(members)}")

    def test_every_test_exists_and_names_its_setting(self):
        existing = tests()
        for title, setting, _, test in documented():
            with self.subTest(setting=setting):
                self.assertTrue(test in existing, f"there is no test {test}")
                words = DECLARED[title][setting] | {setting.removeprefix("history."), type_name(setting)}
                self.assertTrue(names(existing[test], words), f"the file of {test} does not name {sorted(words)}")


if __name__ == "__main__":
    unittest.main()
