package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/auditroles"
)

func newAudit() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read audit logs",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditRBAC())
	return cmd
}

type auditRBACFlags struct {
	users   []string
	options auditroles.Options
	output  string
}

func newAuditRBAC() *cobra.Command {
	var f auditRBACFlags
	cmd := &cobra.Command{
		Use:   "rbac FILE...",
		Short: "Make the smallest roles for what users asked for in an audit log",
		Long: `Rbac reads audit logs in JSON, of Fairlead or of kube-apiserver, and prints RBAC roles
and bindings that allow exactly the requests in them: each verb on each resource, in the
namespaces and with the names of the requests, whether they were allowed or refused. To
find what a controller needs, run it with the authorizer AlwaysAllow and an audit policy
with the level Metadata, exercise it, and apply the roles.

FILE is a log, or - for the standard input. Without --user there are roles for each user
in it. Members of system:masters need none.`,
		Example: `  fairlead audit rbac audit.log --user system:serviceaccount:shop:till
  fairlead audit rbac audit.log audit-*.log --user jane --any-name -o json
  fairlead audit rbac - < audit.log | kubectl apply -f -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(args); err != nil {
				return usageError{err}
			}
			return f.run(cmd.InOrStdin(), cmd.OutOrStdout(), args)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.users, "user", nil, "user to make roles for, such as jane or system:serviceaccount:NAMESPACE:NAME; may be repeated (default all)")
	flags.StringVar(&f.options.Name, "name", "", "name of the roles and bindings (default audited: and the user's name)")
	flags.BoolVar(&f.options.AnyName, "any-name", false, "allow verbs on all objects of a resource, not only on those that were asked for by name")
	flags.StringVarP(&f.output, "output", "o", "yaml", "output format: json or yaml")
	return cmd
}

func (f *auditRBACFlags) check(args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("audit rbac takes the files of an audit log, or - for the standard input")
	case f.output != "json" && f.output != "yaml":
		return fmt.Errorf("-o %s: want json or yaml", f.output)
	case f.options.Name != "" && len(f.users) != 1:
		return fmt.Errorf("--name: want one --user")
	}
	return nil
}

func (f *auditRBACFlags) run(stdin io.Reader, out io.Writer, files []string) error {
	var log auditroles.Log
	for _, path := range files {
		if err := readAuditLog(&log, path, stdin); err != nil {
			return err
		}
	}
	users := f.users
	if len(users) == 0 {
		users = log.Users()
	}
	list := metav1.List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: []runtime.RawExtension{}}
	for _, user := range users {
		objects, err := log.Roles(user, f.options)
		if err != nil {
			return err
		}
		for _, obj := range objects {
			list.Items = append(list.Items, runtime.RawExtension{Object: obj})
		}
	}
	if f.output == "json" {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	for i, item := range list.Items {
		text, err := yaml.Marshal(item.Object)
		if err != nil {
			return err
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

func readAuditLog(log *auditroles.Log, path string, stdin io.Reader) error {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	if err := log.Read(in); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
