package controlplane_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
)

// TestControllerNames checks that the names are sorted, and that each is the name of the controller's folder.
func TestControllerNames(t *testing.T) {
	names := controlplane.ControllerNames()
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join("..", "controllers", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestUpstreamNames selects controllers by the names of kube-controller-manager.
func TestUpstreamNames(t *testing.T) {
	for list, want := range map[string]string{
		"deployment-controller,job":                            "2 running",
		"deployment-controller,deployment":                     "1 running",
		"job,pod-garbage-collector-controller,-job-controller": "1 running",
	} {
		running := ""
		controlplanetest.Start(t, controlplane.Options{Controllers: strings.Split(list, ","), Progress: func(what, detail string) {
			if what == "Controllers" {
				running = detail
			}
		}})
		if running != want {
			t.Errorf("%s: %s, want %s", list, running, want)
		}
	}
}

// TestGatedControllers: an emulated version without the feature gates of controllers does not run them.
func TestGatedControllers(t *testing.T) {
	all := len(controlplane.ControllerNames()) - 3 // nodeipam and serviceloadbalancer have no ranges, selinuxwarning is off by default
	for v, without := range map[string]int{
		"1.33": 9, // those of 1.35, resourceclaim, vacprotection
		"1.35": 7, // those of 1.36, devicetainteviction
		"1.36": 6, // that of 1.37, clustertrustbundlepublisher, podcertificaterequestcleaner, storageversionmigrator
		"1.37": 3, // podgroupprotection, resourcepoolstatusrequest and storageversiongarbagecollector, whose feature gates are off by default
	} {
		of, err := gates.New(version.MustParse(v))
		if err != nil {
			t.Fatal(err)
		}
		running := ""
		controlplanetest.Start(t, controlplane.Options{Controllers: []string{"*"}, API: gates.API{Gates: of}, Progress: func(what, detail string) {
			if what == "Controllers" {
				running = detail
			}
		}})
		if want := fmt.Sprintf("%d running", all-without); running != want {
			t.Errorf("%s: %s, want %s", v, running, want)
		}
	}
}
