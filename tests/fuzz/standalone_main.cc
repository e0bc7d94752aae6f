// SPDX-License-Identifier: Apache-2.0
/// Runs a fuzz target once on every file it is given, and on every file in every directory: for
/// compilers without libFuzzer. Options of libFuzzer ("-runs=0") are ignored.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Called by the mutators of some targets, which are not called here.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* /*data*/, std::size_t size,
                                        std::size_t /*max_size*/) {
  return size;
}

namespace {

int run(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read '%s'\n", path.c_str());
    return 1;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::uint8_t> data(bytes.size());
  std::copy(bytes.begin(), bytes.end(), data.begin());
  return LLVMFuzzerTestOneInput(data.data(), data.size());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') {
      continue;
    }
    std::vector<std::filesystem::path> files{argv[i]};
    if (std::filesystem::is_directory(argv[i])) {
      files.assign(std::filesystem::directory_iterator(argv[i]), {});
    }
    for (const auto& file : files) {
      if (run(file) != 0) {
        return 1;
      }
    }
  }
  return 0;
}
