package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// dropProgramPages unmaps the resident pages of the program's text and read-only
// data. They are clean copies of the file, so nothing can be lost: whoever touches
// one faults it in again.
func dropProgramPages() {
	program, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uintptr
		var mode string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &mode); n != 3 {
			continue
		}
		if !strings.HasSuffix(lines.Text(), " "+program) || mode[1] == 'w' {
			continue
		}
		// Advice only: where the kernel declines, the pages stay.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED)
	}
}
