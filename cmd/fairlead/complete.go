package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/server/faults"
)

// flagValues are the completions of flags, by name, in all commands. Other flags complete files if they take one.
var flagValues = map[string]cobra.CompletionFunc{
	"clock":         fixed("real", "virtual"),
	"controllers":   eachOfList(controllerChoices()),
	"feature-gates": fixed("CBORServingAndStorage=true"),
	"kind":          completeKind,
	"namespace":     completeNamespace,
	"verb":          fixed("create", "update", "patch", "delete", "deletecollection"),
}

// argumentValues are the completions of arguments, by command path.
var argumentValues = map[string]cobra.CompletionFunc{
	"fairlead addon apply": fixed("coredns", "kube-proxy"),
	"fairlead addon print": fixed("coredns", "kube-proxy"),
	"fairlead fault add":   fixed(faultActions()...),
	"fairlead blame":       completeSubject,
	"fairlead diff":        completeSubject,
	"fairlead history":     completeSubject,
	"fairlead trace":       completeSubject,
	"fairlead undo":        completeSubject,
	"fairlead why":         completeSubject,
}

// completeCommands registers the completions of a command and of all below it.
func completeCommands(cmd *cobra.Command) {
	if values, ok := argumentValues[cmd.CommandPath()]; ok {
		cmd.ValidArgsFunction = values
	} else if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		values, ok := flagValues[flag.Name]
		if flag.Name == "output" {
			values, ok = fixed(outputFormats(flag)...), true
		}
		if _, own := cmd.GetFlagCompletionFunc(flag.Name); ok && !own {
			_ = cmd.RegisterFlagCompletionFunc(flag.Name, values) // the flag exists
		}
	})
	for _, below := range cmd.Commands() {
		if below.Name() != "help" && below.Name() != "completion" {
			completeCommands(below)
		}
	}
}

// outputFormats returns the formats that the description of a flag --output names.
func outputFormats(flag *pflag.Flag) (formats []string) {
	words := strings.FieldsFunc(flag.Usage, func(r rune) bool { return r < 'a' || r > 'z' })
	for _, format := range []string{"json", "yaml", "wide", "name", "fields"} {
		if slices.Contains(words, format) {
			formats = append(formats, format)
		}
	}
	return formats
}

func controllerChoices() []string {
	choices := []string{"*"}
	for _, name := range controlplane.ControllerNames() {
		choices = append(choices, name, "-"+name)
	}
	return choices
}

func faultActions() (names []string) {
	for _, a := range faults.Actions {
		names = append(names, string(a))
	}
	return names
}

// fixed completes one of some values, as the first argument or as the value of a flag.
func fixed(values ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && slices.Contains(values, args[0]) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return matching(values, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// eachOfList completes the last of some values that are separated by commas.
func eachOfList(values []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at := strings.LastIndex(text, ",") + 1
		var full []string
		for _, v := range matching(values, text[at:]) {
			full = append(full, text[:at]+v)
		}
		return full, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func matching(values []string, prefix string) (all []string) {
	for _, v := range values {
		if strings.HasPrefix(v, prefix) {
			all = append(all, v)
		}
	}
	return all
}

// ask completes by the answer of the command's server. Without an answer in time there are no completions.
func ask(cmd *cobra.Command, question func(ctx context.Context, c *client.Client, namespace string) ([]string, error)) ([]string, error) {
	ctx, stop := context.WithTimeout(cmd.Context(), completionTimeout)
	defer stop()
	c, namespace, err := connectTo(targetOf(cmd))
	if err != nil {
		return nil, err
	}
	if n, _ := cmd.Flags().GetString("namespace"); n != "" {
		namespace = n
	}
	return question(ctx, c, namespace)
}

// answer ends a completion.
func answer(names []string, err error, more cobra.ShellCompDirective) ([]cobra.Completion, cobra.ShellCompDirective) {
	if err != nil {
		return nil, cobra.ShellCompDirectiveError | cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp | more
}

// completeNamespace completes the name of a namespace.
func completeNamespace(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, err := ask(cmd, func(ctx context.Context, c *client.Client, _ string) ([]string, error) {
		return namesOf(ctx, c, "namespaces", "", prefix)
	})
	return answer(names, err, 0)
}

// completeKind completes the plural name of a kind.
func completeKind(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names, err := ask(cmd, func(ctx context.Context, c *client.Client, _ string) ([]string, error) {
		return kindsOf(ctx, c, prefix)
	})
	return answer(names, err, 0)
}

// completeSubject completes KIND/NAME, or KIND and NAME.
func completeSubject(cmd *cobra.Command, args []string, text string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var more cobra.ShellCompDirective
	names, err := ask(cmd, func(ctx context.Context, c *client.Client, namespace string) ([]string, error) {
		kind, name, split := strings.Cut(text, "/")
		switch {
		case len(args) == 1 && !strings.Contains(args[0], "/"):
			return namesOf(ctx, c, args[0], namespace, text)
		case len(args) > 0:
			return nil, nil
		case split:
			names, err := namesOf(ctx, c, kind, namespace, name)
			for i := range names {
				names[i] = kind + "/" + names[i]
			}
			return names, err
		}
		more = cobra.ShellCompDirectiveNoSpace
		kinds, err := kindsOf(ctx, c, text)
		for i := range kinds {
			kinds[i] += "/"
		}
		return kinds, err
	})
	return answer(names, err, more)
}

// kindsOf returns the plural names of the kinds that can be listed.
func kindsOf(ctx context.Context, c *client.Client, prefix string) ([]string, error) {
	all, err := c.ServerResources(ctx)
	var kinds []string
	for _, r := range all {
		if r.Preferred && slices.Contains(r.Verbs, "list") {
			kinds = append(kinds, r.GVR.Resource)
		}
	}
	slices.Sort(kinds)
	if len(kinds) > 0 {
		err = nil // some servers of aggregated APIs do not answer
	}
	return matching(slices.Compact(kinds), prefix), err
}

// namesOf returns the names of a kind's objects.
func namesOf(ctx context.Context, c *client.Client, kind, namespace, prefix string) ([]string, error) {
	r, err := lives.Resource(ctx, c, kind)
	if err != nil {
		return nil, err
	}
	objects := client.Metadata(c, r.GVR, r.Namespaced)
	if r.Namespaced {
		objects = objects.Namespace(namespace)
	}
	list, err := objects.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, o := range list.Items {
		names = append(names, o.GetName())
	}
	return matching(names, prefix), nil
}
