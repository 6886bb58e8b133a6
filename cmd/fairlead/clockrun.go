package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/client/lives"
	"fairlead.dev/server"
)

func newClockRun(f *clockFlags) *cobra.Command {
	var namespace, until string
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "run --until=CONDITION KIND/NAME",
		Short: "Advance the clock until an object meets a condition",
		Long: `Run advances the clock, and stops it at the moment at which an object meets a condition.
The conditions are those of kubectl wait: create, delete, condition=TYPE[=STATUS], and
jsonpath=EXPRESSION[=VALUE], which without a value is met once the field is there.`,
		Example: `  fairlead clock run --until=condition=Ready pod/web-0
  fairlead clock run --until='jsonpath={.status.succeeded}=3' job/report --limit=48h
  fairlead clock run --until=delete lease/operator -n shop`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || strings.Count(args[0], "/") != 1 || strings.HasPrefix(args[0], "/") || strings.HasSuffix(args[0], "/") {
				return usageError{errors.New("clock run takes one KIND/NAME")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			condition, err := parseUntil(until)
			if err != nil {
				return usageError{err}
			}
			if limit <= 0 {
				return usageError{fmt.Errorf("--limit=%v: want a duration above 0", limit)}
			}
			return f.until(cmd, args[0], namespace, condition, limit)
		},
	}
	cmd.Flags().StringVar(&until, "until", "", "the condition, as in kubectl wait --for")
	cmd.Flags().DurationVar(&limit, "limit", 24*time.Hour, "fail if the object does not meet the condition in this virtual time")
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "the object's namespace (default that of the kubeconfig)")
	return cmd
}

// until advances the clock until the object meets the condition.
func (f *clockFlags) until(cmd *cobra.Command, object, namespace string, condition until, limit time.Duration) error {
	ctx := cmd.Context()
	c, own, err := f.connectTo()
	if err != nil {
		return err
	}
	if namespace == "" {
		namespace = own
	}
	kind, name, _ := strings.Cut(object, "/")
	r, err := lives.Resource(ctx, c, kind)
	if err != nil {
		return err
	}
	var total server.ClockState
	for {
		list, found, err := readOne(ctx, c, r, namespace, name)
		if err != nil {
			return err
		}
		met, err := condition.met(found)
		if err != nil {
			return err
		}
		if met {
			if total.Time.IsZero() {
				if err := requestJSON(ctx, c, client.Request{Path: server.ClockPath}, &total); err != nil {
					return err
				}
			}
			return f.show(cmd.OutOrStdout(), total)
		}
		left := limit - total.Advanced.Duration
		if left <= 0 {
			return fmt.Errorf("%s does not meet %s after %v of virtual time", object, condition, limit)
		}
		watch := collectionPath(r, namespace) + "?" + url.Values{
			"watch": {"true"}, "fieldSelector": {"metadata.name=" + name}, "resourceVersion": {list},
		}.Encode()
		state, err := advanceClock(ctx, c, server.ClockAdvance{By: metav1.Duration{Duration: left}, Watch: watch})
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			continue
		}
		if err != nil {
			return err
		}
		state.Advanced.Duration += total.Advanced.Duration
		total = state
	}
}

// readOne returns an object, nil if it does not exist, and the resource version at which it was read.
func readOne(ctx context.Context, c *client.Client, r client.APIResource, namespace, name string) (version string, object map[string]any, err error) {
	var list struct {
		Metadata metav1.ListMeta  `json:"metadata"`
		Items    []map[string]any `json:"items"`
	}
	q := client.Request{Path: collectionPath(r, namespace), Query: url.Values{"fieldSelector": {"metadata.name=" + name}}}
	res, err := c.REST().Do(ctx, q)
	if err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(res.Body, &list); err != nil {
		return "", nil, err
	}
	if len(list.Items) > 0 {
		object = list.Items[0]
	}
	return list.Metadata.ResourceVersion, object, nil
}

// collectionPath returns the path of the objects of a kind, in the namespace if it has one.
func collectionPath(r client.APIResource, namespace string) string {
	path := "/apis/" + r.GVR.Group + "/" + r.GVR.Version
	if r.GVR.Group == "" {
		path = "/api/" + r.GVR.Version
	}
	if r.Namespaced {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	return path + "/" + r.GVR.Resource
}
