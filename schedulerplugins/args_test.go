package schedulerplugins_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/schedulerplugins"
)

// plainArgs are the arguments of Plain in both versions of the scheme.
type plainArgs struct {
	metav1.TypeMeta `json:",inline"`
	Label           string `json:"label"`
}

func (a *plainArgs) DeepCopyObject() runtime.Object {
	c := *a
	return &c
}

func argsScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, version := range []string{"v1", runtime.APIVersionInternal} {
		s.AddKnownTypeWithName(schema.GroupVersionKind{Group: "kubescheduler.config.k8s.io", Version: version, Kind: "PlainArgs"}, &plainArgs{})
	}
	s.AddTypeDefaultingFunc(&plainArgs{}, func(o any) {
		if a := o.(*plainArgs); a.Label == "" {
			a.Label = "standard"
		}
	})
	return s
}

// The arguments of a plugin are of the type that the scheme has for them.
func TestScheme(t *testing.T) {
	for name, tc := range map[string]struct{ plugin, args, want string }{
		"given":          {"Plain", "{label: own}", "label own"},
		"default":        {"Plain", "{}", "label standard"},
		"none":           {"Plain", "", "label standard"},
		"an unknown one": {"Plain", "{labels: own}", `initializing plugin "Plain": decoding its args: strict decoding error: unknown field "labels"`},
		"of another kind": {
			"Plain", "{apiVersion: kubescheduler.config.k8s.io/v1, kind: OtherArgs}", `initializing plugin "Plain": decoding its args: no kind "OtherArgs" is registered`,
		},
		"without a type": {"Other", "{label: own}", "type *runtime.Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			configuration := fmt.Sprintf("profiles: [{plugins: {multiPoint: {enabled: [{name: %s}]}}}]", tc.plugin)
			if tc.args != "" {
				configuration = fmt.Sprintf("profiles: [{plugins: {multiPoint: {enabled: [{name: %[1]s}]}}, pluginConfig: [{name: %[1]s, args: %[2]s}]}]", tc.plugin, tc.args)
			}
			err := schedulerplugins.Run(t.Context(), &rest.Config{Host: "http://127.0.0.1:1"}, []byte(header+configuration),
				schedulerplugins.WithScheme(argsScheme()), schedulerplugins.WithPlugin(tc.plugin,
					func(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
						if a, ok := args.(*plainArgs); ok {
							return nil, fmt.Errorf("label %s", a.Label)
						}
						return nil, fmt.Errorf("type %T", args)
					}))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
