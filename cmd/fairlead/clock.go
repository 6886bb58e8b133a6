package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/server"
)

// clockFlags are the common flags of `clock`'s commands.
type clockFlags struct {
	target target
	output string
}

func newClock() *cobra.Command {
	var f clockFlags
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Show or advance the clock of a server with virtual time",
		Long: `Clock shows the time of a server, and advances the clock of one that was started with
--clock=virtual. Its time stands still until then: controllers, scheduler and nodes wait
for it, and leases, CronJobs and timestamps go by it.`,
		Example: `  fairlead up --in-memory --clock=virtual

  # In another terminal: the next ten minutes, in as little time as they take to compute
  fairlead clock advance 10m

  # To the moment at which a Job is complete
  fairlead clock run --until=condition=Complete job/report`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.connect()
			if err != nil {
				return err
			}
			var now server.ClockState
			if err := requestJSON(cmd.Context(), c, client.Request{Path: server.ClockPath}, &now); err != nil {
				return err
			}
			return f.show(cmd.OutOrStdout(), now)
		},
	}
	f.target.register(cmd, cmd.PersistentFlags())
	cmd.PersistentFlags().StringVarP(&f.output, "output", "o", "", "output format: json")
	cmd.AddCommand(newClockAdvance(&f), newClockRun(&f))
	return cmd
}

func newClockAdvance(f *clockFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "advance DURATION", Short: "Advance the clock by a duration, such as 90s or 24h",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("clock advance takes one duration, such as 10m")}
			}
			_, err := forward(args[0])
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := forward(args[0])
			if err != nil {
				return err
			}
			c, err := f.connect()
			if err != nil {
				return err
			}
			state, err := advanceClock(cmd.Context(), c, server.ClockAdvance{By: metav1.Duration{Duration: by}})
			if err != nil {
				return err
			}
			return f.show(cmd.OutOrStdout(), state)
		},
	}
	// A duration such as -5m is refused as one that goes back, not as a flag that does not exist.
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
			if _, backward := forward("-" + unknown.GetSpecifiedShortnames()); strings.ContainsAny(unknown.GetSpecifiedShortnames(), "0123456789") {
				return backward
			}
		}
		return flagError(cmd, err)
	})
	return cmd
}

// forward parses a duration by which a clock can move.
func forward(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, usageError{fmt.Errorf("%q: want a duration, such as 90s or 24h", s)}
	case d <= 0:
		return 0, usageError{fmt.Errorf("the clock cannot be moved by %s: it only moves forward", s)}
	}
	return d, nil
}

func advanceClock(ctx context.Context, c *client.Client, q server.ClockAdvance) (state server.ClockState, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return state, err
	}
	return state, requestJSON(ctx, c, client.Request{Method: http.MethodPost, Path: server.ClockPath, Body: body}, &state)
}

func (f *clockFlags) connect() (*client.Client, error) {
	c, _, err := f.connectTo()
	return c, err
}

func (f *clockFlags) connectTo() (c *client.Client, namespace string, err error) {
	if f.output != "" && f.output != "json" {
		return nil, "", usageError{fmt.Errorf("-o %s: want json", f.output)}
	}
	config, namespace, err := f.target.load()
	if err != nil {
		return nil, "", err
	}
	// The server is silent while it advances its clock, for minutes if much happens in that time.
	c, err = client.New(config, client.Options{UserAgent: "fairlead-clock", Silence: -1})
	return c, namespace, err
}

func (f *clockFlags) show(out io.Writer, s server.ClockState) error {
	if f.output == "json" {
		return json.NewEncoder(out).Encode(s)
	}
	text := s.Time.UTC().Format(time.RFC3339Nano)
	if d := s.Advanced.Duration; d > 0 {
		text += ", " + d.String() + " later"
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
