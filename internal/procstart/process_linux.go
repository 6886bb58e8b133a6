package procstart

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// startField is the index of starttime among the fields of /proc/self/stat that follow
	// the command's name; see proc_pid_stat(5).
	startField = 19
	// tick is the unit of that field: USER_HZ is 100 on every architecture that Go supports.
	tick = 10 * time.Millisecond
)

// ofProcess returns when the kernel started the process.
func ofProcess() time.Time {
	now := time.Now()
	var uptime unix.Timespec
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &uptime) != nil {
		return now
	}
	// The name is in parentheses and may contain any byte, so the last parenthesis ends it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startField {
		return now
	}
	ticks, err := strconv.ParseInt(string(fields[startField]), 10, 64)
	if err != nil {
		return now
	}
	return now.Add(time.Duration(ticks)*tick - time.Duration(uptime.Nano()))
}
