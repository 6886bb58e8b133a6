package upstream

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// aloneEnv makes this program run one case for another one.
const aloneEnv = "FAIRLEAD_TEST_ALONE"

// stalled is the exit code of a case that failed in a process that was paused for enough or
// longer. Some cases wait no more than 150 ms for an event.
const (
	stalled = 75
	enough  = 40 * time.Millisecond
)

// patient runs a case of upstream's that measures time, in a process of its own. If the case
// fails, and the process was paused meanwhile, patient runs it again.
func patient(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	if os.Getenv(aloneEnv) != "" {
		fmt.Println(aloneEnv, t.Name())
		longest := pauses()
		t.Cleanup(func() {
			if pause := longest(); t.Failed() && pause > enough {
				os.Exit(stalled)
			}
		})
		run(t)
		return
	}
	var path []string
	for _, name := range strings.Split(t.Name(), "/") {
		path = append(path, "^"+regexp.QuoteMeta(name)+"$")
	}
	for tries := 1; ; tries++ {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+strings.Join(path, "/"))
		cmd.Env = append(os.Environ(), aloneEnv+"=1")
		out, err := cmd.CombinedOutput()
		exit := (*exec.ExitError)(nil)
		switch {
		case err == nil && strings.Contains(string(out), aloneEnv+" "+t.Name()+"\n"):
			return
		case errors.As(err, &exit) && exit.ExitCode() == stalled && tries < 50:
			t.Logf("try %d: the machine stood still", tries)
		default:
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// pauses measures the longest time for which this process was not run, until longest is called.
func pauses() (longest func() time.Duration) {
	stop, done := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		most, last := time.Duration(0), time.Now()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				now := time.Now()
				most, last = max(most, now.Sub(last)), now
			case <-stop:
				done <- max(most, time.Since(last))
				return
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-done
	}
}
