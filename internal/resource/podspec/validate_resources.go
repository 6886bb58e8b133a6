package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// resources reports the errors of a container's resources.
func (v *validator) resources(p *check.Path, r *corev1.ResourceRequirements) {
	requirements(v.Errors, p, r, false)
	v.claimNames(p.Child("claims"), r.Claims)
}

// podResources reports the errors of pod-level resources.
func (v *validator) podResources(p *check.Path) {
	r := v.spec.Resources
	if r == nil {
		return
	}
	if v.spec.OS != nil && v.spec.OS.Name == corev1.Windows {
		v.Forbidden(p, "may not be set for a windows pod")
		return
	}
	if r.Claims != nil {
		v.Forbidden(p.Child("claims"), "claims may not be set for Resources at pod-level")
	}
	requirements(v.Errors, p, r, true)
	v.claimNames(p.Child("claims"), r.Claims)
	together := sum(v.spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Requests })
	for _, name := range check.Names(together) {
		whole, ok := r.Requests[name]
		if amount := together[name]; ok && amount.Cmp(whole) > 0 {
			v.Invalid(p.Child("requests").Key(string(name)), whole.String(),
				fmt.Sprintf("must be greater than or equal to aggregate container requests of %s", amount.String()))
		}
	}
	for i := range v.spec.Containers {
		limits := v.spec.Containers[i].Resources.Limits
		for _, name := range check.Names(limits) {
			whole, ok := r.Limits[name]
			if limit := limits[name]; ok && limit.Cmp(whole) > 0 {
				v.Invalid(p.Child("containers").Index(i).Key(string(name)).Child("limits"), limit.String(),
					fmt.Sprintf("must be less than or equal to pod limits of %s", whole.String()))
			}
		}
	}
}

// podResourceName requires the name of a resource that may be specified at pod level.
func podResourceName(f *check.Errors, p *check.Path, name corev1.ResourceName) {
	if f.ResourceName(p, name) && !podLevel(name) {
		f.Add(field.NotSupported(p.Field(), name, []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceHugePagesPrefix, corev1.ResourceMemory}))
	}
}

// requirements reports the errors of a container's or pod-level resources.
func requirements(f *check.Errors, p *check.Path, r *corev1.ResourceRequirements, pod bool) {
	limits, requests := p.Child("limits"), p.Child("requests")
	huge, compute := false, false
	amount := func(p *check.Path, name corev1.ResourceName, q resource.Quantity) {
		p = p.Key(string(name))
		if pod {
			podResourceName(f, p, name)
		} else {
			f.ContainerResourceName(p, name)
		}
		f.Amount(p, name, q)
		if check.IsHugePages(name) {
			huge = true
			size, err := resource.ParseQuantity(strings.TrimPrefix(string(name), corev1.ResourceHugePagesPrefix))
			if err != nil || size.Value() <= 0 || q.Value()%size.Value() != 0 {
				f.Invalid(p, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))
			}
		}
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			compute = true
		}
	}
	for _, name := range check.Names(r.Limits) {
		amount(limits, name, r.Limits[name])
	}
	for _, name := range check.Names(r.Requests) {
		q := r.Requests[name]
		amount(requests, name, q)
		limit, limited := r.Limits[name]
		switch {
		case !limited && !check.Overcommits(name):
			f.Required(limits, "Limit must be set for non overcommitable resources")
		case !limited:
		case q.Cmp(limit) != 0 && !check.Overcommits(name):
			f.Invalid(requests, q.String(), fmt.Sprintf("must be equal to %s limit of %s", name, limit.String()))
		case q.Cmp(limit) > 0:
			f.Invalid(requests, q.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String()))
		}
	}
	if huge && !compute {
		f.Forbidden(p, "HugePages require cpu or memory")
	}
}

// claimNames requires each claim, or request of a claim, to be unique and one of the pod's.
func (v *validator) claimNames(p *check.Path, claims []corev1.ResourceClaim) {
	names := map[string]bool{}
	for i, c := range claims {
		at := p.Index(i)
		if c.Name == "" {
			v.Required(at, "")
			continue
		}
		key := c.Name
		if c.Request != "" {
			v.Label(at.Child("request"), c.Request)
			key += "/" + c.Request
		}
		switch {
		case names[c.Name]:
			v.Duplicate(at, c.Name)
		case names[key]:
			v.Duplicate(at, key)
		case c.Request == "":
			for other := range names {
				if strings.HasPrefix(other, c.Name+"/") {
					v.Duplicate(at, c.Name)
					break
				}
			}
		}
		names[key] = true
		if !v.claims[c.Name] {
			missing := field.NotFound(at.Field(), c.Name)
			missing.Detail = "must be one of the names in pod.spec.resourceClaims"
			if len(v.claims) == 0 {
				missing.Detail += " which is empty"
			} else {
				missing.Detail += ": " + strings.Join(slices.Sorted(maps.Keys(v.claims)), ", ")
			}
			v.Add(missing)
		}
	}
}
