package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/instance"
)

func newDelete() *cobra.Command {
	var f instanceFlags
	var timeout time.Duration
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete [NAME]",
		Short: "Delete a server: its process, its data, and its context in your kubeconfig",
		Long: `Delete stops a server, and removes its data directory and its context in your kubeconfig. The
objects of a server with --etcd-servers stay in etcd.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := f.find(args)
			if err != nil {
				return err
			}
			if err := confirm(yes, "Delete "+in.String()+" with all its objects and certificates?"); err != nil {
				return err
			}
			p := newProgress(os.Stderr)
			if _, err := in.Connect(); err == nil {
				if err := down(cmd.Context(), p, in, timeout); err != nil {
					return err
				}
			}
			return dismantle(p, in, "Deleted")
		},
	}
	f.register(cmd)
	registerStopTimeout(cmd, &timeout)
	registerYes(cmd, &yes)
	return cmd
}

// dismantle removes a stopped instance.
func dismantle(p *progress, in instance.Instance, done string) error {
	if !in.Exists() { // one in memory removes itself
		p.step(done, in.String())
		return nil
	}
	held, err := in.Hold()
	if err != nil {
		return inUse(in, err)
	}
	record, err := in.Record()
	if err == nil {
		err = removeClientFiles(in, record)
	}
	if err == nil {
		err = controlplane.RemoveData(in.DataDir)
	}
	if err = errors.Join(err, held.Close(err != nil)); err != nil {
		return err
	}
	p.step(done, in.String())
	return nil
}

func registerYes(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false, "do not ask on a terminal")
}

// confirm asks the user on a terminal; without one, the command line is the confirmation.
func confirm(yes bool, question string) error {
	if yes || !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	fmt.Fprint(os.Stderr, question+" [y/N] ")
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
		return errors.New("nothing was changed: answer y, or give --yes")
	}
	return nil
}
