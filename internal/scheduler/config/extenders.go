package config

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/plugins"
)

// newExtenders checks extenders by kube-scheduler's rules, and makes them.
func newExtenders(path *field.Path, list []configv1.Extender) (all []*extenders.Extender, errs []error) {
	binders, managed := 0, map[string]bool{}
	for i := range list {
		e, at := &list[i], path.Index(i)
		if e.PrioritizeVerb != "" && e.Weight <= 0 {
			errs = append(errs, field.Invalid(at.Child("weight"), e.Weight, "must have a positive weight applied to it"))
		}
		if e.BindVerb != "" {
			binders++
		}
		for j, r := range e.ManagedResources {
			at := at.Child("managedResources").Index(j).Child("name")
			errs = append(errs, checkExtendedResource(at, corev1.ResourceName(r.Name))...)
			if managed[r.Name] {
				errs = append(errs, field.Invalid(at, r.Name, "duplicate extender managed resource name"))
			}
			managed[r.Name] = true
		}
		made, err := extenders.New(*e)
		if err != nil {
			errs = append(errs, field.Invalid(at.Child("tlsConfig"), e.URLPrefix, err.Error()))
			continue
		}
		all = append(all, made)
	}
	if binders > 1 {
		errs = append(errs, field.Invalid(path, fmt.Sprintf("found %d extenders implementing bind", binders), "only one extender can implement bind"))
	}
	return all, errs
}

func checkExtendedResource(at *field.Path, name corev1.ResourceName) (errs []error) {
	for _, msg := range validation.IsQualifiedName(string(name)) {
		errs = append(errs, field.Invalid(at, name, msg))
	}
	if len(errs) == 0 && !isExtendedResource(name) {
		errs = append(errs, field.Invalid(at, string(name), "is an invalid extended resource name"))
	}
	return errs
}

// isExtendedResource reports whether a name is that of an extended resource, which has a domain other than Kubernetes' own.
func isExtendedResource(name corev1.ResourceName) bool {
	domain, _, qualified := strings.Cut(string(name), "/")
	return qualified && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") &&
		!strings.HasPrefix(domain, corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

// ignoreManaged adds to the resources that need not fit those that only extenders look at.
func ignoreManaged(a *plugins.Args, all []*extenders.Extender) {
	for _, e := range all {
		for _, r := range e.ManagedResources {
			if r.IgnoredByScheduler {
				if a.IgnoredResources == nil {
					a.IgnoredResources = &plugins.IgnoredResources{}
				}
				a.IgnoredResources.Names = append(a.IgnoredResources.Names, r.Name)
			}
		}
	}
}
