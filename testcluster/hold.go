package testcluster

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// holdFlag is the flag that this package and its sibling share, if a program has both.
const holdFlag = "fairlead.hold"

func init() {
	if flag.Lookup(holdFlag) == nil {
		flag.Bool(holdFlag, false, "keep the control plane of each test running at its end, until Ctrl-C")
	}
}

// holds reports whether the flag is set.
func holds() bool { return flag.Lookup(holdFlag).Value.String() == "true" }

// hold keeps the environment running until an interrupt, or until it ends. It does not hold one without a kubeconfig,
// which is in a bubble: no program could connect to it, and its clock would run through the years.
func (e *Env) hold(t T) {
	t.Helper()
	if e.kubeconfig == "" {
		fmt.Fprintf(os.Stderr, "-%s does not hold this test's control plane: it is in a bubble of testing/synctest, into which no program can connect.\n", holdFlag)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	state := "passed"
	if t.Failed() {
		state = "failed"
	}
	page, err := e.PageURL(ctx)
	if err != nil {
		page = err.Error()
	}
	fmt.Fprintf(os.Stderr, "The test has %s. Its control plane runs until Ctrl-C:\n  export KUBECONFIG=%s\n  %s\n", state, e.kubeconfig, page)
	select {
	case <-ctx.Done():
	case <-e.ended:
	}
}
