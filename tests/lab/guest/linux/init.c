// SPDX-License-Identifier: Apache-2.0
//
// The only program of a Linux guest: prints on the console the NUMA nodes, cores and caches that
// its kernel sees, each line as "FILE: LINE", then "end", and powers the guest off.

#include <glob.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>

#define CPU "/sys/devices/system/cpu/cpu[0-9]*"
#define NODE "/sys/devices/system/node/node[0-9]*"

enum { kConsoleOff = 6 };  // action of syslog(2)

// The lines of files to print.
static const struct {
  const char* files;
  const char* lines;
} told[] = {
    {NODE "/cpulist", "."},
    {NODE "/distance", "."},
    {"/proc/zoneinfo", "^Node|present"},
    {CPU "/topology/physical_package_id", "."},
    {CPU "/topology/thread_siblings_list", "."},
    {CPU "/cache/index*/level", "."},
    {CPU "/cache/index*/shared_cpu_list", "."},
};

static void fail(const char* what) {
  perror(what);
  exit(1);  // the kernel panics, and the guest ends
}

static void tell_file(const char* path, const char* lines) {
  regex_t wanted;
  char line[512];
  FILE* file = fopen(path, "r");
  if (file == NULL || regcomp(&wanted, lines, REG_EXTENDED | REG_NOSUB) != 0) {
    fail(path);
  }
  while (fgets(line, sizeof(line), file) != NULL) {
    if (regexec(&wanted, line, 0, NULL, 0) == 0) {
      printf("%s: %s", path, line);
    }
  }
  regfree(&wanted);
  fclose(file);
}

int main(void) {
  mkdir("/proc", 0555);
  mkdir("/sys", 0555);
  if (mount("proc", "/proc", "proc", 0, NULL) != 0 || mount("sys", "/sys", "sysfs", 0, NULL) != 0) {
    fail("mount");
  }
  klogctl(kConsoleOff, NULL, 0);
  for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); ++i) {
    glob_t found;
    if (glob(told[i].files, 0, NULL, &found) == 0) {
      for (size_t j = 0; j < found.gl_pathc; ++j) {
        tell_file(found.gl_pathv[j], told[i].lines);
      }
      globfree(&found);
    }
  }
  puts("end");
  fflush(stdout);
  reboot(RB_POWER_OFF);
  fail("reboot");
}
