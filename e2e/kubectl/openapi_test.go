// Package kubectl_test reads the server's OpenAPI documents with kubectl's code.
package kubectl_test

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	explain "k8s.io/kubectl/pkg/explain/v2"
	kubectlopenapi "k8s.io/kubectl/pkg/util/openapi"
	"k8s.io/kubectl/pkg/validation"

	table "fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/openapi"
)

func start(t *testing.T) *discovery.DiscoveryClient {
	srv := httptest.NewServer(openapi.New(builtin.Resources(), table.Scheme()))
	t.Cleanup(srv.Close)
	return discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: srv.URL})
}

// TestExplain makes kubectl explain a field and a whole kind.
func TestExplain(t *testing.T) {
	client := start(t)
	for _, c := range []struct {
		gvr       schema.GroupVersionResource
		fields    []string
		recursive bool
		want      []string
	}{
		{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, []string{"spec", "strategy"}, false,
			[]string{"GROUP:      apps", "KIND:       Deployment", "FIELD: strategy <DeploymentStrategy>", "rollingUpdate\t<RollingUpdateDeployment>", "enum: Recreate, RollingUpdate"}},
		{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, nil, true,
			[]string{"KIND:       Pod", "containers\t<[]Container> -required-", "containerPort\t<integer> -required-"}},
		{schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}, []string{"spec", "maxReplicas"}, false,
			[]string{"FIELD: maxReplicas <integer>"}},
	} {
		var out bytes.Buffer
		if err := explain.PrintModelDescription(c.fields, &out, client.OpenAPIV3(), c.gvr, c.recursive, 0, "plaintext"); err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("explaining %s %v does not say %q:\n%.1500s", c.gvr.Resource, c.fields, w, out.String())
			}
		}
	}
}

// TestValidation makes kubectl validate manifests by the v2 document, in its protobuf form.
func TestValidation(t *testing.T) {
	client := start(t)
	doc, err := client.OpenAPISchema()
	if err != nil {
		t.Fatal(err)
	}
	resources, err := kubectlopenapi.NewOpenAPIData(doc)
	if err != nil {
		t.Fatal(err)
	}
	v := validation.NewSchemaValidation(getter{resources})
	good := `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"ports":[{"port":80,"targetPort":"http"}]}}`
	if err := v.ValidateBytes([]byte(good)); err != nil {
		t.Errorf("a good service: %v", err)
	}
	bad := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":"two","template":{},"selector":{},"nonsense":1}}`
	err = v.ValidateBytes([]byte(bad))
	if err == nil || !strings.Contains(err.Error(), `unknown field "nonsense"`) || !strings.Contains(err.Error(), "spec.replicas") {
		t.Errorf("a bad deployment: %v", err)
	}
}

// TestParameters checks whether parameters are supported, as kubectl does before --dry-run=server and strict
// validation.
func TestParameters(t *testing.T) {
	client := start(t)
	for _, p := range []resource.VerifiableQueryParam{resource.QueryParamFieldValidation} {
		v := resource.NewQueryParamVerifierV3(nil, client.OpenAPIV3(), p)
		for _, gvk := range []schema.GroupVersionKind{
			{Version: "v1", Kind: "Namespace"}, {Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
			{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
		} {
			if err := v.HasSupport(gvk); err != nil {
				t.Errorf("%s of %s: %v", p, gvk.Kind, err)
			}
		}
	}
}

type getter struct{ kubectlopenapi.Resources }

func (g getter) OpenAPISchema() (kubectlopenapi.Resources, error) { return g.Resources, nil }
