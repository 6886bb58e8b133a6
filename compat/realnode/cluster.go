//go:build linux

package realnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Log reports progress to a person.
type Log func(format string, args ...any)

// Options of a cluster. The zero value of a field means its default.
type Options struct {
	Name      string // of the cluster's folder and cgroup; default "cluster"
	Nodes     int    // real nodes; default 2
	Spare     int    // machines beside them that have not joined
	Simulated int    // simulated nodes beside them
	Tainted   bool   // whether the simulated nodes have the taint SimulatedTaint
	Log       Log    // default: discarded
}

// SimulatedTaint is the key of the taint that keeps pods without a toleration away from the simulated
// nodes of a cluster with Options.Tainted; its effect is NoSchedule.
const SimulatedTaint = "fairlead.dev/simulated"

// A Cluster is a control plane and nodes, each in a Machine.
type Cluster struct {
	Server *Machine
	Nodes  []*Machine
	Spares []*Machine   // with a container runtime alone
	Config *rest.Config // of an administrator
	Client kubernetes.Interface
	// Kubeconfig is a file for programs outside the machines. Inside, it is at its default place.
	Kubeconfig string

	dir   string
	kit   kit
	saved saved
	lock  *os.File
	log   Log
}

// saved is the content of the file cluster.json, which Open reads.
type saved struct {
	Simulated int
	Tainted   bool
	Server    int // process IDs of the machines' inits
	Nodes     []int
	Spares    []int
}

func (o *Options) setDefaults() {
	if o.Name == "" {
		o.Name = "cluster"
	}
	if o.Nodes == 0 {
		o.Nodes = 2
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
}

func folder(name string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "fairlead", "realnode", "clusters", name), err
}

func group(name string) cgroups { return cgroups("fairlead-realnode-" + name) }

// Up makes a cluster: its nodes are Ready and its DNS answers when Up returns. One of the same
// name must not exist. If Up fails, it removes the cluster, but for the logs.
func Up(ctx context.Context, o Options) (_ *Cluster, err error) {
	o.setDefaults()
	if err := Missing(); err != nil {
		return nil, err
	}
	c := &Cluster{log: o.Log, saved: saved{Simulated: o.Simulated, Tainted: o.Tainted}}
	if c.dir, err = folder(o.Name); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, err
	}
	if c.lock, err = lock(c.dir); err != nil {
		return nil, err
	}
	defer c.lock.Close()
	if len(group(o.Name).processes()) > 0 {
		return nil, fmt.Errorf("cluster %s runs already: remove it first", o.Name)
	}
	if c.kit, err = prepare(o.Log); err != nil {
		return nil, err
	}
	if err := removeAll(c.dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, group(o.Name).remove())
		}
	}()
	bin := filepath.Join(c.dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	o.Log("building fairlead and kubectl")
	if err := c.kit.buildOwn(bin); err != nil {
		return nil, err
	}
	for _, p := range c.kit.programs() { // one folder for the machines; links cost nothing
		if err := os.Link(filepath.Join(c.kit.bin(), p.name), filepath.Join(bin, p.name)); err != nil {
			return nil, err
		}
	}
	if err := c.start(ctx, o, bin); err != nil {
		return nil, err
	}
	return c, nil
}

