//go:build linux

package realnode

import "context"

// startDNS runs CoreDNS in the cluster and waits until it answers.
func (c *Cluster) startDNS(ctx context.Context) error {
	if _, err := c.Server.Run("fairlead", "addon", "apply", "coredns", "--image="+c.kit.corednsImage(), "--server=https://"+serverAddress); err != nil {
		return err
	}
	return c.UntilDeployment(ctx, "kube-system", "coredns")
}
