package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/clusters"
	"fairlead.dev/internal/controlplane"
)

// commands answers the lines of `up --stdin`: each is a command of `fairlead cluster`, or stop. The response to each is one
// line of JSON.
type commands struct {
	cp *controlplane.ControlPlane
	// dir gets the kubeconfigs.
	dir string
	out *json.Encoder
}

// hosted is a cluster in a response.
type hosted struct {
	Cluster    string `json:"cluster"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
	Revision   string `json:"revision"`
}

// failed is the response to a command that failed.
type failed struct {
	Error string `json:"error"`
	// Reason is that of the API server's Status, or Usage for a command that is not understood.
	Reason metav1.StatusReason `json:"reason"`
}

// run answers the lines of in until a line says stop, in ends, or a response cannot be written.
func (s *commands) run(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if len(words) == 1 && words[0] == "stop" {
			return nil
		}
		response, err := s.command(ctx, words)
		if err != nil {
			response = failed{message(err), reason(err)}
		}
		if err := s.out.Encode(response); err != nil {
			return err
		}
	}
	return lines.Err()
}

// command runs one command and returns its response.
func (s *commands) command(ctx context.Context, words []string) (response any, err error) {
	response = struct{}{}
	f := &clusterFlags{
		connect: func(ctx context.Context) (*clusters.Client, error) {
			return clusters.NewClient(ctx, s.cp.InProcess(controlplane.HostUser))
		},
	}
	f.print = func(ctx context.Context, c *clusters.Client, all ...*clusters.Cluster) error {
		list := []hosted{}
		for _, object := range all {
			one, err := s.describe(ctx, c, object)
			if err != nil {
				return err
			}
			list = append(list, one)
		}
		if words[0] == "list" {
			response = map[string]any{"clusters": list}
		} else {
			response = list[0]
		}
		return nil
	}
	root := withFlagErrors(&cobra.Command{
		Use: "stdin", Args: unknownCommand, SilenceErrors: true, SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("want create, fork, reset, delete, list or stop")}
		},
	})
	help := false
	root.SetHelpFunc(func(*cobra.Command, []string) { help = true })
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(io.Discard)
	f.addCommands(root)
	root.SetArgs(words)
	if err = root.ExecuteContext(ctx); err == nil && help {
		err = usageError{errors.New("no help here: see fairlead cluster --help")}
	}
	return response, err
}

// describe writes the kubeconfig of a cluster to its file, in JSON, which is YAML too, for languages that read JSON only.
func (s *commands) describe(ctx context.Context, c *clusters.Client, object *clusters.Cluster) (hosted, error) {
	text, err := c.Kubeconfig(ctx, object.Name)
	if err != nil {
		return hosted{}, err
	}
	if text, err = yaml.YAMLToJSON(text); err != nil {
		return hosted{}, err
	}
	path := filepath.Join(s.dir, object.Name+".kubeconfig")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return hosted{}, err
	}
	return hosted{object.Name, object.Status.URL, path, object.Status.Revision}, nil
}

// reason returns the reason of an error.
func reason(err error) metav1.StatusReason {
	if errors.As(err, new(usageError)) {
		return "Usage"
	}
	return apierrors.ReasonForError(err)
}

// serveStdin answers the lines of standard input, and calls stop at its end. The caller calls remove at last.
func serveStdin(ctx context.Context, cp *controlplane.ControlPlane, clock processClock, stop func()) (remove func(), err error) {
	lines, err := clock.stdio()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fairlead-clusters-")
	if err != nil {
		return nil, errors.Join(err, lines.Close())
	}
	s := &commands{cp: cp, dir: dir, out: json.NewEncoder(lines)}
	go func() {
		defer stop()
		if err := s.run(ctx, lines); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "fairlead: standard input:", err)
		}
	}()
	return func() {
		lines.Close()
		os.RemoveAll(dir)
	}, nil
}
