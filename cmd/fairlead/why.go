package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/trace/why"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

type whyFlags struct{ kubeconfig, namespace, output string }

func newWhy() *cobra.Command {
	var f whyFlags
	cmd := &cobra.Command{
		Use:   "why KIND/NAME",
		Short: "Explain why an object is in its state, or which event it still waits for",
		Long: `Why explains the state of an object from its status, from the Events about it, from
the objects that it depends on, and from the lives of its last changes: which controller
handled which revision when, with which result.`,
		Example: `  fairlead why pod/web-x
  fairlead why deployment/web -n shop
  fairlead why ns/old -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			object, err := f.check(args)
			if err != nil {
				return usageError{err}
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), object)
		},
	}
	registerKubeconfig(cmd.Flags(), &f.kubeconfig)
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "", "the object's namespace (default that of the kubeconfig)")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "output format: json or yaml")
	return cmd
}

// check returns the kind and the name of the object.
func (f *whyFlags) check(args []string) (object [2]string, err error) {
	copy(object[:], args)
	if len(args) == 1 {
		object[0], object[1], _ = strings.Cut(args[0], "/")
	}
	switch {
	case len(args) > 2 || object[0] == "" || object[1] == "" || len(args) == 2 && strings.Contains(args[0], "/"):
		return object, errors.New("why takes one KIND/NAME")
	case f.output != "" && f.output != "json" && f.output != "yaml":
		return object, fmt.Errorf("-o %s: want json or yaml", f.output)
	}
	return object, nil
}

func (f *whyFlags) run(ctx context.Context, out io.Writer, object [2]string) error {
	c, namespace, err := connectTo(f.kubeconfig)
	if err != nil {
		return err
	}
	if f.namespace != "" {
		namespace = f.namespace
	}
	s, err := lives.Subject(ctx, c, object[0], namespace, object[1])
	if err != nil {
		return err
	}
	if s.Unknown() {
		return fmt.Errorf("%s %q does not exist, and the trace has no event of it", s.Resource, s.Name)
	}
	a := why.Explain(s)
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
	return why.Print(out, a, palette(out))
}
