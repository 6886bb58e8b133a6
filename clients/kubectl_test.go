package clients_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// TestKubectl runs the transcripts of testdata/kubectl one after the other, since kubectl's
// code has global state.
func TestKubectl(t *testing.T) {
	files, err := filepath.Glob("testdata/kubectl/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { runTranscript(t, newTarget(t), f) })
	}
}

// kubectl runs upstream's kubectl for one transcript.
type kubectl struct {
	target
	dir string // holds the transcript's files and kubectl's cache
	ns  string
}

// run returns a command's output, its stderr with "!" before each line, and its exit code
// unless that is 0.
func (k kubectl) run(stdin string, args ...string) string {
	var out, errs bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errs}
	execute := k.execute
	if slices.Contains(args, "can-i") {
		execute = k.apart
	}
	code := execute(streams, args)
	text := out.String()
	for _, line := range strings.Split(strings.TrimRight(errs.String(), "\n"), "\n") {
		if line != "" {
			text += "! " + line + "\n"
		}
	}
	if code != 0 {
		text += fmt.Sprintln("exit", code)
	}
	return text
}

// apart executes a command in a process of its own, for commands that exit the process.
func (k kubectl) apart(streams genericiooptions.IOStreams, args []string) (code int) {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), "CLIENTS_KUBECTL="+k.kubeconfig, "CLIENTS_DIR="+k.dir, "CLIENTS_NS="+k.ns)
	c.Stdin, c.Stdout, c.Stderr = streams.In, streams.Out, streams.ErrOut
	c.Run()
	return c.ProcessState.ExitCode()
}

func (k kubectl) execute(streams genericiooptions.IOStreams, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fatal)
			if !ok {
				panic(r)
			}
			if f.message != "" {
				fmt.Fprintln(streams.ErrOut, strings.TrimRight(f.message, "\n"))
			}
			code = f.code
		}
	}()
	flags := genericclioptions.NewConfigFlags(true).WithDiscoveryBurst(1000).WithDiscoveryQPS(1000).WithWarningPrinter(streams)
	cache := filepath.Join(k.dir, ".cache")
	flags.KubeConfig, flags.Namespace, flags.CacheDir = &k.kubeconfig, &k.ns, &cache
	root := cmd.NewKubectlCommand(cmd.KubectlOptions{IOStreams: streams, Arguments: append([]string{"kubectl"}, args...), ConfigFlags: flags})
	root.SetArgs(args)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SilenceErrors, root.SilenceUsage = true, true
	cmdutil.CheckErr(root.Execute())
	return 0
}

// write writes a file of a transcript to dir.
func (k kubectl) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
