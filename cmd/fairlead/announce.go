package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/kubeconfig"
)

// ready is the line of JSON that `up` prints.
type ready struct {
	Name        string `json:"name,omitempty"`
	Server      string `json:"server"`
	Kubeconfig  string `json:"kubeconfig"`
	Context     string `json:"context"`
	CAFile      string `json:"caFile"`
	Etcd        string `json:"etcd,omitempty"`
	Page        string `json:"page"`
	Log         string `json:"log,omitempty"`
	PID         int    `json:"pid"`
	ReadyMillis int64  `json:"readyMillis"`
}

// mergeInto returns the kubeconfig to merge the context into, or "".
func (f serveFlags) mergeInto(flags *pflag.FlagSet) (string, error) {
	asked := flags.Changed("merge-kubeconfig")
	if !asked {
		f.merge = f.detach || f.name != ""
	}
	if !f.merge {
		return "", nil
	}
	into, err := kubeconfig.DefaultPath()
	if err != nil && !asked {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("--merge-kubeconfig: %w", err)
	}
	return filepath.Abs(into)
}

// announce prints for people or machines that the control plane is ready, and records it. It merges the
// kubeconfig into the file at into, if that is not "".
func announce(out io.Writer, p *progress, cp *controlplane.ControlPlane, f serveFlags, into string, took time.Duration) error {
	if into != "" {
		if err := kubeconfig.Merge(into, cp.Entry()); err != nil {
			return err
		}
		p.step("Context", cp.Entry().ContextName()+" in "+into+", now the current one")
	}
	path, err := filepath.Abs(cp.KubeconfigPath())
	if err != nil {
		return err
	}
	r := ready{
		Name: f.name, Server: cp.URL(), Kubeconfig: cp.KubeconfigPath(), Context: cp.Entry().ContextName(), CAFile: cp.CAPath(),
		Etcd: cp.EtcdURL(), Page: cp.PageURL(), PID: os.Getpid(), ReadyMillis: took.Milliseconds(),
	}
	if f.runs != nil {
		if err := f.runs.ready(p, f, cp, path, into); err != nil {
			return err
		}
	}
	export := ""
	if into == "" {
		export = "  export KUBECONFIG=" + shellQuote(path) + "\n"
	}
	text := fmt.Sprintf("Ready in %d ms. Next:\n\n%s  kubectl get nodes\n  kubectl create deployment web --image=nginx --replicas=3\n  kubectl get pods --watch\n\nSee what happens at %s\n(good for one login; `fairlead ui%s` makes another). %s stops it; %s.",
		r.ReadyMillis, export, r.Page, nameFlag(f.name), f.end(), f.keptText())
	switch {
	case f.detach:
		r.Log = f.runs.held.LogPath()
		f.runs.report(startReport{Ready: &r, Text: text})
	case f.output == "json":
		return json.NewEncoder(out).Encode(r)
	default:
		p.line(text)
	}
	return nil
}

// end names the command or the key that stops the server.
func (f serveFlags) end() string {
	if !f.detach {
		return "Ctrl-C"
	}
	return "`fairlead down" + selection(f.runs.held.Instance) + "`"
}

// keptText tells where the objects are kept.
func (f serveFlags) keptText() string {
	switch {
	case f.options.InMemory:
		return "nothing is kept"
	case len(f.options.Etcd.Servers) > 0:
		return "everything is kept in etcd"
	}
	return "everything is kept in " + f.options.DataDir
}
