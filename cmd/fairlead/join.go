package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/join"
)

// joinFlags are the flags of `join`.
type joinFlags struct {
	invitation                 join.Invitation
	node                       join.Node
	address, ranges            string
	kubeletConfig, proxyConfig string
	cniBin                     []string
	dryRun, systemd            bool
}

func (f *joinFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.invitation.Token, "token", "", "bootstrap token; not needed by a machine that has joined")
	flags.StringSliceVar(&f.invitation.CAHashes, "discovery-token-ca-cert-hash", nil, "hash of the public key of the server's CA, as sha256:HEX")
	flags.BoolVar(&f.invitation.AnyCA, "discovery-token-unsafe-skip-ca-verification", false, "trust any server that knows the token")
	flags.StringVar(&f.node.Name, "node-name", "", "name of the node (default the host's name)")
	flags.StringVar(&f.address, "node-ip", "", "IP address of the node (default that of the default route)")
	flags.StringVar(&f.node.Labels, "node-labels", "", "labels to register the node with, as key=value, separated by commas")
	flags.StringVar(&f.node.Taints, "node-taints", "", "taints to register the node with, as key=value:effect, separated by commas")
	flags.StringVar(&f.node.Runtime, "container-runtime-endpoint", "unix:///run/containerd/containerd.sock", "address of the container runtime")
	flags.StringVar(&f.ranges, "pod-cidr", "", "ranges of the node's pods (default those of the Node, by the control plane's --cluster-cidr)")
	flags.StringSliceVar(&f.cniBin, "cni-bin-dir", []string{"/opt/cni/bin", "/usr/lib/cni"}, "folders of CNI plugins; the container runtime must use one of them")
	flags.StringVar(&f.node.Kubelet.Program, "kubelet", "kubelet", "the kubelet's program")
	flags.StringVar(&f.kubeletConfig, "kubelet-config", "", "file with a KubeletConfiguration, whose members replace those of the cluster's")
	flags.StringArrayVar(&f.node.Kubelet.Args, "kubelet-arg", nil, "another argument of the kubelet, such as --v=2; may be repeated")
	flags.StringVar(&f.node.Proxy.Program, "kube-proxy", "kube-proxy", "kube-proxy's program; empty to run none")
	flags.StringVar(&f.proxyConfig, "kube-proxy-config", "", "file with a KubeProxyConfiguration, whose members replace the defaults")
	flags.StringArrayVar(&f.node.Proxy.Args, "kube-proxy-arg", nil, "another argument of kube-proxy; may be repeated")
	flags.StringVar(&f.node.LogFolder, "log-dir", "/var/log/fairlead", "folder of the programs' logs")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the files and the commands, and change nothing")
	flags.BoolVar(&f.systemd, "systemd", false, "print a systemd unit that runs this command, and change nothing")
}

func newJoin() *cobra.Command {
	var f joinFlags
	cmd := &cobra.Command{
		Use:   "join URL",
		Short: "Run a kubelet and kube-proxy on this machine, as a node of a cluster",
		Long: `Join makes this machine a node of a cluster. It runs upstream's kubelet and kube-proxy, which
it finds on PATH, on a container runtime such as containerd. It trusts the API server by a
token and the hash of its CA, gets a client certificate for the kubelet, and keeps the
routes to the pods of other nodes. It stays until Ctrl-C; containers go on without it.
Started again, it needs no token.

First it looks at what the machine lacks, and prints a line for each thing.`,
		Example: `  # On the server: the command for nodes
  fairlead up --listen=0.0.0.0:6443 --cluster-cidr=10.244.0.0/16
  fairlead token create --print-join-command

  # On the node
  fairlead join https://10.0.0.1:6443 --token=abcdef.0123456789abcdef --discovery-token-ca-cert-hash=sha256:...`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("join takes the URL of the API server: `fairlead token create --print-join-command` prints the command")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.invitation.Server = args[0]
			return f.run(cmd)
		},
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *joinFlags) run(cmd *cobra.Command) error {
	if err := f.complete(); err != nil {
		return err
	}
	if f.systemd {
		return systemdUnit(cmd)
	}
	p := newProgress(os.Stderr)
	f.node.Progress = p.step
	ctx := cmd.Context()
	if err := f.check(ctx, p); err != nil && !f.dryRun {
		return err
	}
	if err := f.discover(ctx); err != nil {
		return err
	}
	p.step("Server", f.node.Cluster.Server)
	if f.dryRun {
		return f.print(cmd.OutOrStdout())
	}
	return f.node.Run(ctx)
}

