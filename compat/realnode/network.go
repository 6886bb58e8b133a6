//go:build linux

package realnode

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

const (
	serverIP      = "10.77.0.1"
	serverAddress = serverIP + ":6443"
	serviceCIDR   = "10.96.0.0/12"
	podCIDR       = "10.64.0.0/16" // outside of the range of simulated pods, 10.128.0.0/9
)

// nodeIP is the address of host i, which counts from 0: the nodes, then the spare machines.
func nodeIP(i int) string { return fmt.Sprintf("10.77.0.%d", 11+i) }

// connect joins the machines: a bridge in the server's machine, and a link from it to each
// host. Routes to pods follow when the nodes have their ranges.
func (c *Cluster) connect() error {
	server := []string{
		"link set lo up",
		"link add br0 type bridge",
		"addr add " + serverIP + "/24 dev br0",
		"link set br0 up",
	}
	for _, n := range c.hosts() {
		server = append(server,
			fmt.Sprintf("link add %s type veth peer name eth0 netns %d", n.Name, n.init),
			fmt.Sprintf("link set %s master br0 up", n.Name))
	}
	// Upstream's tests reach Services from where they run, which is this machine.
	server = append(server, fmt.Sprintf("route add %s via %s", serviceCIDR, nodeIP(0)))
	if err := c.Server.ip(server...); err != nil {
		return err
	}
	for i, n := range c.hosts() {
		if err := n.ip("link set lo up", "addr add "+nodeIP(i)+"/24 dev eth0", "link set eth0 up", "route add default via "+serverIP); err != nil {
			return err
		}
	}
	return nil
}

// Unplug takes a node off the network, and Plug connects it again.
func (c *Cluster) Unplug(node *Machine) error { return c.Server.ip("link set " + node.Name + " down") }

// Plug connects a node after Unplug.
func (c *Cluster) Plug(node *Machine) error { return c.Server.ip("link set " + node.Name + " up") }

// ip runs commands of ip(8) in the machine's network, but with the host's process IDs.
func (m *Machine) ip(commands ...string) error {
	cmd := exec.Command("nsenter", "--net", "--target", strconv.Itoa(m.init), "--", "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("network of %s: %w: %s", m.Name, err, out)
	}
	return nil
}
