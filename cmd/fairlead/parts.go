package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"reflect"
	"strings"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/logflags"
	"fairlead.dev/internal/partflags"
	"fairlead.dev/node"
	"fairlead.dev/scheduler"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"
)

func registerControllers(flags *pflag.FlagSet, list *[]string) {
	flags.StringSliceVar(list, "controllers", []string{"*"},
		"controllers to run: * for all that are on by default, name for one, -name for all but one. Kubernetes' names (see docs/controllers.md) or: "+strings.Join(controlplane.ControllerNames(), ", "))
}

func newControllers() *cobra.Command {
	var from target
	var names []string
	var election partflags.Candidate
	var signing signingFlags
	var ranges rangeFlags
	var endpoints partflags.Endpoints
	var log logflags.Flags
	cmd := &cobra.Command{
		Use:   "controllers",
		Short: "Run the controllers alone, against any Kubernetes API server",
		Example: `  fairlead controllers --kubeconfig=.fairlead/kubeconfig
  fairlead controllers --controllers='deployment,replicaset'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := controlplane.CheckControllers(names); err != nil {
				return usageError{err}
			}
			apart := controlplane.Apart{Lease: election.Lease}
			var err error
			if apart.Elect, err = election.Timing(); err != nil {
				return err
			}
			if apart.API, err = election.API(); err != nil {
				return err
			}
			config, _, err := from.load()
			if err != nil {
				return err
			}
			o := controlplane.ControllerOptions{List: names}
			if o.Signing, err = signing.load(); err != nil {
				return err
			}
			if o.Ranges, err = ranges.load(cmd.Flags()); err != nil {
				return err
			}
			if apart.Endpoints, err = endpoints.Listen(&log); err != nil {
				return err
			}
			return runPart(cmd, "Controllers", config, &log, func(ctx context.Context) error {
				return controlplane.RunControllers(ctx, config, o, apart)
			})
		},
	}
	from.register(cmd, cmd.Flags())
	election.Register(cmd.Flags(), "kube-controller-manager", "GenericWorkload", "StorageVersionAPI", "WorkloadWithJob")
	registerControllers(cmd.Flags(), &names)
	signing.register(cmd.Flags())
	ranges.register(cmd.Flags())
	endpoints.Register(cmd.Flags(), 10257)
	log.Register(cmd.Flags())
	return cmd
}

func newScheduler() *cobra.Command {
	var from target
	var scheduling, writeTo string
	var election partflags.Candidate
	var endpoints partflags.Endpoints
	var log logflags.Flags
	cmd := &cobra.Command{
		Use:     "scheduler",
		Short:   "Run the scheduler alone, against any Kubernetes API server",
		Example: `  fairlead scheduler --kubeconfig=.fairlead/kubeconfig --config=scheduler.yaml`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := loadScheduling("--config", scheduling)
			if err != nil {
				return err
			}
			if err := election.Complete(cmd.Flags(), options.Document); err != nil {
				return err
			}
			apart := controlplane.Apart{Lease: election.Lease}
			if apart.Elect, err = election.Timing(); err != nil {
				return err
			}
			if apart.API, err = election.API(); err != nil {
				return err
			}
			if writeTo != "" {
				return writeScheduling(writeTo, options)
			}
			config, _, err := from.load()
			if err != nil {
				return err
			}
			if apart.Endpoints, err = endpoints.Listen(&log); err != nil {
				return err
			}
			return runPart(cmd, "Scheduler", config, &log, func(ctx context.Context) error {
				return controlplane.RunScheduler(ctx, config, options, apart)
			})
		},
	}
	from.register(cmd, cmd.Flags())
	registerScheduling(cmd.Flags(), "config", &scheduling)
	cmd.Flags().StringVar(&writeTo, "write-config-to", "", "write the configuration, with the defaults of all that --config leaves out, to this file and exit")
	election.Register(cmd.Flags(), "kube-scheduler")
	endpoints.Register(cmd.Flags(), 10259)
	log.Register(cmd.Flags())
	return cmd
}

func registerScheduling(flags *pflag.FlagSet, name string, path *string) {
	flags.StringVar(path, name, "", "file with a KubeSchedulerConfiguration: profiles, plugins, weights and their arguments, backoff, extenders")
}

// loadScheduling reads the file of that flag; without one all is by default.
func loadScheduling(flag, path string) (scheduler.Options, error) {
	if path == "" {
		return scheduler.Options{}, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return scheduler.Options{}, usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	o, err := scheduler.LoadConfig(data)
	if err != nil {
		return scheduler.Options{}, usageError{fmt.Errorf("%s=%s: %w", flag, path, err)}
	}
	return o, nil
}

// noteElection adds a note to the options of a scheduler that runs with the other parts, if their file sets leader election.
func noteElection(o *scheduler.Options) error {
	usual, err := scheduler.CompleteConfig(nil)
	if err != nil || o.Document == nil {
		return err
	}
	var file, defaults struct {
		LeaderElection map[string]any `json:"leaderElection"`
	}
	if err := errors.Join(json.Unmarshal(o.Document, &file), json.Unmarshal(usual, &defaults)); err != nil {
		return err
	}
	if !reflect.DeepEqual(file, defaults) {
		o.Notes = append(o.Notes, "settings without effect in this process: leaderElection; of several on one etcd, the Lease kube-system/kube-scheduler always elects the one whose scheduler works")
	}
	return nil
}

// writeScheduling writes the configuration of o, with all defaults, as YAML.
func writeScheduling(path string, o scheduler.Options) error {
	document := o.Document
	if document == nil {
		var err error
		if document, err = scheduler.CompleteConfig(nil); err != nil {
			return err
		}
	}
	text, err := yaml.JSONToYAML(document)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func newNodes() *cobra.Command {
	var from target
	var count int
	var stages, families []string
	var listen string
	var made nodeFlags
	var election partflags.Elect
	var endpoints partflags.Endpoints
	var log logflags.Flags
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "Run simulated nodes alone, against any Kubernetes API server, or scale those of a running server",
		Example: `  # Run 100 nodes in this process
  fairlead nodes --kubeconfig=.fairlead/kubeconfig --nodes=100

  # Give a running server, such as that of fairlead up, 10 nodes
  fairlead nodes scale 10

  # Serve node groups to Cluster Autoscaler, and no other nodes
  fairlead nodes --kubeconfig=.fairlead/kubeconfig --nodes=0 --node-groups=groups.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			groups, err := made.loadGroups(cmd.Flags())
			if err != nil {
				return err
			}
			if count < 0 || count == 0 && groups == nil && !(made.adopt && cmd.Flags().Changed("adopt-nodes")) {
				return usageError{fmt.Errorf("--nodes=%d: want 1 or more", count)}
			}
			elect, err := election.Timing()
			if err != nil {
				return err
			}
			config, _, err := from.load()
			if err != nil {
				return err
			}
			o := node.Options{Count: count, Adopt: made.adopt, GroupClaims: true}
			if o.Families, err = node.ParseFamilies(families); err != nil {
				return usageError{fmt.Errorf("--ip-families: %w", err)}
			}
			if o.Capacity, o.Template, err = made.load(); err != nil {
				return err
			}
			if o.Zones, err = made.loadZones(o.Template); err != nil {
				return err
			}
			if o.Devices, err = made.loadDevices(); err != nil {
				return err
			}
			if o.Definitions, o.Kinds, err = made.definitions(stages); err != nil {
				return err
			}
			if o.Listener, o.Endpoint, err = listenKubelets(listen); err != nil {
				return err
			}
			apart := controlplane.Apart{Elect: elect}
			if apart.Endpoints, err = endpoints.Listen(&log); err != nil {
				return err
			}
			return runPart(cmd, "Nodes", config, &log, func(ctx context.Context) error {
				return controlplane.RunNodes(ctx, config, o, groups, apart)
			})
		},
	}
	from.register(cmd, cmd.Flags())
	election.RegisterPart(cmd.Flags())
	cmd.Flags().IntVar(&count, "nodes", 3, "number of simulated nodes")
	cmd.Flags().StringVar(&listen, "kubelet-listen", "127.0.0.1:0", "address at which the API server reaches the kubelets, for logs, exec, attach and port-forward; empty for none")
	cmd.Flags().StringSliceVar(&families, "ip-families", []string{"IPv4"}, "IP families of the nodes and their pods, the primary one first, such as IPv4,IPv6 (those of fairlead up are the families of --service-cluster-ip-range)")
	registerStages(cmd.Flags(), &stages)
	made.register(cmd.Flags())
	endpoints.Register(cmd.Flags(), 10260)
	log.Register(cmd.Flags())
	cmd.AddCommand(newNodesScale(), newNodesGroups())
	return cmd
}

func registerStages(flags *pflag.FlagSet, paths *[]string) {
	flags.StringSliceVar(paths, "stages", nil, "files or directories of kwok's kinds: stages of pods and nodes, and the answers of logs, exec, attach and port-forward")
}

// listenKubelets opens the kubelets' address, which the nodes publish in their status.
func listenKubelets(address string) (net.Listener, netip.AddrPort, error) {
	if address == "" {
		return nil, netip.AddrPort{}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, netip.AddrPort{}, fmt.Errorf("--kubelet-listen: %w", err)
	}
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil || at.Addr().IsUnspecified() {
		l.Close()
		return nil, at, usageError{fmt.Errorf("--kubelet-listen=%s: want an address that the API server can reach", address)}
	}
	return l, at, nil
}
