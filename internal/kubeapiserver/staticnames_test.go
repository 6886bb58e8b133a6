package kubeapiserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
)

// TestStaticNames creates the kinds that a server may also read from files by names that are reserved for these: since 1.37
// they are refused, and earlier versions warn.
func TestStaticNames(t *testing.T) {
	const match = `"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"operations":["CREATE"]}]}`
	specs := map[string]string{
		"mutatingwebhookconfigurations":     ``,
		"validatingwebhookconfigurations":   ``,
		"validatingadmissionpolicies":       `,"spec":{` + match + `,"validations":[{"expression":"true"}]}`,
		"validatingadmissionpolicybindings": `,"spec":{"policyName":"p","validationActions":["Deny"]}`,
		"mutatingadmissionpolicies": `,"spec":{` + match + `,"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch",
			"jsonPatch":{"expression":"[JSONPatch{op: \"add\", path: \"/spec/nodeName\", value: \"n\"}]"}}]}`,
		"mutatingadmissionpolicybindings": `,"spec":{"policyName":"p"}`,
	}
	create := func(c kubernetes.Interface, plural, name string) (warnings []string, err error) {
		result := c.AdmissionregistrationV1().RESTClient().Post().Resource(plural).SetHeader("Content-Type", "application/json").
			Body(fmt.Appendf(nil, `{"metadata":{"name":%q}%s}`, name, specs[plural])).Do(context.Background())
		for _, w := range result.Warnings() {
			warnings = append(warnings, w.Text)
		}
		return warnings, result.Error()
	}
	const reserved = `names ending with ".static.k8s.io" are reserved for static manifest-based configurations`
	for _, version := range []string{"1.36", "1.37"} {
		t.Run(version, func(t *testing.T) {
			root := start(t, "--emulated-version="+version)("root-token")
			for plural := range specs {
				if warnings, err := create(root, plural, "static.k8s.io"); err != nil || len(warnings) > 0 {
					t.Errorf("%s: another name: %q, %v", plural, warnings, err)
				}
				warnings, err := create(root, plural, "x.static.k8s.io")
				if version == "1.37" {
					if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.name: Invalid value: \"x.static.k8s.io\": "+reserved) {
						t.Errorf("%s: %v", plural, err)
					}
				} else if err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "metadata.name: "+reserved) {
					t.Errorf("%s: %q, %v", plural, warnings, err)
				}
			}
		})
	}
}
