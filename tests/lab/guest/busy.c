// SPDX-License-Identifier: Apache-2.0
//
// A guest that needs no operating system: every CPU writes to its share of the memory, busy for a
// chosen percentage of the time and halted for the rest.
//
// Problem: the lab needs a dozen guests with known CPU demand and known resident memory under nested
// emulation, where an operating system takes a minute to start.
// Approach: the first CPU touches all memory once, wakes the others with INIT and SIPI, and then each
// CPU repeats a period of the local APIC timer: write until the busy part is over, HLT for the rest.
// The duty cycle is a ratio of one timer, so it needs no calibration and holds under KVM and TCG.
//
// Memory is distributed among the CPUs once all that the command line requests have started: two
// CPUs that write to the same page would mistake each other's changes for damage.
//
// Kernel command line:
//   cpus=N         CPUs that start (default 1)
//   load=PERCENT   busy time of each CPU, 1 to 100 (default 100: never halts); with several,
//                  "load=20,75,5", each of them for a second, and then the last one
//   touch=MIB      memory to write to, from 2 MiB up (default: all of it)
//   talk=1         the first CPU also sends bytes on the first serial line, and takes what comes

#include <stdint.h>

enum {
  kPageSize = 4096,
  kFirstByte = 2 << 20,        // above the program and its stacks
  kPagesPerBatch = 32,         // pages written between two checks of the timer
  kWordsApart = 128,           // words of a page that are written: every 512 bytes
  kTimerVector = 0x40,
  kSpuriousVector = 0xFF,
  kTimerPeriod = 100 * 1000 * 1000,  // 100 ms at the 1 GHz of QEMU's and KVM's local APIC
  kPeriodsPerLoad = 10,
  kMaxCpus = 63,
  kLine = 0x3F8,        // data register of a 16550
  kLineStatus = 0x3FD,  // bit 0: a byte has arrived, bit 5: one can be sent
};

// Local APIC registers (Intel SDM volume 3, table "Local APIC Register Address Map").
enum {
  kApicBase = 0xFEE00000,
  kApicSpurious = 0x0F0,
  kApicCommandLow = 0x300,
  kApicTimer = 0x320,
  kApicTimerInitial = 0x380,
  kApicTimerCurrent = 0x390,
  kApicTimerDivide = 0x3E0,
  kApicDivideByOne = 0x0B,
  kApicMasked = 1 << 16,
  kInitOthers = 0x000C4500,
  kStartOthers = 0x000C4608,  // at 0x08000
};

struct MultibootInfo {
  uint32_t flags;  // bit 0: memory sizes, bit 2: command line
  uint32_t mem_lower_kib;
  uint32_t mem_upper_kib;  // above 1 MiB
  uint32_t boot_device;
  uint32_t command_line;
};

struct Gate {
  uint16_t offset_low;
  uint16_t selector;
  uint16_t type;
  uint16_t offset_high;
} __attribute__((packed));

extern volatile uint32_t cpu_count;
void timer_interrupt(void);
void spurious_interrupt(void);

// Read from outside the guest; located right after the Multiboot header.
struct Report {
  char mark[8];
  uint32_t rounds;  // passes over its share, sum over all CPUs
  uint32_t damaged_pages;
};
__attribute__((section(".report"), used)) static volatile struct Report report = {"vmnuma:", 0, 0};

static struct Gate gates[256];
static const char* loads;  // what is left of "20,75,5", for the first CPU
static volatile uint32_t load_percent;
static uint32_t last_byte;
static uint32_t talks;
static uint32_t cpus;
static volatile uint32_t all_have_started;

static void apic_write(uint32_t reg, uint32_t value) {
  *(volatile uint32_t*)(kApicBase + reg) = value;
}

static uint32_t apic_read(uint32_t reg) {
  return *(volatile uint32_t*)(kApicBase + reg);
}

static void set_gate(uint32_t vector, void (*handler)(void)) {
  const uint32_t address = (uint32_t)handler;
  gates[vector] = (struct Gate){
      .offset_low = (uint16_t)address,
      .selector = 0x08,
      .type = 0x8E00,
      .offset_high = (uint16_t)(address >> 16),
  };
}

static void load_gates(void) {
  const struct {
    uint16_t limit;
    uint32_t base;
  } __attribute__((packed)) pointer = {sizeof(gates) - 1, (uint32_t)gates};
  __asm__ volatile("lidt %0" : : "m"(pointer));
}

// Masks the 8259: the firmware leaves its timer interrupt enabled, and there is no handler for it.
static void mask_legacy_interrupts(void) {
  __asm__ volatile("outb %b0, $0x21; outb %b0, $0xA1" : : "a"(0xFF));
}

static void enable_apic(void) {
  apic_write(kApicSpurious, 0x100 | kSpuriousVector);
  apic_write(kApicTimerDivide, kApicDivideByOne);
}

static void start_timer(uint32_t count, uint32_t flags) {
  apic_write(kApicTimer, kTimerVector | flags);
  apic_write(kApicTimerInitial, count);
}

static void pause_for(uint32_t count) {
  start_timer(count, kApicMasked);
  while (apic_read(kApicTimerCurrent) != 0) {
  }
}

// Halts until the running timer has expired. Interrupts are on only during HLT.
static void wait_for_timer(void) {
  while (apic_read(kApicTimerCurrent) != 0) {
    __asm__ volatile("sti; hlt; cli" : : : "memory");
  }
}

