package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Fork starts a control plane with the state of the base, and stops it at the end of the test. It fails the test if it
// can't. A test that fails explains itself as one of New; the log is that of all forks.
func (b *Base) Fork(t T) *Env {
	t.Helper()
	e, err := b.Start(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
	}
	e.endWith(t)
	return e
}

// Start starts a control plane with the state of the base, and returns when its API server answers. ctx and
// Options.Timeout limit the start only. End it by Stop. An error leaves no control plane and no file behind.
func (b *Base) Start(ctx context.Context) (*Env, error) {
	e := &Env{authority: b.authority, timeout: b.timeout, log: b.host.log}
	e.origin, e.name = b, fmt.Sprintf("fork-%d", b.forks.Add(1))
	if err := e.fork(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", agent, err)
	}
	return e, nil
}

// fork starts the control plane of an environment that has only its origin and its name.
func (e *Env) fork(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	if e.dir, err = os.MkdirTemp("", "fairlead-"); err != nil {
		return err
	}
	ended := make(chan struct{})
	e.ended, e.end = ended, sync.OnceFunc(func() { close(ended) })
	e.stop = sync.OnceValue(e.endFork)
	if err = e.startFork(ctx); err != nil {
		return errors.Join(err, e.Stop())
	}
	return nil
}

func (e *Env) startFork(ctx context.Context) error {
	command := "fork " + e.name + " --from=" + preparedName + " --at=" + e.origin.prepared.Revision
	if origin := e.origin.webhooks; origin != (Webhooks{}) {
		if err := e.prepareWebhooks(); err != nil {
			return err
		}
		command += " --redirect=" + origin.address() + "=" + e.webhooks.address()
	}
	started, err := e.origin.commands.send(ctx, command)
	if err != nil {
		return err
	}
	e.kubeconfig = started.Kubeconfig
	if e.config, err = readKubeconfig(e.kubeconfig); err != nil {
		return err
	}
	if e.api, err = newAPIClient(e.config); err != nil {
		return err
	}
	go func() {
		<-e.origin.host.ended
		e.end()
	}()
	return e.addFaults(ctx, e.origin.faults)
}

// endFork ends the control plane of a fork.
func (e *Env) endFork() error {
	err := os.RemoveAll(e.dir)
	if e.config == nil || e.hasEnded() || e.origin.host.hasEnded() {
		e.end()
		return err
	}
	e.end()
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_, deleted := e.origin.commands.send(ctx, "delete "+e.name)
	return errors.Join(deleted, err)
}

// Reset goes back to the state of the base that the environment was forked from, at the same address and with the same
// credentials. It ends all requests and watches. Start clients with caches anew: they would wait for revisions that they
// have seen and that are still to come. ctx and Options.Timeout limit it.
func (e *Env) Reset(ctx context.Context) error {
	if e.origin == nil {
		return fmt.Errorf("%s: Reset: the environment is not a fork of a Base", agent)
	}
	if e.hasEnded() {
		return fmt.Errorf("%s: Reset: the environment has ended", agent)
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	if _, err := e.origin.commands.send(ctx, "reset "+e.name); err != nil {
		return fmt.Errorf("%s: Reset: %w", agent, err)
	}
	return e.addFaults(ctx, e.origin.faults)
}
