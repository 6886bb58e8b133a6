package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// Loads of schedulers run a peer's scheduler in a process of its own on a server of Fairlead, with its controllers and simulated nodes.

const (
	deviceClass    = "device"
	devicesPerNode = 8
)

// startBelow runs the server and, when it is ready, the peer's scheduler.
func (p *peer) startBelow(b *binaries, dir string, l layout) (*server, error) {
	s, err := startFairlead(b, dir, l)
	if err != nil {
		return nil, err
	}
	s.complete = func() (err error) {
		s.scheduler, err = p.schedule(b, dir, filepath.Join(dataDirectory(dir), "kubeconfig"))
		return err
	}
	return s, nil
}

func scheduleFairlead(b *binaries, dir, kubeconfig string) (*process, error) {
	return startProcess(dir, b.fairlead, "scheduler", "--kubeconfig", kubeconfig, "--leader-elect=false")
}

// scheduleKube runs kube-scheduler without its limit of 50 requests a second.
func scheduleKube(b *binaries, dir, kubeconfig string) (*process, error) {
	return startProcess(dir, b.kubeScheduler, append([]string{"--kubeconfig", kubeconfig}, kubeComponent...)...)
}

// writeDevices writes the devices of each node.
func writeDevices(dir string) (string, error) {
	path := filepath.Join(dir, "devices.yaml")
	text := fmt.Sprintf("driver: device.example.com\nclass: %s\nmodels: [{name: plain, count: %d}]\n", deviceClass, devicesPerNode)
	return path, os.WriteFile(path, []byte(text), 0o600)
}
