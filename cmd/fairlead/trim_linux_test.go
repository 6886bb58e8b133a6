package main

import (
	"os/user"
	"strings"
	"testing"
)

// A program that has dropped its pages can still do what it has not done so far:
// where cgo is in, call a function of the C library for the first time.
func TestDropProgramPagesLeavesTheProgramWhole(t *testing.T) {
	dropProgramPages()
	if root, err := user.LookupId("0"); err == nil && root.Uid != "0" {
		t.Errorf("user 0 has uid %s", root.Uid)
	}
}

func TestCleanMappings(t *testing.T) {
	const smaps = `00400000-00402000 r--p 00000000 fe:00 1    /bin/fairlead
Anonymous:             0 kB
00402000-015f4000 r-xp 00002000 fe:00 1    /bin/fairlead
Rss:               16000 kB
Anonymous:             0 kB
02968000-02969000 r--p 02568000 fe:00 1    /bin/fairlead
Private_Dirty:         4 kB
Anonymous:             4 kB
02969000-02a11000 rw-p 02569000 fe:00 1    /bin/fairlead
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 2    /lib/libc.so.6
Anonymous:             0 kB
`
	var got []uintptr
	for from := range cleanMappings(strings.NewReader(smaps), "/bin/fairlead") {
		got = append(got, from)
	}
	if len(got) != 2 || got[0] != 0x400000 || got[1] != 0x402000 {
		t.Fatalf("got %x, want 400000 and 402000: the others are not the program's, or not as in its file", got)
	}
}
