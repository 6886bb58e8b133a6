package main

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

// meter measures this process since its start.
type meter struct {
	at            time.Time
	cpu           time.Duration
	mallocs, size uint64
}

func startMeter() *meter {
	runtime.GC()
	m := &meter{}
	m.mallocs, m.size = allocated()
	m.cpu, m.at = cpuTime(), time.Now()
	return m
}

// perOp returns the cost of each of n operations.
func (m *meter) perOp(n int) figures {
	wall, cpu := time.Since(m.at), cpuTime()-m.cpu
	mallocs, size := allocated()
	return figures{
		"cpu":    float64(cpu.Nanoseconds()) / float64(n),
		"rate":   float64(n) / wall.Seconds(),
		"allocs": float64(mallocs-m.mallocs) / float64(n),
		"bytes":  float64(size-m.size) / float64(n),
	}
}

func allocated() (objects, bytes uint64) {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.Mallocs, s.TotalAlloc
}

// cpuTime is the time, user and system, of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is the memory that the kernel counts for this process, after garbage was
// collected and free pages were given back.
func resident() float64 {
	debug.FreeOSMemory()
	return status("VmRSS:")
}

// status returns a line of /proc/self/status that is in kB, in bytes.
func status(name string) float64 {
	text := must(os.ReadFile("/proc/self/status"))
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return float64(must(strconv.Atoi(string(bytes.Fields(rest)[0])))) * 1024
		}
	}
	panic("no " + name)
}

// live is the memory of all objects in use.
func live() float64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc)
}
