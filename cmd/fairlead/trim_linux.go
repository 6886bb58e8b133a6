package main

import (
	"bufio"
	"fmt"
	"io"
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
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for from, to := range cleanMappings(maps, program) {
		// Advice only: where the kernel declines, the pages stay.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED)
	}
}

// cleanMappings yields the mappings of the program in smaps, as from and to, that
// hold what the file holds. Read-only is not enough for that: where cgo is in, the
// loader writes its own addresses into a page of the program and protects it
// afterwards. Without them the first call of any function of the C library that
// was not called before jumps to 0.
func cleanMappings(smaps io.Reader, program string) func(yield func(from, to uintptr) bool) {
	return func(yield func(from, to uintptr) bool) {
		var from, to uintptr
		ours := false
		for lines := bufio.NewScanner(smaps); lines.Scan(); {
			line := lines.Text()
			var start, end uintptr
			var mode string
			if n, _ := fmt.Sscanf(line, "%x-%x %s", &start, &end, &mode); n == 3 {
				from, to = start, end
				ours = strings.HasSuffix(line, " "+program) && mode[1] != 'w'
				continue
			}
			key, value, _ := strings.Cut(line, ":")
			if ours && key == "Anonymous" && strings.TrimSpace(value) == "0 kB" && !yield(from, to) {
				return
			}
		}
	}
}
