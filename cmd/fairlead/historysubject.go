package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	clienthistory "fairlead.dev/internal/client/history"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/history"
	"fairlead.dev/internal/history/text"
)

// historyFlags are the flags of all commands about the history of an object.
type historyFlags struct {
	target            target
	namespace, output string
}

func (f *historyFlags) register(cmd *cobra.Command, outputs string) {
	flags := cmd.Flags()
	f.target.register(cmd, flags)
	flags.StringVarP(&f.namespace, "namespace", "n", "", "the object's namespace (default that of the kubeconfig)")
	flags.StringVarP(&f.output, "output", "o", "", "output format: "+outputs)
}

// subject takes KIND/NAME, or KIND NAME, from the arguments of a command, and returns the rest.
func subject(command string, args []string) (object [2]string, rest []string, err error) {
	if len(args) > 0 {
		var whole bool
		if object[0], object[1], whole = strings.Cut(args[0], "/"); whole {
			rest = args[1:]
		} else if len(args) > 1 {
			object[1], rest = args[1], args[2:]
		}
	}
	if object[0] == "" || object[1] == "" || strings.Contains(object[1], "/") {
		return object, nil, fmt.Errorf("%s takes one KIND/NAME, such as deployment/web", command)
	}
	return object, rest, nil
}

// reader connects to the server and finds the object's kind.
func (f *historyFlags) reader(ctx context.Context, object [2]string) (r clienthistory.Reader, err error) {
	c, namespace, err := connectTo(&f.target)
	if err != nil {
		return r, err
	}
	if f.namespace != "" {
		namespace = f.namespace
	}
	kind, err := lives.Resource(ctx, c, object[0])
	if err != nil {
		return r, err
	}
	return clienthistory.Reader{Client: c, Resource: kind, Namespace: namespace, Name: object[1], Objects: true}, nil
}

// style returns the style for a writer: colors and the width of a terminal.
func style(out io.Writer) (s text.Style) {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil {
		s.Width = width
	}
	if os.Getenv("NO_COLOR") == "" {
		s = s.Colored()
	}
	return s
}

// parseRevision reads a revision of the command line.
func parseRevision(arg string) (int64, error) {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no revision: want a number, as `fairlead history` lists them", arg)
	}
	return n, nil
}

// parseMoment reads a time of the command line: a duration before now, or a time of RFC 3339.
func parseMoment(arg string) (m clienthistory.Moment, err error) {
	if m.Ago, err = time.ParseDuration(strings.TrimPrefix(arg, "-")); err == nil {
		return m, nil
	}
	m.Time, err = time.Parse(time.RFC3339, arg)
	if err != nil {
		return m, fmt.Errorf("--at=%s: want a duration before now, such as -5m, or a time such as 2026-01-02T15:04:05Z", arg)
	}
	return m, nil
}

// compacted is the note about the beginning of the kept history, "" if it begins with the object.
func compacted(p history.Page) string {
	switch {
	case p.Withheld != "":
		return "Earlier states are not shown: " + p.Withheld
	case p.Compacted > 0:
		return fmt.Sprintf("States before revision %d were compacted", p.Compacted)
	}
	return ""
}

// write writes a value as YAML, or else as JSON.
func (f *historyFlags) write(out io.Writer, v any) error {
	if f.output == "yaml" {
		b, err := yaml.Marshal(v)
		if err != nil {
			return err
		}
		_, err = out.Write(b)
		return err
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
