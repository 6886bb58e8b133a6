package compat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// TestFlagLists compares the lists of flags, from which docs/flags.md is checked and which are of Kubernetes 1.37.2, with
// the flags of the commands of the version that this module has.
func TestFlagLists(t *testing.T) {
	for _, c := range []struct {
		command *cobra.Command
		// gone and added are the flags that this version has and 1.37 does not, and the other way round.
		gone, added []string
	}{
		{command: apiserver.NewAPIServerCommand()},
		{controllers.NewControllerManagerCommand(), []string{"concurrent-service-syncs"}, []string{"concurrent-disruption-syncs"}},
		{command: scheduler.NewSchedulerCommand()},
	} {
		name := c.command.Name()
		text, err := os.ReadFile(filepath.Join("..", "internal", "kubeapiserver", "testdata", name+".tsv"))
		if err != nil {
			t.Fatal(err)
		}
		standards := map[string]string{}
		for line := range strings.Lines(string(text)) {
			flag, standard, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			standards[flag] = standard
		}
		c.command.Flags().VisitAll(func(f *pflag.Flag) {
			standard, ok := standards[f.Name]
			switch {
			case ok == slices.Contains(c.gone, f.Name):
				t.Errorf("%s: --%s is in the list: %t", name, f.Name, ok)
			case ok && standard != f.DefValue:
				t.Errorf("%s: the default of --%s is %q, in the list %q", name, f.Name, f.DefValue, standard)
			}
			delete(standards, f.Name)
		})
		for flag := range standards {
			if !slices.Contains(c.added, flag) {
				t.Errorf("%s: --%s is in the list only", name, flag)
			}
		}
	}
}

// TestControllerList compares the list of controllers, from which docs/controllers.md is checked and which is of Kubernetes
// 1.37.2, with those of the version that this module has.
func TestControllerList(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "internal", "controlplane", "testdata", "kube-controller-manager.txt"))
	if err != nil {
		t.Fatal(err)
	}
	gone := []string{"cloud-node-lifecycle-controller", "node-route-controller", "service-lb-controller"}
	want := slices.DeleteFunc(controllers.KnownControllers(), func(name string) bool { return slices.Contains(gone, name) })
	slices.Sort(want)
	if got := strings.Fields(string(text)); !slices.Equal(got, want) {
		t.Errorf("the list has\n%q\nand kube-controller-manager\n%q", got, want)
	}
}
