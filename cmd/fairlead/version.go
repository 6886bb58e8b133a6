package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"fairlead.dev/controlplane"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

func newVersion() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of fairlead and of the Kubernetes API that it serves",
		Example: `  fairlead version
  fairlead version -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := struct {
				Fairlead   string `json:"fairlead"`
				Kubernetes string `json:"kubernetes"`
				Go         string `json:"go"`
				Platform   string `json:"platform"`
			}{controlplane.Version(), controlplane.KubernetesVersion, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			out := cmd.OutOrStdout()
			switch output {
			case "":
				fmt.Fprintf(out, "fairlead %s (Kubernetes %s, %s, %s)\n", v.Fairlead, v.Kubernetes, v.Go, v.Platform)
				return nil
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
	cmd.Flags().StringVarP(&output, "output", "o", "", "json or yaml, for machines")
	return cmd
}
