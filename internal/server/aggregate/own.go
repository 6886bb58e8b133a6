package aggregate

import (
	"cmp"
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/apiregistration"
	"fairlead.dev/internal/server/auth/bootstrap"
)

// unregistered are the built-in groups whose versions have no API service: that of API services itself, and metrics.k8s.io, so
// that metrics-server can be installed with an API service of its own, which takes the place of the built-in one.
var unregistered = []string{apiregistrationv1.GroupName, v1beta1.GroupName}

// Builtin returns the API services of the built-in versions, which a new cluster has.
func Builtin(resources []*resource.Resource) (objects []runtime.Object) {
	for _, gv := range versions(resources, false) {
		objects = append(objects, apiregistration.Own(gv, apiregistration.OnStart))
	}
	return objects
}

// versions returns the versions of the given resources, either of custom kinds or of built-in ones.
func versions(resources []*resource.Resource, custom bool) []schema.GroupVersion {
	all := map[schema.GroupVersion]bool{}
	for _, r := range resources {
		if (r.Custom != nil) != custom || slices.Contains(unregistered, r.Group) {
			continue
		}
		for _, v := range r.Versions {
			all[schema.GroupVersion{Group: r.Group, Version: v.Name}] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b schema.GroupVersion) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version))
	})
}

// keep creates and restores the API services of definitions, and removes those of versions no longer served.
func (s *Services) keep(ctx context.Context) error {
	if missing := s.missing(); len(missing) > 0 {
		if err := s.o.Server.Bootstrap(ctx, missing, bootstrap.Reconcile); err != nil {
			return err
		}
	}
	if len(s.surplus()) > 0 {
		// Definitions written by another server may be visible already but not be in effect yet.
		if err := s.o.Settle(ctx); err != nil {
			return err
		}
		for _, k := range s.surplus() {
			err := s.o.Server.Remove(ctx, Resource, k.name, k.uid)
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return err
			}
		}
	}
	return s.settleLocal(ctx)
}

// missing returns the API services of definitions that are missing or differ from the desired state.
func (s *Services) missing() (objects []runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, gv := range s.mu.custom {
		want := apiregistration.Own(gv, apiregistration.Always)
		k := s.mu.known[want.Name]
		if k == nil || k.managed != "" && !sameSpec(&k.spec, &want.Spec) {
			objects = append(objects, want)
		}
	}
	return objects
}

// surplus returns the API services that the server has created for versions that it no longer serves.
func (s *Services) surplus() (list []*known) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.mu.known {
		gv := schema.GroupVersion{Group: k.spec.Group, Version: k.spec.Version}
		switch {
		case slices.Contains(s.mu.custom, gv):
		case k.managed == apiregistration.Always,
			k.managed == apiregistration.OnStart && s.atStart[k.name] == k.uid && !slices.Contains(s.builtin, gv):
			list = append(list, k)
		}
	}
	return list
}

// settleLocal sets the Available condition of API services without a service, including those whose service was
// removed.
func (s *Services) settleLocal(ctx context.Context) error {
	for _, name := range s.unsettled() {
		err := s.o.Server.Amend(ctx, Resource, name, "status", func(obj resource.Object) bool {
			service := obj.(*apiregistrationv1.APIService)
			return service.Spec.Service == nil && apiregistration.SetCondition(service, apiregistration.Local())
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func (s *Services) unsettled() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.mu.known {
		if k.spec.Service == nil && !k.local {
			names = append(names, k.name)
		}
	}
	return names
}

// sameSpec compares specs managed by the server, which have no service.
func sameSpec(a, b *apiregistrationv1.APIServiceSpec) bool {
	return a.Service == nil && b.Service == nil && a.Group == b.Group && a.Version == b.Version &&
		a.GroupPriorityMinimum == b.GroupPriorityMinimum && a.VersionPriority == b.VersionPriority &&
		a.InsecureSkipTLSVerify == b.InsecureSkipTLSVerify && len(a.CABundle) == len(b.CABundle)
}
