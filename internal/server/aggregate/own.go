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

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/apiregistration"
	"fairlead.dev/internal/server/auth/bootstrap"
)

// Builtin are the API services of what is built in, which a cluster starts with. That of
// their own group has none.
func Builtin(resources []*resource.Resource) (objects []runtime.Object) {
	for _, gv := range versions(resources, false) {
		objects = append(objects, apiregistration.Own(gv, apiregistration.OnStart))
	}
	return objects
}

// versions are the groups' versions that the rows have, those of custom kinds or those
// that are built in.
func versions(resources []*resource.Resource, custom bool) []schema.GroupVersion {
	all := map[schema.GroupVersion]bool{}
	for _, r := range resources {
		if (r.Custom != nil) != custom || r.Group == apiregistrationv1.GroupName {
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

// keep makes the API services of what definitions define, sets them right, and removes
// those of what is served no more.
func (s *Services) keep(ctx context.Context) error {
	if missing := s.missing(); len(missing) > 0 {
		if err := s.o.Server.Bootstrap(ctx, missing, bootstrap.Reconcile); err != nil {
			return err
		}
	}
	if len(s.surplus()) > 0 {
		// Another server's definitions may be here already and not be in effect yet.
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

// missing are the API services of definitions that are not there as they should be.
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

// surplus are those that the server has made for what it does not serve.
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

// settleLocal says of those without a service, however they came to have none, that they
// are available.
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

// sameSpec compares what the server says of itself, which has no service.
func sameSpec(a, b *apiregistrationv1.APIServiceSpec) bool {
	return a.Service == nil && b.Service == nil && a.Group == b.Group && a.Version == b.Version &&
		a.GroupPriorityMinimum == b.GroupPriorityMinimum && a.VersionPriority == b.VersionPriority &&
		a.InsecureSkipTLSVerify == b.InsecureSkipTLSVerify && len(a.CABundle) == len(b.CABundle)
}
