package testenv_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead.dev/testenv"
)

// role tells this program, started by a test, to run a test for it.
const role = "TESTENV_ROLE"

func TestRoleHeldInBubble(t *testing.T) {
	if os.Getenv(role) == "" {
		t.Skip("played for another test")
	}
	synctest.Test(t, func(t *testing.T) {
		testenv.New(t, testenv.Options{Bubble: true, NoNodes: true, NoControllers: true, NoScheduler: true})
	})
}

// TestHoldInBubble: -fairlead.hold says in one line that it does not hold a control plane in a bubble, and the test ends.
func TestHoldInBubble(t *testing.T) {
	check := isolate(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRoleHeldInBubble$", "-fairlead.hold")
	cmd.Env = append(os.Environ(), role+"=held")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	const want = "-fairlead.hold does not hold this test's control plane: it is in a bubble of testing/synctest, into which no program can connect.\n"
	if text := string(out); !strings.Contains(text, want) || strings.Contains(text, "KUBECONFIG") {
		t.Errorf("output:\n%s", text)
	}
	check()
}
