# SPDX-License-Identifier: Apache-2.0
#
# Entry points of the lab's guest program: Multiboot 1 entry of the first CPU, the trampoline on
# which the other CPUs leave real mode, and the only interrupt handler.
#
# All CPUs run in flat 32-bit protected mode without paging, with interrupts off except inside
# wait_for_timer(), so the handler has nothing to save but what it touches.

.set kMultibootMagic, 0x1BADB002
.set kMultibootFlags, 0x00000002          # ask for the memory size
.set kTrampoline, 0x8000                  # below 1 MiB; SIPI vector 0x08
.set kStackSize, 4096
.set kApicEoi, 0xFEE000B0

.section .multiboot, "a"
.align 4
.long kMultibootMagic, kMultibootFlags, -(kMultibootMagic + kMultibootFlags)

.text
.code32
.globl start
start:
  cli
  movl $(stacks + kStackSize), %esp
  pushl %ebx                              # Multiboot information, argument of first_cpu
  lgdt gdt_pointer
  ljmp $0x08, $1f
1:call load_data_segments
  movl $trampoline, %esi
  movl $kTrampoline, %edi
  movl $(trampoline_end - trampoline), %ecx
  rep movsb
  call first_cpu                          # does not return

load_data_segments:
  movw $0x10, %ax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss
  ret

other_cpu_entry:
  movw $0x10, %ax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss
  movl $1, %eax
  lock xaddl %eax, cpu_count              # this CPU's number: 1, 2, ...
  movl %eax, %ecx
  incl %ecx
  imull $kStackSize, %ecx
  leal stacks(%ecx), %esp
  pushl %eax
  call other_cpu                          # does not return

# The timer only has to end HLT: whether the interval is over is read from the timer itself.
.globl timer_interrupt
timer_interrupt:
  movl $0, kApicEoi
  iret

.globl spurious_interrupt
spurious_interrupt:
  iret

# Copied to kTrampoline; runs in real mode with CS = kTrampoline / 16.
.code16
trampoline:
  cli
  xorw %ax, %ax
  movw %ax, %ds
  lgdtl kTrampoline + (gdt_pointer_copy - trampoline)
  movl %cr0, %eax
  orl $1, %eax
  movl %eax, %cr0
  ljmpl $0x08, $other_cpu_entry
gdt_pointer_copy:
  .word gdt_end - gdt - 1
  .long gdt
trampoline_end:

.data
.align 8
gdt:
  .quad 0
  .quad 0x00CF9A000000FFFF                # 0x08: code, 0 to 4 GiB
  .quad 0x00CF92000000FFFF                # 0x10: data, 0 to 4 GiB
gdt_end:
gdt_pointer:
  .word gdt_end - gdt - 1
  .long gdt

.globl cpu_count
cpu_count: .long 1

.bss
.align 16
stacks: .skip 64 * kStackSize

.section .note.GNU-stack, "", @progbits
