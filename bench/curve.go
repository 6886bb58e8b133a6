package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// podsPerDeployment shapes the cluster of a curve; a namespace has the Deployments of podsPerNamespace.
	podsPerDeployment = 1_000
	podsPerNamespace  = 10_000
	// deploymentsAtOnce is how many Deployments are made before all pods of the first one run.
	deploymentsAtOnce = 50
	// rest is the time before memory is read: objects that have not changed for a while take less.
	rest = 40 * time.Second
	// filledRest is the time that the caches of a filled cluster take.
	filledRest = 3 * time.Minute
)

// point has the costs of a control plane at one size.
type point struct {
	Pods          int     `json:"pods"`
	Nodes         int     `json:"nodes"`
	PodCPU        float64 `json:"podCPU"`        // microseconds from create to Running, of the pods since the point before
	PodsPerSecond float64 `json:"podsPerSecond"` // of the same pods
	Resident      float64 `json:"resident"`      // MB, at rest
	Get           float64 `json:"get"`           // microseconds of CPU
	Patch         float64 `json:"patch"`         // microseconds of CPU, with the node's reading of it
	Create        float64 `json:"create"`        // microseconds of CPU, of a pod that no scheduler places
	FanOut        float64 `json:"fanOut"`        // microseconds of CPU for a delivery to one of the watchers of a namespace
	FanOutP99     float64 `json:"fanOutP99"`     // milliseconds from the write to the watcher
	OwnNode       float64 `json:"ownNode"`       // microseconds of CPU for a patch that one of the watchers of each node sees
	OwnNodeP99    float64 `json:"ownNodeP99"`    // milliseconds from the write to that watcher
	Page          float64 `json:"page"`          // microseconds of CPU for a list of 500
	List          float64 `json:"list"`          // seconds for the list of all in protobuf
	Growth        float64 `json:"growth"`        // MB, the peak of memory during it above that before
	Restart       float64 `json:"restart"`       // seconds from the start after kill -9 to ready
	Disk          float64 `json:"disk"`          // MB
}

// curve is one control plane that grows.
type curve struct {
	*bench
	bin      *binaries
	dir      string
	first    int // nodes that it starts with; the others are added
	perNode  int // pods
	filled   bool
	pods     int
	deployed int
}

// parseCurve reads the sizes of -curve.
func parseCurve(text string) (all []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < podsPerDeployment || n%podsPerDeployment != 0 || len(all) > 0 && n <= all[len(all)-1] {
			return nil, fmt.Errorf("-curve %s: want ascending multiples of %d", text, podsPerDeployment)
		}
		all = append(all, n)
	}
	return all, nil
}

// runCurve grows a control plane of Fairlead and prints its costs at each size, after an error those that were measured.
func runCurve(ctx context.Context, o *options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.peers = peers[:1]
	if err := o.bin.find(ctx, dir, o); err != nil {
		return err
	}
	nodes := o.curve[0] / o.perNode
	c := &curve{bench: &bench{sizes: o.sizes, nodes: nodes}, bin: &o.bin, dir: dir, first: nodes, perNode: o.perNode}
	if o.filled != "" {
		c.filled, c.pods, c.deployed = true, o.curve[0], o.curve[0]/podsPerDeployment
		if err := os.CopyFS(dataDirectory(dir), os.DirFS(o.filled)); err != nil {
			return err
		}
	}
	if err := c.start(ctx); err != nil {
		return err
	}
	defer func() { c.server.stop() }()
	if err := c.setUp(ctx); err != nil {
		return err
	}
	defer func() { c.tearDown() }()
	var points []point
	defer func() { err = errors.Join(err, printPoints(o.output, points)) }()
	for _, pods := range o.curve {
		began := time.Now()
		p, err := c.at(ctx, pods)
		if err != nil {
			return errors.Join(fmt.Errorf("%d pods: %w", pods, err), errors.New(c.server.ended()))
		}
		points = append(points, *p)
		fmt.Fprintf(os.Stderr, "%d pods on %d nodes: measured in %s\n", pods, p.Nodes, time.Since(began).Round(time.Second))
		if err := drawCurve(o.svg, points); err != nil {
			return err
		}
	}
	return nil
}

