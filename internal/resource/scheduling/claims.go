package scheduling

import (
	"encoding/json"
	"slices"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// maxClaims is how many claims a group may have.
const maxClaims = 4

// claims checks the claims that the pods of a group share.
func (v *validator) claims(p *check.Path, list, old []schedulingv1beta1.PodGroupResourceClaim) {
	if v.update && check.Same(list, old) {
		return
	}
	whole := v.examine(p, list, old)
	if !v.few(p, len(list)) || !whole {
		return
	}
	unique(v, p, list, func(c *schedulingv1beta1.PodGroupResourceClaim) string { return c.Name })
	for i := range list {
		c, at := &list[i], p.Index(i)
		v.oneOf(at, [2]bool{c.ResourceClaimName != nil, c.ResourceClaimTemplateName != nil}, [2]string{"resourceClaimName", "resourceClaimTemplateName"})
		if c.Name == "" {
			v.Required(at.Child("name"), "")
		} else {
			v.Label(at.Child("name"), c.Name)
		}
		if c.ResourceClaimName != nil {
			v.Subdomain(at.Child("resourceClaimName"), *c.ResourceClaimName)
		}
		if c.ResourceClaimTemplateName != nil {
			v.Subdomain(at.Child("resourceClaimTemplateName"), *c.ResourceClaimTemplateName)
		}
	}
}

// claimStatuses checks the names of the claims that were made for a group. Entries that old has, too, are not checked again.
func (v *validator) claimStatuses(p *check.Path, g, old *schedulingv1beta1.PodGroup) {
	list, was := g.Status.ResourceClaimStatuses, old.Status.ResourceClaimStatuses
	for i := range list {
		if !slices.ContainsFunc(g.Spec.ResourceClaims, func(c schedulingv1beta1.PodGroupResourceClaim) bool { return c.Name == list[i].Name }) {
			v.Invalid(p.Index(i).Child("name"), list[i].Name, "must match the name of an entry in `spec.resourceClaims`")
		}
	}
	if check.Same(list, was) || !v.few(p, len(list)) {
		return
	}
	unique(v, p, list, func(s *schedulingv1beta1.PodGroupResourceClaimStatus) string { return s.Name })
	for i := range list {
		same := func(s schedulingv1beta1.PodGroupResourceClaimStatus) bool { return check.Same(s, list[i]) }
		if name := list[i].ResourceClaimName; name != nil && !slices.ContainsFunc(was, same) {
			v.Subdomain(p.Index(i).Child("resourceClaimName"), *name)
		}
	}
}

// few checks that there are not too many claims.
func (v *validator) few(p *check.Path, n int) bool {
	if n > maxClaims {
		v.Add(field.TooMany(p.Field(), n, maxClaims).WithOrigin("maxItems"))
		return false
	}
	return true
}

// unique reports items whose name another one has before them.
func unique[T any](v *validator, p *check.Path, list []T, name func(*T) string) {
	seen := map[string]bool{}
	for i := range list {
		if n := name(&list[i]); seen[n] {
			v.Duplicate(p.Index(i), asServed{list[i]})
		} else {
			seen[n] = true
		}
	}
}

// asServed is a value that errors quote with its JSON names: kube-apiserver checks these rules in the served version.
type asServed struct{ value any }

func (s asServed) MarshalJSON() ([]byte, error) { return json.Marshal(s.value) }
