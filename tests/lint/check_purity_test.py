#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests check-purity on small objects. Usage: check_purity_test.py CHECK_PURITY COMPILER"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop(2)
CHECK_PURITY = pathlib.Path(sys.argv.pop(1)).resolve()


class CheckPurity(unittest.TestCase):
    def check(self, *sources):
        """Compiles each source into an object of its own and checks them together."""
        with tempfile.TemporaryDirectory() as directory:
            objects = []
            for number, source in enumerate(sources):
                path = pathlib.Path(directory, f"{number}.o")
                subprocess.run([COMPILER, "-std=c++20", "-O1", "-x", "c++", "-c", "-o", path, "-"],
                               input=source, text=True, check=True)
                objects.append(path)
            result = subprocess.run([CHECK_PURITY, *objects], capture_output=True, text=True,
                                    check=False)
            return result.returncode, result.stdout + result.stderr

    def test_accepts_containers_strings_and_exceptions_of_the_library(self):
        self.assertEqual(self.check("""
            #include <algorithm>
            #include <map>
            #include <string>
            #include <vector>
            std::string join(const std::map<std::string, std::vector<long>>& m) {
              std::string text;
              for (const auto& [key, values] : m) {
                std::vector<long> sorted = values;
                std::stable_sort(sorted.begin(), sorted.end());
                text += key + std::to_string(sorted.at(0));
              }
              return text;
            }"""), (0, ""))

    def test_accepts_what_another_checked_object_defines(self):
        self.assertEqual(self.check("int other(); int f() { return other(); }",
                                    "int other() { return 1; }"), (0, ""))

    def test_finds_a_call_into_other_code_of_ours(self):
        status, text = self.check("namespace vmnuma::stats { int read(); }"
                                  "int f() { return vmnuma::stats::read(); }")
        self.assertEqual(status, 1)
        self.assertIn("uses 'vmnuma::stats::read()'", text)

    def test_finds_the_world(self):
        for symbol, source in {
                "steady_clock::now": "#include <chrono>\nlong f() { return "
                                     "std::chrono::steady_clock::now().time_since_epoch().count(); }",
                "'time'": "#include <ctime>\nlong f() { return time(nullptr); }",
                "'rand'": "#include <cstdlib>\nint f() { return rand(); }",
                "random_device": "#include <random>\nunsigned f() { return std::random_device()(); }",
                "std::cerr": "#include <iostream>\nvoid f() { std::cerr << 1; }",
                "std::locale": "#include <locale>\nvoid f() { std::locale::classic(); }",
                "std::thread": "#include <thread>\nvoid f() { std::thread([] {}).detach(); }",
                "pthread_mutex_lock": "#include <pthread.h>\nint f(pthread_mutex_t* m) { return "
                                      "pthread_mutex_lock(m); }",
                "'printf'": "#include <cstdio>\nvoid f(int i) { printf(\"%d\", i); }",
                "'pow'": "#include <cmath>\ndouble f(double x) { return std::pow(x, 1.5); }",
                "'getenv'": "#include <cstdlib>\nconst char* f() { return getenv(\"HOME\"); }",
                "'open'": "#include <fcntl.h>\nint f() { return open(\"/\", 0); }",
                "__errno_location": "#include <cerrno>\nint f() { return errno; }",
        }.items():
            with self.subTest(symbol):
                status, text = self.check(source)
                self.assertEqual(status, 1, text)
                self.assertIn(symbol, text)

    def test_names_the_object(self):
        self.assertIn("0.o: uses", self.check("extern int x; int f() { return x; }")[1])

    def test_says_when_it_checked_nothing(self):
        self.assertEqual(self.check("")[0], 2)
        missing = subprocess.run([CHECK_PURITY, "/nonexistent/x.a"], capture_output=True, text=True,
                                 check=False)
        self.assertEqual(missing.returncode, 2)
        self.assertIn("cannot read '/nonexistent/x.a'", missing.stderr)


if __name__ == "__main__":
    unittest.main()