func printPoints(output string, points []point) error {
	if output == "json" {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(points)
	}
	printCurve(os.Stdout, points)
	return nil
}

func (c *curve) start(ctx context.Context) (err error) {
	if c.server, err = startFairlead(c.bin, c.dir, layout{Servers: 1, nodes: c.first, podsPerNode: c.perNode}); err != nil {
		return err
	}
	return c.server.await(ctx)
}

// at brings the control plane to a size and measures it.
func (c *curve) at(ctx context.Context, pods int) (*point, error) {
	p := &point{Pods: pods}
	for _, step := range []func(context.Context, *point) error{c.grow, c.atRest, c.requests, c.ownNodes, c.listAll, c.restart} {
		if err := step(ctx, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// grow adds nodes, and Deployments until all pods run.
func (c *curve) grow(ctx context.Context, p *point) error {
	if n := p.Pods / c.perNode; n > c.nodes {
		scale := exec.CommandContext(ctx, c.bin.fairlead, "nodes", "scale", strconv.Itoa(n), "--timeout=10m", "--kubeconfig", filepath.Join(dataDirectory(c.dir), "kubeconfig"))
		if out, err := scale.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", scale, err, out)
		}
		c.nodes = n
	}
	p.Nodes = c.nodes
	if c.filled {
		return sleep(ctx, filledRest)
	}
	idle, err := c.idleRate(ctx)
	if err != nil {
		return err
	}
	added := p.Pods - c.pods
	cpu, wall, err := c.spent(func() error {
		first := c.deployed
		for ; c.pods < p.Pods; c.pods += podsPerDeployment {
			if c.pods%podsPerNamespace == 0 {
				if err := c.newNamespace(ctx, c.conn(0), c.namespace(c.deployed)); err != nil {
					return err
				}
			}
			if err := c.deploy(ctx, c.namespace(c.deployed), fmt.Sprintf("web-%d", c.deployed), podsPerDeployment); err != nil {
				return err
			}
			if c.deployed++; c.deployed-first > deploymentsAtOnce {
				if err := c.untilDeployed(ctx, c.deployed-1-deploymentsAtOnce); err != nil {
					return err
				}
			}
		}
		for i := max(first, c.deployed-deploymentsAtOnce); i < c.deployed; i++ {
			if err := c.untilDeployed(ctx, i); err != nil {
				return err
			}
		}
		return sleep(ctx, aftermath)
	})
	p.PodCPU, p.PodsPerSecond = (us(cpu)-idle*us(wall))/float64(added), float64(added)/(wall-aftermath).Seconds()
	return err
}

// untilDeployed waits until all pods of a Deployment run.
func (c *curve) untilDeployed(ctx context.Context, deployment int) error {
	return c.untilRolledOut(ctx, c.namespace(deployment), fmt.Sprintf("web-%d", deployment))
}

// namespace is that of a Deployment.
func (c *curve) namespace(deployment int) string {
	if c.filled {
		return "default"
	}
	return fmt.Sprintf("curve-%d", deployment*podsPerDeployment/podsPerNamespace)
}

// idleRate measures how many processors the server uses without requests: nodes renew their Leases.
func (c *curve) idleRate(ctx context.Context) (float64, error) {
	cpu, wall, err := c.spent(func() error { return sleep(ctx, 10*time.Second) })
	return cpu.Seconds() / wall.Seconds(), err
}

// atRest measures memory and disk.
func (c *curve) atRest(ctx context.Context, p *point) error {
	if err := sleep(ctx, rest); err != nil {
		return err
	}
	resident, err := c.server.resident()
	p.Resident = float64(resident) / 1e6
	if err != nil {
		return err
	}
	return filepath.WalkDir(dataDirectory(c.dir), func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // removed meanwhile
		}
		if info, err := d.Info(); err == nil {
			p.Disk += float64(info.Size()) / 1e6
		}
		return nil
	})
}
