package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
)

// startProfiles begins a profile of this process's CPU, if the job wants profiles. Figures
// of a profiled run cannot be compared: profiles cost time too.
func (j job) startProfiles() {
	if j.Profiles == "" {
		return
	}
	runtime.MemProfileRate = 64 << 10
	if err := pprof.StartCPUProfile(j.profile("cpu")); err != nil {
		panic(err)
	}
}

// endProfiles ends it and adds a profile of the heap, while the measured objects are in
// use.
func (j job) endProfiles() {
	if j.Profiles == "" {
		return
	}
	pprof.StopCPUProfile()
	runtime.GC()
	if err := pprof.Lookup("heap").WriteTo(j.profile("heap"), 0); err != nil {
		panic(err)
	}
}

// profile creates a file, which the end of the process closes.
func (j job) profile(kind string) *os.File {
	encoding := "json"
	if j.Proto {
		encoding = "protobuf"
	}
	name := fmt.Sprintf("%s-%s-%s-%d-%d-%d.%s", j.Library, j.Row, encoding, j.Pods, j.Handlers, j.Workers, kind)
	return must(os.Create(filepath.Join(j.Profiles, name)))
}
