package fairlead_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// largestFile is more than the size of any source, page or picture, in bytes.
const largestFile = 1 << 20

// TestFilesAreSources: no built program and no output of a measurement is in the repository.
func TestFilesAreSources(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a git repository: ", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, err := os.Lstat(name)
		switch {
		case os.IsNotExist(err): // it is about to be removed
		case err != nil:
			t.Error(err)
		case info.Size() > largestFile:
			t.Errorf("%s has %d bytes, at most %d are allowed: is it a built program?", name, info.Size(), largestFile)
		case strings.HasSuffix(name, ".out"):
			t.Errorf("%s is the output of a program", name)
		}
	}
}
