package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/internal/trace/why"
)

type whyFlags struct {
	target            target
	namespace, output string
	watch             bool
}

func newWhy() *cobra.Command {
	var f whyFlags
	cmd := &cobra.Command{
		Use:   "why [KIND/NAME]",
		Short: "Explain why an object is in its state, or all that is not well in the cluster",
		Long: `Why explains the state of an object from its status, from the Events about it, from
the objects that it depends on, and from the lives of its last changes: which controller
handled which revision when, with which result. The first line has the root cause.

Without an object it lists everything in the cluster that is not in its desired state, by
root causes, with the objects that each affects.`,
		Example: `  fairlead why                       # all that is not well
  fairlead why pod/web-x
  fairlead why deployment/web -n shop --watch
  fairlead why ns/old -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := f.check(args)
			if err != nil {
				return usageError{err}
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), object)
		},
	}
	f.target.register(cmd, cmd.Flags())
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "the object's namespace (default that of the kubeconfig)")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "output format: json or yaml")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "print the explanation again whenever it changes, until Ctrl-C")
	return cmd
}

// check returns the kind and the name of the object, both "" for the whole cluster.
func (f *whyFlags) check(args []string) (object [2]string, err error) {
	copy(object[:], args)
	if len(args) == 1 {
		object[0], object[1], _ = strings.Cut(args[0], "/")
	}
	switch {
	case len(args) > 2 || len(args) > 0 && (object[0] == "" || object[1] == "") || len(args) == 2 && strings.Contains(args[0], "/"):
		return object, errors.New("why takes one KIND/NAME, or none for the whole cluster")
	case f.output != "" && f.output != "json" && f.output != "yaml":
		return object, fmt.Errorf("-o %s: want json or yaml", f.output)
	}
	return object, nil
}

func (f *whyFlags) run(ctx context.Context, out io.Writer, object [2]string) error {
	c, namespace, err := connectTo(&f.target)
	if err != nil {
		return err
	}
	if f.namespace != "" {
		namespace = f.namespace
	}
	ask := func() (why.Answer, error) { return explain(ctx, c, object, namespace) }
	if f.watch {
		return f.follow(ctx, c, out, ask)
	}
	a, err := ask()
	if err != nil {
		return err
	}
	return f.write(out, a, palette(out))
}

// explain explains an object, or the whole cluster.
func explain(ctx context.Context, c *client.Client, object [2]string, namespace string) (why.Answer, error) {
	if object[0] == "" {
		return lives.Survey(ctx, c)
	}
	s, err := lives.Subject(ctx, c, object[0], namespace, object[1])
	if err != nil {
		return nil, err
	}
	if s.Unknown() {
		return nil, fmt.Errorf("%s %q does not exist, and the trace has no event of it", s.Resource, s.Name)
	}
	return why.Explain(s), nil
}

// write writes an answer in the format that was asked for.
func (f *whyFlags) write(out io.Writer, a why.Answer, p show.Palette) error {
	switch f.output {
	case "json":
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	case "yaml":
		text, err := yaml.Marshal(a)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	return a.Print(out, p)
}
