//go:build linux

package realnode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"
)

// In the server's machine.
const (
	dataInside       = "/var/lib/fairlead"
	kubeconfigInside = "/root/.kube/config"
)

// StartServer starts the control plane, for the first time or again, and waits until it is
// ready.
func (c *Cluster) StartServer(ctx context.Context) error {
	log := c.Server.Log("fairlead")
	before, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	err = c.Server.serve("fairlead", "up", fmt.Sprintf("--nodes=%d", c.saved.Simulated), "--listen="+serverAddress, "--cluster-cidr="+podCIDR, "--tls-san=127.0.0.1",
		"--data-dir="+dataInside, "--kubeconfig="+kubeconfigInside, "-o=json")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = untilText(ctx, log, len(before), func(text []byte) bool { return bytes.Contains(text, []byte(`"kubeconfig"`)) })
	if err != nil {
		text, _ := os.ReadFile(log)
		return fmt.Errorf("the control plane did not start: %w\n%s", err, text[len(before):])
	}
	return nil
}
