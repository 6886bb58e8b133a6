package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/server/faults"
	"fairlead.dev/server"
	"github.com/spf13/cobra"
)

type faultFlags struct {
	target target
	output string
	kind   string
	fault  faults.Fault
	delay  time.Duration
	all    bool
}

func newFault() *cobra.Command {
	var f faultFlags
	cmd := &cobra.Command{
		Use:   "fault",
		Short: "Inject faults into a server: its watches, writes, history and leases",
		Long: `Fault injects faults into a server that was started with --allow-faults, for tests
and for learning. fairlead trace shows their effects on events and requests.`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f.target.registerKubeconfig(cmd.PersistentFlags())
	cmd.PersistentFlags().StringVarP(&f.output, "output", "o", "", "output format: json")
	cmd.AddCommand(newFaultAdd(&f), newFaultList(&f), newFaultRemove(&f))
	return cmd
}

func newFaultAdd(f *faultFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add ACTION",
		Short: "Add a fault",
		Long: `Add adds a fault. The actions are:

  hold      send a watch no events until the fault is removed
  delay     send each event of a watch --delay later
  reorder   send a later event of another watch first, or wait for --delay (1s)
  drop      cut open watches
  pause     keep no history: watches that are behind get 410
  fail      fail the --nth write and --times in all, with --code
  slow      keep the --nth write, and --times in all, waiting for --delay
  expire    let the selected Leases expire: their holders' renewals fail until
            another holder has them; without a selection, end the leases of
            the store, and with them the Events`,
		Example: `  # The scheduler hears of no pod
  fairlead fault add hold --client=system:kube-scheduler --kind=pods

  # The third creation of a pod from now on fails with a conflict
  fairlead fault add fail --kind=pods --verb=create --nth=3 --code=409

  # The leader loses its lease, and another one takes over
  fairlead fault add expire --kind=leases -n shop --name=web-operator`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(faults.Actions, faults.Action(args[0])) {
				return usageError{fmt.Errorf("fault add takes one of %q", faults.Actions)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.fault.Action, f.fault.Delay = faults.Action(args[0]), faults.Duration(f.delay)
			return f.add(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.fault.Client, "client", "", "client whose watches or writes are affected: a user, the last part of a user, or the beginning of a user agent (default all clients)")
	flags.StringVar(&f.kind, "kind", "", "affected kind (default all)")
	flags.StringVarP(&f.fault.Namespace, "namespace", "n", "", "affected namespace (default all)")
	flags.StringVar(&f.fault.Name, "name", "", "affected object, if its name is in the path, or Lease")
	flags.StringVar(&f.fault.Verb, "verb", "", "affected verb: create, update, patch, delete, deletecollection (default all)")
	flags.DurationVar(&f.delay, "delay", 0, "duration for delay, slow and reorder")
	flags.IntVar(&f.fault.Nth, "nth", 0, "the first affected write, counted from now (default 1)")
	flags.IntVar(&f.fault.Times, "times", 0, "number of affected writes; below 0 for all (default 1)")
	flags.IntVar(&f.fault.Code, "code", 0, "status code of a failed write or renewal: 403, 409, 429, 500, 503 or 504 (default 500)")
	return cmd
}

func newFaultList(f *faultFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the faults", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.connect()
			if err != nil {
				return err
			}
			var list server.FaultList
			if err := requestJSON(cmd.Context(), c, client.Request{Path: server.FaultsPath}, &list); err != nil {
				return err
			}
			return f.show(cmd.OutOrStdout(), list, list.Faults)
		},
	}
}

func newFaultRemove(f *faultFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove NUMBER...", Short: "Remove faults, and deliver the events that they held back",
		Args: func(_ *cobra.Command, args []string) error {
			if f.all == (len(args) > 0) {
				return usageError{errors.New("fault remove takes numbers of faults, or --all")}
			}
			for _, a := range args {
				if n, err := strconv.ParseUint(a, 10, 64); err != nil || n == 0 {
					return usageError{fmt.Errorf("%q is not the number of a fault", a)}
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.connect()
			if err != nil {
				return err
			}
			paths := []string{server.FaultsPath}
			if !f.all {
				paths = nil
				for _, a := range args {
					paths = append(paths, server.FaultsPath+"/"+a)
				}
			}
			for _, path := range paths {
				if err := requestJSON(cmd.Context(), c, client.Request{Method: http.MethodDelete, Path: path}, nil); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "remove all faults")
	return cmd
}

func (f *faultFlags) connect() (*client.Client, error) {
	if f.output != "" && f.output != "json" {
		return nil, usageError{fmt.Errorf("-o %s: want json", f.output)}
	}
	c, _, err := connectTo(&f.target)
	return c, err
}

func (f *faultFlags) add(ctx context.Context, out io.Writer) error {
	c, err := f.connect()
	if err != nil {
		return err
	}
	if f.kind != "" {
		r, err := lives.Resource(ctx, c, f.kind)
		if err != nil {
			return err
		}
		f.fault.Resource = r.GVR.GroupResource().String()
	}
	body, err := json.Marshal(f.fault)
	if err != nil {
		return err
	}
	var added faults.Fault
	if err := requestJSON(ctx, c, client.Request{Method: http.MethodPost, Path: server.FaultsPath, Body: body}, &added); err != nil {
		return err
	}
	return f.show(out, added, []faults.Fault{added})
}

// show writes faults for machines, as whole, or for people.
func (f *faultFlags) show(out io.Writer, whole any, all []faults.Fault) error {
	if f.output == "json" {
		return json.NewEncoder(out).Encode(whole)
	}
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	fmt.Fprintln(w, "FAULT\tACTION\tOF\tHOW\tSTRUCK")
	for _, one := range all {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\n", one.ID, one.Action, describeSelection(one), describeFault(one), one.Struck)
	}
	return w.Flush()
}

// describeSelection describes a fault's selection in a few words.
func describeSelection(f faults.Fault) string {
	var parts []string
	for _, p := range []string{f.Verb, f.Resource, f.Namespace, f.Name} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if f.Client != "" {
		parts = append(parts, "by "+f.Client)
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, " ")
}

func describeFault(f faults.Fault) string {
	var parts []string
	if f.Delay > 0 {
		parts = append(parts, time.Duration(f.Delay).String())
	}
	if f.Code > 0 {
		parts = append(parts, strconv.Itoa(f.Code))
	}
	switch {
	case f.Times < 0:
		parts = append(parts, fmt.Sprintf("from write %d on", f.Nth))
	case f.Times > 0:
		parts = append(parts, fmt.Sprintf("%d from write %d on", f.Times, f.Nth))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// requestJSON makes a request whose answer is JSON, into an object unless that is nil.
func requestJSON(ctx context.Context, c *client.Client, q client.Request, into any) error {
	res, err := c.REST().Do(ctx, q)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(res.Body, into)
}
