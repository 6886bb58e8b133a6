package schedulerplugins

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/logflags"
	"fairlead.dev/internal/partflags"
	"fairlead.dev/scheduler"
)

// Command returns the command of a scheduler with plugins. Its flags are those of fairlead scheduler: --config has the
// KubeSchedulerConfiguration. It ends with SIGINT or SIGTERM.
func Command(opts ...Option) *cobra.Command {
	var kubeconfig, file string
	var election partflags.Candidate
	var endpoints partflags.Endpoints
	var log logflags.Flags
	cmd := &cobra.Command{
		Use:          "scheduler",
		Short:        "Run the scheduler, with plugins of kube-scheduler's framework, against a Kubernetes API server",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := log.Start(cmd.ErrOrStderr()); err != nil {
				return err
			}
			if file == "" {
				return fmt.Errorf("--config: want a file with a KubeSchedulerConfiguration, which enables the plugins")
			}
			configuration, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("--config: %w", err)
			}
			document, err := scheduler.CompleteConfig(configuration)
			if err != nil {
				return fmt.Errorf("--config: %w", err)
			}
			if err := election.Complete(cmd.Flags(), document); err != nil {
				return fmt.Errorf("--config: %w", err)
			}
			apart := controlplane.Apart{Lease: election.Lease}
			if apart.Elect, err = election.Timing(); err != nil {
				return err
			}
			if apart.API, err = election.API(); err != nil {
				return err
			}
			config, err := clientConfig(kubeconfig)
			if err != nil {
				return err
			}
			if apart.Endpoints, err = endpoints.Listen(&log); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return run(ctx, config, configuration, apart, opts)
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the server (default KUBECONFIG, else ~/.kube/config, else the pod's own cluster)")
	cmd.Flags().StringVar(&file, "config", "", "file with a KubeSchedulerConfiguration")
	election.Register(cmd.Flags(), "kube-scheduler")
	endpoints.Register(cmd.Flags(), 10259)
	log.Register(cmd.Flags())
	return cmd
}

func clientConfig(path string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
}
