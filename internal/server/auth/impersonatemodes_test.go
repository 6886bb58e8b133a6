package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/internal/server/auth"
)

// rights lists the allowed requests, as "VERB RESOURCE NAME", the resource with its group, subresource and namespace.
type rights []string

func (r rights) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	resource := a.Resource
	if a.Group != "" {
		resource += "." + a.Group
	}
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	if a.Namespace != "" {
		resource = a.Namespace + "/" + resource
	}
	return auth.AllowIf(slices.Contains(r, strings.TrimSpace(a.Verb+" "+resource+" "+a.Name))), "", nil
}

func TestConstrainedImpersonation(t *testing.T) {
	const api = ".authentication.k8s.io"
	user := func(name, uid string, extra map[string][]string, groups ...string) *auth.User {
		return &auth.User{Name: name, UID: uid, Extra: extra, Groups: append(groups, auth.AllAuthenticated)}
	}
	agent := &auth.User{Name: "system:serviceaccount:kube-system:agent", Extra: map[string][]string{auth.NodeName: {"n1"}}}
	ann := &auth.User{Name: "ann"}
	for _, c := range []struct {
		name   string
		as     *auth.User
		header string // alternating names and values
		may    rights
		want   *auth.User
		denied string
	}{
		{name: "a user", as: ann, header: "User bob", want: user("bob", "", nil),
			may: rights{"impersonate-on:user-info:list n/pods", "impersonate:user-info users" + api + " bob"}},
		{name: "not for this request", as: ann, header: "User bob", denied: `User "ann" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "n"`,
			may: rights{"impersonate-on:user-info:get n/pods", "impersonate:user-info users" + api + " bob"}},
		{name: "not this user", as: ann, header: "User eve", denied: `User "ann" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope`,
			may: rights{"impersonate-on:user-info:list n/pods", "impersonate:user-info users" + api + " bob"}},
		{name: "as ever", as: ann, header: "User bob Group dev", may: rights{"impersonate users bob", "impersonate groups dev"}, want: user("bob", "", nil, "dev")},
		{name: "every part", as: ann, header: "User bob Uid 7 Group dev Extra-Example.com%2fscope all", want: user("bob", "7", map[string][]string{"example.com/scope": {"all"}}, "dev"),
			may: rights{"impersonate-on:user-info:list n/pods", "impersonate:user-info users" + api + " bob", "impersonate:user-info uids" + api + " 7", "impersonate:user-info groups" + api + " dev", "impersonate:user-info userextras" + api + "/example.com/scope all"}},
		{name: "masters", as: ann, header: "User bob Group system:masters", denied: `User "ann" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed`,
			may: rights{"impersonate-on:user-info:list n/pods", "impersonate:user-info users" + api + " bob", "impersonate:user-info groups" + api + " system:masters", "impersonate users bob"}},
		{name: "many groups", as: ann, header: "User bob Group a Group b Group c Group d", want: user("bob", "", nil, "a", "b", "c", "d"),
			may: rights{"impersonate-on:user-info:list n/pods", "impersonate:user-info users" + api + " bob", "impersonate:user-info groups" + api + " *"}},
		{name: "an account", as: ann, header: "User system:serviceaccount:n:robot", want: user("system:serviceaccount:n:robot", "", nil, "system:serviceaccounts", "system:serviceaccounts:n"),
			may: rights{"impersonate-on:serviceaccount:list n/pods", "impersonate:serviceaccount n/serviceaccounts" + api + " robot"}},
		{name: "an account is no user", as: ann, header: "User system:serviceaccount:n:robot", denied: `User "ann" cannot impersonate-on:serviceaccount:list resource "pods" in API group "" in the namespace "n"`,
			may: rights{"impersonate-on:user-info:list n/pods", "impersonate:user-info users" + api + " system:serviceaccount:n:robot"}},
		{name: "any node", as: ann, header: "User system:node:n2", want: user("system:node:n2", "", nil, "system:nodes"),
			may: rights{"impersonate-on:arbitrary-node:list n/pods", "impersonate:arbitrary-node nodes" + api + " n2"}},
		{name: "a node's own account", as: agent, header: "User system:node:n1", want: user("system:node:n1", "", nil, "system:nodes"),
			may: rights{"impersonate-on:associated-node:list n/pods", "impersonate:associated-node nodes" + api + " *"}},
		{name: "not its own node", as: agent, header: "User system:node:n2", denied: `User "system:serviceaccount:kube-system:agent" cannot impersonate-on:arbitrary-node:list resource "pods" in API group "" in the namespace "n"`,
			may: rights{"impersonate-on:associated-node:list n/pods", "impersonate:associated-node nodes" + api + " *"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/n/pods", nil)
			words := strings.Fields(c.header)
			for i := 0; i < len(words); i += 2 {
				r.Header.Add("Impersonate-"+words[i], words[i+1])
			}
			got, _, err := auth.Impersonate(t.Context(), r, auth.Attributes{User: c.as, Verb: "list", Version: "v1", Resource: "pods", Namespace: "n", IsResource: true}, c.may)
			if c.denied != "" {
				if err == nil || err.Error() != c.denied {
					t.Errorf("got %v, want %s", err, c.denied)
				}
				return
			}
			if d := cmp.Diff(c.want, got); err != nil || d != "" || len(r.Header) > 0 {
				t.Errorf("%v %s, headers %v", err, d, r.Header)
			}
		})
	}
}
