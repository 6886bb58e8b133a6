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

// TestFlagLists compares the lists of flags, from which docs/flags.md is checked, with the flags of upstream's commands.
func TestFlagLists(t *testing.T) {
	for _, command := range []*cobra.Command{
		apiserver.NewAPIServerCommand(), controllers.NewControllerManagerCommand(), scheduler.NewSchedulerCommand(),
	} {
		name := command.Name()
		text, err := os.ReadFile(filepath.Join("..", "internal", "kubeapiserver", "testdata", name+".tsv"))
		if err != nil {
			t.Fatal(err)
		}
		standards := map[string]string{}
		for line := range strings.Lines(string(text)) {
			flag, standard, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			standards[flag] = standard
		}
		command.Flags().VisitAll(func(f *pflag.Flag) {
			switch standard, ok := standards[f.Name]; {
			case !ok:
				t.Errorf("%s: --%s is not in the list", name, f.Name)
			case standard != f.DefValue:
				t.Errorf("%s: the default of --%s is %q, in the list %q", name, f.Name, f.DefValue, standard)
			}
			delete(standards, f.Name)
		})
		for flag := range standards {
			t.Errorf("%s: --%s is in the list only", name, flag)
		}
	}
}

// TestControllerList compares the list of controllers, from which docs/controllers.md is checked, with those of
// kube-controller-manager.
func TestControllerList(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "internal", "controlplane", "testdata", "kube-controller-manager.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(controllers.KnownControllers()))
	if got := strings.Fields(string(text)); !slices.Equal(got, want) {
		t.Errorf("the list has\n%q\nand kube-controller-manager\n%q", got, want)
	}
}
