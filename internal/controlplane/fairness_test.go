package controlplane_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	flows "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

func condition(s *flowcontrolv1.FlowSchema) string {
	for _, c := range s.Status.Conditions {
		if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
			return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return ""
}

// TestFlowObjects: a new cluster has upstream's FlowSchemas and priority levels, and the server restores them.
func TestFlowObjects(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{})
	c := controlplanetest.Client(t, cp)
	ctx := t.Context()
	schemas, levels := client.For[*flowcontrolv1.FlowSchema](c), client.For[*flowcontrolv1.PriorityLevelConfiguration](c)

	for _, want := range append(flows.MandatoryFlowSchemas, flows.SuggestedFlowSchemas...) {
		got, err := schemas.Get(ctx, want.Name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Spec, got.Spec) + cmp.Diff(want.Annotations, got.Annotations); diff != "" {
			t.Errorf("%s: -want +got\n%s", want.Name, diff)
		}
		if c := condition(got); c != fmt.Sprintf("False Found: This FlowSchema references the PriorityLevelConfiguration object named %q and it exists", want.Spec.PriorityLevelConfiguration.Name) {
			t.Errorf("%s: %s", want.Name, c)
		}
		managers := ""
		for _, m := range got.ManagedFields {
			managers += fmt.Sprintf("%s %s %q; ", m.Manager, m.Operation, m.Subresource)
		}
		if managers != `api-priority-and-fairness-config-consumer-v1 Apply "status"; api-priority-and-fairness-config-producer-v1 Update ""; ` {
			t.Errorf("%s: fields are managed by %s", want.Name, managers)
		}
	}
	for _, want := range append(flows.MandatoryPriorityLevelConfigurations, flows.SuggestedPriorityLevelConfigurations...) {
		got, err := levels.Get(ctx, want.Name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Spec, got.Spec) + cmp.Diff(want.Annotations, got.Annotations) + cmp.Diff(want.Status, got.Status); diff != "" {
			t.Errorf("%s: -want +got\n%s", want.Name, diff)
		}
	}

	// The annotation of a mandatory object and the spec of a suggested one are restored.
	merge(t, schemas, "exempt", `{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}}}`)
	waittest.One(t, schemas, "exempt", "its annotation", func(s *flowcontrolv1.FlowSchema) bool {
		return s.Annotations[flowcontrolv1.AutoUpdateAnnotationKey] == "true"
	})
	merge(t, schemas, "probes", `{"spec":{"matchingPrecedence":77}}`)
	waittest.One(t, schemas, "probes", "its precedence", func(s *flowcontrolv1.FlowSchema) bool { return s.Spec.MatchingPrecedence == 2 })
	// One that users have taken over is left alone, and the shares of the exempt level are theirs.
	merge(t, levels, "exempt", `{"spec":{"exempt":{"nominalConcurrencyShares":9}}}`)
	merge(t, levels, "system", `{"metadata":{"annotations":{"apf.kubernetes.io/autoupdate-spec":"false"}},"spec":{"limited":{"nominalConcurrencyShares":31}}}`)
	// Mandatory and suggested ones that are deleted come back.
	gone, err := schemas.Get(ctx, "catch-all")
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.Delete(ctx, "catch-all"); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, schemas, "catch-all", "a new object", func(s *flowcontrolv1.FlowSchema) bool { return s.UID != gone.UID && condition(s) != "" })
	// An object that an earlier version has left is deleted.
	old := &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "old", Annotations: map[string]string{flowcontrolv1.AutoUpdateAnnotationKey: "true"}},
		Spec:       *flows.SuggestedPriorityLevelConfigurationSystem.Spec.DeepCopy(),
	}
	if _, err := levels.Create(ctx, old); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, levels, "old")
	for name, shares := range map[string]int32{"exempt": 9, "system": 31} {
		l, err := levels.Get(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		got := l.Spec.Limited
		if got == nil && *l.Spec.Exempt.NominalConcurrencyShares != shares || got != nil && *got.NominalConcurrencyShares != shares {
			t.Errorf("%s: %+v", name, l.Spec)
		}
	}
}

