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
	templateInside   = "/etc/fairlead/node-template.yaml"
)

// StartServer starts the control plane, for the first time or again, and waits until it is
// ready.
func (c *Cluster) StartServer(ctx context.Context) error {
	log := c.Server.Log("fairlead")
	before, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	args := []string{"up", fmt.Sprintf("--nodes=%d", c.saved.Simulated), "--listen=" + serverAddress, "--cluster-cidr=" + podCIDR, "--tls-san=127.0.0.1",
		"--data-dir=" + dataInside, "--kubeconfig=" + kubeconfigInside, "-o=json"}
	if c.saved.Tainted {
		template := fmt.Sprintf("{apiVersion: v1, kind: Node, spec: {taints: [{key: %s, effect: NoSchedule}]}}\n", SimulatedTaint)
		if err := c.Server.write(templateInside, []byte(template)); err != nil {
			return err
		}
		args = append(args, "--node-template="+templateInside)
	}
	if err := c.Server.serve("fairlead", args...); err != nil {
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
