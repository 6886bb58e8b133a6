package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"fairlead.dev/client"
	"fairlead.dev/internal/join"
)

// requestTimeout limits commands that only send a few requests.
const requestTimeout = time.Minute

// signatureTimeout limits how long a new token waits for the signature of cluster-info.
const signatureTimeout = 10 * time.Second

// tokenFlags are the common flags of `token`'s commands.
type tokenFlags struct {
	target target
	output string
}

func newToken() *cobra.Command {
	var f tokenFlags
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create, list and delete the tokens by which real nodes join",
		Long: `Token manages bootstrap tokens: Secrets by which fairlead join and kubeadm join let a real
kubelet into the cluster. The first one that is created also prepares the cluster for nodes:
the ConfigMaps cluster-info, kubeadm-config and kubelet-config, and the rules of tokens.`,
		Example: `  fairlead up --listen=0.0.0.0:6443
  fairlead token create --print-join-command`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f.target.register(cmd, cmd.PersistentFlags())
	cmd.PersistentFlags().StringVarP(&f.output, "output", "o", "", "output format: json or yaml")
	cmd.AddCommand(newTokenCreate(&f), newTokenList(&f), newTokenDelete(&f))
	return cmd
}

func newTokenCreate(f *tokenFlags) *cobra.Command {
	var o join.TokenOptions
	var server string
	var print bool
	cmd := &cobra.Command{
		Use: "create [TOKEN]", Short: "Create a token, and prepare the cluster for nodes",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{errors.New("token create takes one token, or none for a random one")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Token = args[0]
			}
			if err := o.Check(); err != nil {
				return usageError{err}
			}
			return f.do(cmd, func(ctx context.Context, c *client.Client, config *rest.Config) error {
				cluster, err := join.ClusterOf(ctx, c, config, server)
				if err != nil {
					return err
				}
				if err := join.Prepare(ctx, c, cluster); err != nil {
					return err
				}
				t, err := join.CreateToken(ctx, c, o)
				if err != nil {
					return err
				}
				ctx, cancel := context.WithTimeout(ctx, signatureTimeout)
				defer cancel()
				if err := join.AwaitSignature(ctx, c, t); err != nil {
					newProgress(os.Stderr).warn("Token", "nodes cannot join with it before cluster-info is signed: does the controller bootstrapsigner run? "+err.Error())
				}
				return f.created(cmd.OutOrStdout(), t, cluster, print)
			})
		},
	}
	cmd.Flags().DurationVar(&o.TTL, "ttl", 24*time.Hour, "how long the token is valid; 0 for ever")
	cmd.Flags().StringVar(&o.Description, "description", "", "what the token is for")
	cmd.Flags().StringSliceVar(&o.Usages, "usages", nil, "what the token may be used for (default signing,authentication)")
	cmd.Flags().StringSliceVar(&o.Groups, "groups", nil, "groups of the token's user (default "+join.Group+")")
	cmd.Flags().StringVar(&server, "server", "", "URL of the API server for nodes (default that of the kubeconfig, or of the Service kubernetes)")
	cmd.Flags().BoolVar(&print, "print-join-command", false, "print the command that joins a node in place of the token")
	return cmd
}

// created writes a new token, or the command that joins a node with it.
func (f *tokenFlags) created(out io.Writer, t join.Token, cluster join.Cluster, command bool) error {
	hashes, err := join.CAHashes(cluster.CA)
	if err != nil {
		return err
	}
	line := "fairlead join " + cluster.Server + " --token " + t.String()
	for _, h := range hashes {
		line += " --discovery-token-ca-cert-hash " + h
	}
	if f.output != "" {
		return encode(out, f.output, struct {
			listedToken
			Server  string   `json:"server"`
			Hashes  []string `json:"caCertHashes"`
			Command string   `json:"joinCommand"`
		}{listed(t), cluster.Server, hashes, line})
	}
	if !command {
		line = t.String()
	}
	_, err = fmt.Fprintln(out, line)
	return err
}

// listedToken is a token as it is written for machines, which may read the secret as kubectl does.
type listedToken struct {
	Whole string `json:"token"`
	join.Token
}

func listed(t join.Token) listedToken { return listedToken{t.String(), t} }

func newTokenList(f *tokenFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tokens", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.do(cmd, func(ctx context.Context, c *client.Client, _ *rest.Config) error {
				all, err := join.Tokens(ctx, c)
				if err != nil {
					return err
				}
				if f.output != "" {
					items := []listedToken{}
					for _, t := range all {
						items = append(items, listed(t))
					}
					return encode(cmd.OutOrStdout(), f.output, items)
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 3, ' ', 0)
				fmt.Fprintln(w, "TOKEN\tTTL\tEXPIRES\tUSAGES\tGROUPS\tDESCRIPTION")
				for _, t := range all {
					ttl, expires := "forever", "never"
					if t.Expires != nil {
						ttl, expires = duration.HumanDuration(time.Until(*t.Expires)), t.Expires.Format(time.RFC3339)
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t, ttl, expires, strings.Join(t.Usages, ","), strings.Join(t.Groups, ","), t.Description)
				}
				return w.Flush()
			})
		},
	}
}

func newTokenDelete(f *tokenFlags) *cobra.Command {
	return &cobra.Command{
		Use: "delete TOKEN...", Short: "Delete tokens; TOKEN is a token or its ID",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("token delete takes tokens or their IDs")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.do(cmd, func(ctx context.Context, c *client.Client, _ *rest.Config) error {
				for _, t := range args {
					if err := join.DeleteToken(ctx, c, t); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// do calls a function with a client of the server.
func (f *tokenFlags) do(cmd *cobra.Command, call func(context.Context, *client.Client, *rest.Config) error) error {
	if f.output != "" && f.output != "json" && f.output != "yaml" {
		return usageError{fmt.Errorf("-o %s: want json or yaml", f.output)}
	}
	return withServer(cmd.Context(), &f.target, "fairlead-token", call)
}

// withServer calls a function that sends a few requests, with a client of a kubeconfig's server.
func withServer(ctx context.Context, from *target, userAgent string, call func(context.Context, *client.Client, *rest.Config) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	config, _, err := from.load()
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{UserAgent: userAgent})
	if err != nil {
		return err
	}
	return call(ctx, c, config)
}

// encode writes a value in the format json or yaml.
func encode(out io.Writer, format string, v any) error {
	if format == "json" {
		return json.NewEncoder(out).Encode(v)
	}
	text, err := yaml.Marshal(v)
	if err == nil {
		_, err = out.Write(text)
	}
	return err
}
