package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"fairlead.dev/internal/controlplane"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// versionInfo describes the program's build.
type versionInfo struct {
	Fairlead   string `json:"fairlead"`
	Kubernetes string `json:"kubernetes"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

func versions() versionInfo {
	return versionInfo{controlplane.Version(), controlplane.KubernetesVersion, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func (v versionInfo) String() string {
	return fmt.Sprintf("fairlead %s (Kubernetes %s, %s, %s)", v.Fairlead, v.Kubernetes, v.Go, v.Platform)
}

func newVersion() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of fairlead and of the Kubernetes API that it serves",
		Example: `  fairlead version
  fairlead version -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions()
			out := cmd.OutOrStdout()
			switch output {
			case "":
				_, err := fmt.Fprintln(out, v)
				return err
			case "json":
				return json.NewEncoder(out).Encode(v)
			case "yaml":
				b, err := yaml.Marshal(v)
				if err != nil {
					return err
				}
				_, err = out.Write(b)
				return err
			}
			return usageError{fmt.Errorf("-o %s: want json or yaml", output)}
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "output format: json or yaml")
	return cmd
}
