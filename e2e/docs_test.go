package e2e

import (
	"fmt"
	"os"
	"testing"

	"fairlead.dev/internal/controlplane"
)

// TestReadmeControllers: the sample output of `fairlead up` in README.md has the right number
// of controllers: nodeipam and serviceloadbalancer run only with --cluster-cidr and --load-balancer-pool, podgroupprotection with
// the feature gate GenericWorkload, resourcepoolstatusrequest with DRAResourcePoolStatus, storageversiongarbagecollector with
// StorageVersionAPI, and selinuxwarning only by its name.
func TestReadmeControllers(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "README.md", string(readme), fmt.Sprintf(" ✓ Controllers  %d running", len(controlplane.ControllerNames())-6))
}