// start makes the machines and starts their programs.
func (c *Cluster) start(ctx context.Context, o Options, bin string) error {
	machine := func(name string) *Machine {
		return &Machine{Name: name, dir: filepath.Join(c.dir, name), group: group(o.Name) + cgroups("/"+name), bin: bin, images: c.kit.images()}
	}
	c.Server = machine("server")
	for i := range o.Nodes {
		c.Nodes = append(c.Nodes, machine(nodeName(i)))
	}
	for i := range o.Spare {
		c.Spares = append(c.Spares, machine(spareName(i)))
	}
	c.log("starting %d machines", len(c.Machines()))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer file.Close()
	if err := c.Server.start(file, serverAddress); err != nil {
		return err
	}
	c.saved.Server = c.Server.init
	for _, m := range c.hosts() {
		if err := m.start(nil, ""); err != nil {
			return err
		}
	}
	c.saved.Nodes, c.saved.Spares = inits(c.Nodes), inits(c.Spares)
	text, err := json.Marshal(c.saved)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, "cluster.json"), text, 0o644); err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	c.log("starting the control plane")
	if err := c.StartServer(ctx); err != nil {
		return err
	}
	if err := c.writeKubeconfig(listener.Addr().String()); err != nil {
		return err
	}
	c.log("joining the nodes")
	line, err := c.Server.Run("fairlead", "token", "create", "--print-join-command", "--server=https://"+serverAddress)
	if err != nil {
		return err
	}
	var all errgroup.Group
	for _, n := range c.Nodes {
		all.Go(func() error { return c.join(ctx, n, line) })
	}
	for _, m := range c.Spares {
		all.Go(func() error { return c.prepareHost(ctx, m) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	c.log("starting DNS")
	return c.startDNS(ctx)
}

// Open returns a cluster that Up has made in another process.
func Open(name string) (*Cluster, error) {
	dir, err := folder(name)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, log: func(string, ...any) {}}
	text, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no cluster %s", name)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &c.saved); err != nil {
		return nil, err
	}
	machine := func(name string, at string, init int) *Machine {
		return &Machine{Name: at, dir: filepath.Join(dir, at), group: group(name) + cgroups("/"+at), init: init}
	}
	c.Server = machine(name, "server", c.saved.Server)
	for i, init := range c.saved.Nodes {
		c.Nodes = append(c.Nodes, machine(name, nodeName(i), init))
	}
	for i, init := range c.saved.Spares {
		c.Spares = append(c.Spares, machine(name, spareName(i), init))
	}
	for _, m := range c.Machines() {
		if !m.runs() {
			return nil, fmt.Errorf("cluster %s: machine %s has ended; remove the cluster", name, m.Name)
		}
	}
	c.Kubeconfig = filepath.Join(dir, "kubeconfig")
	return c, c.makeClient()
}

// Machines returns all machines, the server first.
func (c *Cluster) Machines() []*Machine { return append([]*Machine{c.Server}, c.hosts()...) }

// hosts returns the machines of nodes and the spare ones, in the order of their addresses.
func (c *Cluster) hosts() []*Machine { return slices.Concat(c.Nodes, c.Spares) }

func nodeName(i int) string { return fmt.Sprintf("n%d", i+1) }

func spareName(i int) string { return fmt.Sprintf("s%d", i+1) }

// inits returns the process IDs of machines' inits.
func inits(machines []*Machine) (pids []int) {
	for _, m := range machines {
		pids = append(pids, m.init)
	}
	return pids
}

// Down removes all that is left of a cluster: its processes, its cgroup and its folder.
func Down(name string) error {
	dir, err := folder(name)
	if err != nil {
		return err
	}
	if err := group(name).remove(); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// removeAll empties a folder, but for its lock.
func removeAll(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "lock" {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// lock keeps others from making the same cluster until the file is closed.
func lock(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: another process makes this cluster: %w", dir, err)
	}
	return file, nil
}

// writeKubeconfig writes the administrator's kubeconfig for programs outside, which reach the
// server by address.
func (c *Cluster) writeKubeconfig(address string) error {
	config, err := clientcmd.LoadFromFile(filepath.Join(c.Server.Root(), kubeconfigInside))
	if err != nil {
		return err
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + address
	}
	c.Kubeconfig = filepath.Join(c.dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, c.Kubeconfig); err != nil {
		return err
	}
	return c.makeClient()
}

func (c *Cluster) makeClient() (err error) {
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return err
	}
	c.Config.QPS, c.Config.Burst = 100, 200
	c.Client, err = kubernetes.NewForConfig(c.Config)
	return err
}

// Kubectl is a command of this repository's kubectl, outside the machines.
func (c *Cluster) Kubectl(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.dir, "bin", "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	return cmd
}
