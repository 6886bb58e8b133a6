package nodes

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/rbac"
	"fairlead.dev/watchcache"
)

// Options configure the Authorizer.
type Options struct {
	// Rules are the rules for all nodes, bootstrap.NodeRules.
	Rules []rbacv1.PolicyRule
	// Pods is the watch cache of pods, with an index on spec.nodeName.
	Pods *watchcache.Cache
	// Lookup finds objects of the other kinds.
	Lookup auth.Lookup
}

// New returns the Authorizer. It has no opinion about users other than nodes.
func New(o Options) auth.Authorizer { return authorizer{o} }

type authorizer struct{ Options }

// Name returns the node's name if the user is a node.
func Name(u *auth.User) (string, bool) {
	if u == nil || !u.InGroup(auth.NodesGroup) {
		return "", false
	}
	return strings.CutPrefix(u.Name, auth.NodeUserPrefix)
}

func (z authorizer) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	node, ok := Name(a.User)
	if !ok {
		return auth.NoOpinion, "", nil
	}
	if node == "" {
		return auth.NoOpinion, fmt.Sprintf("unknown node for user %q", a.User.Name), nil
	}
	if a.IsResource {
		gr := schema.GroupResource{Group: a.Group, Resource: a.Resource}
		if decide := byResource[gr]; decide != nil {
			return decide(question{z, ctx, node, a})
		}
	}
	return auth.AllowIf(rbac.Allows(z.Rules, a)), "", nil
}

// question is a node's request, if the decision depends on the object.
type question struct {
	z    authorizer
	ctx  context.Context
	node string
	a    auth.Attributes
}

// byResource decides for the resources where the decision depends on the object. The rules decide for all others.
var byResource = map[schema.GroupResource]func(question) (auth.Decision, string, error){
	{Resource: "nodes"}:                                                question.ownNode,
	{Resource: "pods"}:                                                 question.pod,
	{Resource: "secrets"}:                                              question.secret,
	{Resource: "configmaps"}:                                           question.configMap,
	{Resource: "serviceaccounts"}:                                      question.serviceAccount,
	{Resource: "persistentvolumeclaims"}:                               question.claim,
	{Resource: "persistentvolumes"}:                                    question.volume,
	{Group: "storage.k8s.io", Resource: "volumeattachments"}:           question.attachment,
	{Group: "storage.k8s.io", Resource: "csinodes"}:                    question.csiNode,
	{Group: "coordination.k8s.io", Resource: "leases"}:                 question.lease,
	{Group: "resource.k8s.io", Resource: "resourceclaims"}:             question.resourceClaim,
	{Group: "resource.k8s.io", Resource: "resourceslices"}:             question.slice,
	{Group: "certificates.k8s.io", Resource: "podcertificaterequests"}: question.podCertificate,
}

func yes() (auth.Decision, string, error) { return auth.Allow, "", nil }

func no(reason string) (auth.Decision, string, error) { return auth.NoOpinion, reason, nil }

// related allows the request if the object concerns the node.
func (q question) related(is bool, err error) (auth.Decision, string, error) {
	if is || err != nil {
		return auth.AllowIf(is), "", err
	}
	return no(fmt.Sprintf("no relationship found between node '%s' and this object", q.node))
}

// selectsNode reports whether the field selector selects only objects of the node.
func (q question) selectsNode(field string) bool {
	if q.a.Fields == "" {
		return false
	}
	sel, err := fields.ParseSelector(q.a.Fields)
	if err != nil {
		return false
	}
	for _, r := range sel.Requirements() {
		if r.Field == field && r.Value == q.node && (r.Operator == selection.Equals || r.Operator == selection.DoubleEquals) {
			return true
		}
	}
	return false
}

func (q question) ownNode() (auth.Decision, string, error) {
	switch {
	case q.a.Subresource == "status" && (q.a.Verb == "update" || q.a.Verb == "patch"):
		return yes() // NodeRestriction admission restricts the node to its own
	case q.a.Subresource != "":
		return no("")
	}
	switch q.a.Verb {
	case "create", "update", "patch":
		return yes()
	case "get", "list", "watch":
		switch q.a.Name {
		case q.node:
			return yes()
		case "":
			return no(fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", q.node))
		}
		return no(fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", q.node, q.a.Name))
	}
	return no("")
}

func (q question) pod() (auth.Decision, string, error) {
	switch q.a.Subresource + "/" + q.a.Verb {
	case "/get":
		return q.get(q.hasPod)
	case "/list", "/watch":
		switch {
		case q.selectsNode("spec.nodeName"):
			return yes()
		case q.a.Name != "":
			return q.related(q.hasPod())
		}
		return no("can only list/watch pods with spec.nodeName field selector")
	case "/create", "/delete", "status/update", "status/patch", "eviction/create":
		return yes() // NodeRestriction admission restricts the node to its own
	}
	return no("")
}

func (q question) lease() (auth.Decision, string, error) {
	switch q.a.Verb {
	case "get", "create", "update", "patch", "delete":
	default:
		return no("can only get, create, update, patch, or delete a node lease")
	}
	switch {
	case q.a.Namespace != corev1.NamespaceNodeLease:
		return no(fmt.Sprintf("can only access leases in the %q system namespace", corev1.NamespaceNodeLease))
	case q.a.Verb != "create" && q.a.Name != q.node: // the name is not yet known in a create
		return no("can only access node lease with the same name as the requesting node")
	}
	return yes()
}

func (q question) csiNode() (auth.Decision, string, error) {
	switch q.a.Subresource {
	case "":
	case "status":
		return no("CSINode status access requires CSIVolumeHealth feature")
	default:
		return no("cannot authorize CSINode subresources")
	}
	switch q.a.Verb {
	case "get", "create", "update", "patch", "delete":
	default:
		return no("can only get, create, update, patch, or delete a CSINode")
	}
	if q.a.Verb != "create" && q.a.Name != q.node {
		return no("can only access CSINode with the same name as the requesting node")
	}
	return yes()
}

func (q question) slice() (auth.Decision, string, error) {
	if q.a.Subresource != "" {
		return no("cannot authorize ResourceSlice subresources")
	}
	switch q.a.Verb {
	case "create":
		return yes() // NodeRestriction admission checks the object
	case "get", "update", "patch", "delete":
		return q.named(q.hasSlice)
	case "list", "watch", "deletecollection":
		if q.selectsNode("spec.nodeName") {
			return yes()
		}
		return no("can only list/watch/deletecollection resourceslices with nodeName field selector")
	}
	return no("only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection")
}

func (q question) podCertificate() (auth.Decision, string, error) {
	if q.a.Subresource != "" {
		return no("nodes may not access the status subresource of PodCertificateRequests")
	}
	switch q.a.Verb {
	case "create":
		return yes() // NodeRestriction admission checks the object
	case "get":
		return q.named(q.hasPodCertificate)
	case "list", "watch":
		if q.selectsNode("spec.nodeName") {
			return yes()
		}
		return no("can only list/watch podcertificaterequests with nodeName field selector")
	}
	return no(fmt.Sprintf("nodes may not %s podcertificaterequests", q.a.Verb))
}