// merge sends a merge patch.
func merge[T client.Object](t *testing.T, r client.Resource[T], name, body string) {
	t.Helper()
	if _, err := r.Patch(t.Context(), name, client.Patch{Type: types.MergePatchType, Data: []byte(body)}); err != nil {
		t.Fatal(err)
	}
}

// TestFlowSchemaEffect: a FlowSchema takes effect, first without its level, then with it; and one without a level is dangling.
func TestFlowSchemaEffect(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{})
	c := controlplanetest.Client(t, cp)
	ctx := t.Context()
	schemas, levels := client.For[*flowcontrolv1.FlowSchema](c), client.For[*flowcontrolv1.PriorityLevelConfiguration](c)
	if _, err := client.For[*rbacv1.ClusterRoleBinding](c).Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "ann"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "ann"}},
	}); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(cp.Config())
	config.Impersonate = rest.ImpersonationConfig{UserName: "ann"}
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (code int, flow string) {
		t.Helper()
		resp, err := h.Get(config.Host + "/api/v1/namespaces/default/configmaps")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID)
	}
	global, err := schemas.Get(ctx, "global-default")
	if err != nil {
		t.Fatal(err)
	}
	if code, flow := ask(); code != http.StatusOK || flow != string(global.UID) {
		t.Errorf("%d, FlowSchema %s, want %s", code, flow, global.UID)
	}
	all := []string{"*"}
	mine, err := schemas.Create(ctx, &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Spec: flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "none"}, MatchingPrecedence: 500,
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects:      []flowcontrolv1.Subject{{Kind: "User", User: &flowcontrolv1.UserSubject{Name: "ann"}}},
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{{Verbs: all, APIGroups: all, Resources: all, Namespaces: all}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	waittest.One(t, schemas, "mine", "its condition", func(s *flowcontrolv1.FlowSchema) bool { return strings.HasPrefix(condition(s), "True NotFound") })
	if code, flow := ask(); code != http.StatusOK || flow != string(global.UID) {
		t.Errorf("with a FlowSchema without a level: %d, FlowSchema %s", code, flow)
	}
	none := int32(0)
	closed := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
		Type: flowcontrolv1.PriorityLevelEnablementLimited, Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: &none, BorrowingLimitPercent: &none, LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject}},
	}}
	if _, err := levels.Create(ctx, closed); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, schemas, "mine", "its level", func(s *flowcontrolv1.FlowSchema) bool { return strings.HasPrefix(condition(s), "False Found") })
	// A level without seats runs one request at a time.
	if code, flow := ask(); code != http.StatusOK || flow != string(mine.UID) {
		t.Errorf("with the level: %d, FlowSchema %s, want %s", code, flow, mine.UID)
	}
	get := controlplanetest.Getter(t, cp.Config())
	if code, text := get("/debug/api_priority_and_fairness/dump_priority_levels"); code != http.StatusOK || !strings.Contains(text, "\nnone,") || !strings.Contains(text, "\nworkload-low,") {
		t.Errorf("%d %s", code, text)
	}
	if _, text := get("/metrics"); !strings.Contains(text, `apiserver_flowcontrol_nominal_limit_seats{priority_level="workload-low"} 245`) {
		t.Error("workload-low has not 245 seats of 600")
	}
}

// TestNoFairness: without fairness the objects are there, without a condition.
func TestNoFairness(t *testing.T) {
	cp := controlplanetest.Start(t, controlplane.Options{Limits: controlplane.Limits{NoFairness: true}})
	schemas := client.For[*flowcontrolv1.FlowSchema](controlplanetest.Client(t, cp))
	s, err := schemas.Get(t.Context(), "probes")
	if err != nil || len(s.Status.Conditions) > 0 {
		t.Errorf("%v %+v", err, s.Status)
	}
	if err := schemas.Delete(t.Context(), "probes"); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, schemas, "probes", "a new object", func(now *flowcontrolv1.FlowSchema) bool { return now.UID != s.UID })
	get := controlplanetest.Getter(t, cp.Config())
	if code, _ := get("/livez/poststarthook/max-in-flight-filter"); code != http.StatusOK {
		t.Error(code)
	}
}
