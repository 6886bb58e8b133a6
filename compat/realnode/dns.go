//go:build linux

package realnode

import (
	"bytes"
	"context"
	"fmt"
)

const dnsIP = "10.96.0.10"

// startDNS runs CoreDNS in the cluster and waits until it answers.
func (c *Cluster) startDNS(ctx context.Context) error {
	var manifest bytes.Buffer
	if err := parse("coredns.yaml").Execute(&manifest, struct{ Image, IP string }{c.kit.corednsImage(), dnsIP}); err != nil {
		return err
	}
	apply := c.Server.Command("kubectl", "apply", "-f", "-")
	apply.Stdin = &manifest
	if out, err := apply.CombinedOutput(); err != nil {
		return fmt.Errorf("apply DNS: %w: %s", err, out)
	}
	return c.UntilDeployment(ctx, "kube-system", "coredns")
}