static uint32_t number_at(const char* text) {
  uint32_t value = 0;
  while (*text >= '0' && *text <= '9') {
    value = value * 10 + (uint32_t)(*text++ - '0');
  }
  return value;
}

// Returns the text after `name` on the command line, or 0.
static const char* text_after(const char* line, const char* name) {
  for (; *line != 0; ++line) {
    const char* at = line;
    const char* want = name;
    while (*want != 0 && *at == *want) {
      ++at;
      ++want;
    }
    if (*want == 0) {
      return at;
    }
  }
  return 0;
}

// Returns the number after `name` on the command line, or `otherwise`.
static uint32_t option(const char* line, const char* name, uint32_t otherwise) {
  const char* text = text_after(line, name);
  return text != 0 ? number_at(text) : otherwise;
}

// Advances to the next load of the list; the last one stays in effect.
static void next_load(void) {
  const uint32_t load = number_at(loads);
  load_percent = load < 1 ? 1 : load > 100 ? 100 : load;
  const char* end = loads;
  while (*end >= '0' && *end <= '9') {
    ++end;
  }
  if (*end == ',') {
    loads = end + 1;
  }
}

// Returns contents unique to the page, so that a page that was lost, is outdated or belongs
// elsewhere is detected.
static uint32_t word_of(uint32_t page, uint32_t round, uint32_t word) {
  return (page ^ round * 0x9E3779B9u) + word;
}

static void write_page(uint32_t page, uint32_t round) {
  volatile uint32_t* words = (volatile uint32_t*)page;
  words[0] = round;
  for (uint32_t word = kWordsApart; word < kPageSize / 4; word += kWordsApart) {
    words[word] = word_of(page, round, word);
  }
}

static void check_page(uint32_t page) {
  volatile uint32_t* words = (volatile uint32_t*)page;
  const uint32_t round = words[0];
  uint32_t wrong = 0;
  for (uint32_t word = kWordsApart; word < kPageSize / 4; word += kWordsApart) {
    wrong += words[word] != word_of(page, round, word);
  }
  if (wrong != 0) {
    __atomic_add_fetch(&report.damaged_pages, 1, __ATOMIC_RELAXED);
  }
}

// Checks and changes the next pages of this CPU's share; pages are assigned to the CPUs in turn.
static uint32_t write_batch(uint32_t page) {
  for (int i = 0; i < kPagesPerBatch; ++i) {
    if (page >= last_byte) {
      __atomic_add_fetch(&report.rounds, 1, __ATOMIC_RELAXED);
      return page - last_byte + kFirstByte;
    }
    check_page(page);
    write_page(page, *(volatile uint32_t*)page + 1);
    page += cpus * kPageSize;
  }
  return page;
}

static uint8_t read_port(uint16_t port) {
  uint8_t value;
  __asm__ volatile("inb %1, %0" : "=a"(value) : "d"(port));
  return value;
}

static void write_port(uint16_t port, uint8_t value) {
  __asm__ volatile("outb %0, %1" : : "a"(value), "d"(port));
}

static void talk(void) {
  const uint8_t status = read_port(kLineStatus);
  if (status & 1) {
    (void)read_port(kLine);
  }
  if (status & 0x20) {
    write_port(kLine, 'x');
  }
}

static void work(uint32_t cpu) {
  uint32_t page = kFirstByte + cpu * kPageSize;
  for (uint32_t period = 0;; ++period) {
    if (cpu == 0 && period == kPeriodsPerLoad) {
      next_load();
      period = 0;
    }
    const uint32_t idle = kTimerPeriod / 100 * (100 - load_percent);
    if (talks && cpu == 0) {
      talk();
    }
    start_timer(kTimerPeriod, 0);
    while (apic_read(kApicTimerCurrent) > idle) {
      page = write_batch(page);
    }
    wait_for_timer();
  }
}

void other_cpu(uint32_t cpu) {
  load_gates();
  enable_apic();
  while (!all_have_started) {
    __asm__ volatile("pause");
  }
  if (cpu < cpus) {
    work(cpu);
  }
  for (;;) {
    __asm__ volatile("cli; hlt");  // not named on the command line
  }
}

void first_cpu(const struct MultibootInfo* info) {
  const char* line = (info->flags & 4) != 0 ? (const char*)info->command_line : "";
  const uint32_t memory_mib = info->mem_upper_kib / 1024 + 1;
  uint32_t touch = option(line, "touch=", memory_mib);
  touch = touch > memory_mib ? memory_mib : touch;
  loads = text_after(line, "load=");
  loads = loads != 0 ? loads : "100";
  next_load();
  last_byte = touch << 20;
  talks = option(line, "talk=", 0);
  cpus = option(line, "cpus=", 1);

  for (uint32_t page = kFirstByte; page < last_byte; page += kPageSize) {
    write_page(page, 0);
  }

  mask_legacy_interrupts();
  set_gate(kTimerVector, timer_interrupt);
  set_gate(kSpuriousVector, spurious_interrupt);
  load_gates();
  enable_apic();
  apic_write(kApicCommandLow, kInitOthers);
  pause_for(10 * 1000 * 1000);
  while (cpu_count < cpus) {
    apic_write(kApicCommandLow, kStartOthers);  // CPUs that are already running ignore it
    pause_for(1000 * 1000);
  }
  all_have_started = 1;
  work(0);
}