// complete completes and checks the flags.
func (f *joinFlags) complete() (err error) {
	n := &f.node
	if !join.Joined() {
		if err := f.invitation.Check(); err != nil {
			return usageError{err}
		}
	}
	if n.Name == "" {
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		n.Name = strings.ToLower(name)
	}
	if f.address != "" {
		if n.Address, err = netip.ParseAddr(f.address); err != nil {
			return usageError{fmt.Errorf("--node-ip=%s: want an IP address", f.address)}
		}
	}
	if f.ranges != "" {
		if n.PodRanges, err = join.ParseRanges(f.ranges); err != nil {
			return usageError{err}
		}
	}
	n.OwnCNI = join.HasCNI()
	for flag, into := range map[string]*map[string]any{"kubelet-config": &n.Kubelet.Settings, "kube-proxy-config": &n.Proxy.Settings} {
		path := map[string]string{"kubelet-config": f.kubeletConfig, "kube-proxy-config": f.proxyConfig}[flag]
		if path == "" {
			continue
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = yaml.UnmarshalStrict(text, into)
		}
		if err != nil {
			return usageError{fmt.Errorf("--%s: %w", flag, err)}
		}
	}
	for _, program := range []*string{&n.Kubelet.Program, &n.Proxy.Program} {
		if path, err := exec.LookPath(*program); err == nil {
			*program = path
		}
	}
	return nil
}

// check prints the findings about the machine.
func (f *joinFlags) check(ctx context.Context, p *progress) error {
	swap, set := f.node.Kubelet.Settings["failSwapOn"].(bool)
	lacks := 0
	for _, found := range (join.Machine{
		Kubelet: f.node.Kubelet.Program, KubeProxy: f.node.Proxy.Program, Runtime: f.node.Runtime, CNIBin: f.cniBin,
		OwnCNI: f.node.OwnCNI, SwapAllowed: set && !swap,
	}).Check(ctx) {
		if found.Missing {
			lacks++
			p.warn(found.Name, found.Detail)
			continue
		}
		p.step(found.Name, found.Detail)
	}
	if lacks > 0 {
		return fmt.Errorf("the machine lacks %d of the things that a node needs: see above; nothing was changed", lacks)
	}
	return nil
}

// discover asks the cluster for its CA and its configuration of kubelets: by the token, or as the node that has joined before.
func (f *joinFlags) discover(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	n := &f.node
	if join.Joined() {
		n.Cluster, err = join.ClusterOfMachine(f.invitation.Server)
	} else {
		n.Token = f.invitation.Token
		n.Cluster, err = join.Discover(ctx, f.invitation)
	}
	if err != nil {
		return err
	}
	c, err := n.Cluster.Client(n.Token)
	if err != nil {
		return err
	}
	if n.Token != "" {
		if err := join.CheckName(ctx, c, n.Name); err != nil {
			return err
		}
	}
	return n.Learn(ctx, c)
}

// print writes the files and commands for people.
func (f *joinFlags) print(out io.Writer) error {
	files, err := f.node.Files()
	if err != nil {
		return err
	}
	pods := "# The CNI configuration follows when the Node has its ranges of pod addresses, by --cluster-cidr of the control plane.\n"
	switch {
	case f.node.OwnCNI:
		pods = ""
	case f.node.PodRanges != nil:
		file, err := join.CNIConfig(f.node.PodRanges)
		if err != nil {
			return err
		}
		files, pods = append(files, file), ""
	}
	for _, file := range files {
		fmt.Fprintf(out, "# %s\n%s\n", file.Path, file.Text)
	}
	fmt.Fprint(out, pods)
	for _, command := range f.node.Commands() {
		for i, word := range command {
			command[i] = shellQuote(word)
		}
		fmt.Fprintln(out, strings.Join(command, " "))
	}
	return nil
}

// systemdUnit prints a unit that runs the command without --systemd.
func systemdUnit(cmd *cobra.Command) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	line := []string{program}
	for _, arg := range os.Args[1:] {
		if arg != "--systemd" && arg != "--systemd=true" {
			line = append(line, systemdQuote(arg))
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), `[Unit]
Description=Fairlead node: kubelet and kube-proxy
Wants=network-online.target
After=network-online.target containerd.service

[Service]
ExecStart=%s
Restart=always
RestartSec=5
KillMode=mixed

[Install]
WantedBy=multi-user.target
`, strings.Join(line, " "))
	return err
}

// systemdQuote makes s one word of a systemd command line, with no specifiers or variables.
func systemdQuote(s string) string {
	s = strings.NewReplacer(`%`, `%%`, `$`, `$$`).Replace(s)
	if strings.ContainsAny(s, " \t\n'\"\\;") {
		return strconv.Quote(s)
	}
	return s
}
