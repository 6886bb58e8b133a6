package procstart_test

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"fairlead.dev/internal/procstart"
)

// child makes this test binary print its start instead of running the tests.
const child = "PROCSTART_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		os.Stdout.WriteString(strconv.FormatInt(procstart.Time().UnixNano(), 10))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func run(t *testing.T, env ...string) time.Time {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), child+"=1"), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	nanos, err := strconv.ParseInt(string(out), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, nanos)
}

func TestTimeIsThatOfTheProcess(t *testing.T) {
	before := time.Now()
	got := run(t)
	const tick = 20 * time.Millisecond // of the kernel's clock, and of rounding
	if after := time.Now(); got.Before(before.Add(-tick)) || got.After(after) {
		t.Errorf("a process started between %v and %v reports %v", before, after, got)
	}
}

func TestTimeOfAnExecInPlace(t *testing.T) {
	if err := procstart.BeforeExec(); err != nil {
		t.Fatal(err)
	}
	defer os.Unsetenv("FAIRLEAD_EXEC_TIME")
	before := time.Now()
	time.Sleep(50 * time.Millisecond)
	if got := run(t); got.After(before) || before.Sub(got) > 20*time.Millisecond {
		t.Errorf("a program that was executed in place at %v reports %v", before, got)
	}
}
