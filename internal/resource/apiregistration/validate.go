package apiregistration

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

const (
	maxGroupPriority   = 20_000
	maxVersionPriority = 1_000
)

func validate(s *apiregistrationv1.APIService) field.ErrorList {
	var f check.Errors
	spec := check.At("spec")
	if want := s.Spec.Version + "." + s.Spec.Group; s.Name != want && len(resource.PathSegmentName(s.Name, false)) == 0 {
		f.Invalid(check.At("metadata", "name"), s.Name, fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", want))
	}
	if s.Spec.Group == "" {
		if s.Spec.Version != "v1" {
			f.Required(spec.Child("group"), "only v1 may have an empty group and it better be legacy kube")
		}
	} else {
		f.Subdomain(spec.Child("group"), s.Spec.Group)
	}
	f.Each(spec.Child("version"), s.Spec.Version, validation.IsDNS1035Label(s.Spec.Version))
	if n := s.Spec.GroupPriorityMinimum; n <= 0 || n > maxGroupPriority {
		f.Invalid(spec.Child("groupPriorityMinimum"), n, "must be positive and less than 20000")
	}
	if n := s.Spec.VersionPriority; n <= 0 || n > maxVersionPriority {
		f.Invalid(spec.Child("versionPriority"), n, "must be positive and less than 1000")
	}
	if s.Spec.Service == nil {
		if n := len(s.Spec.CABundle); n > 0 {
			f.Invalid(spec.Child("caBundle"), fmt.Sprintf("%d bytes", n), "local APIServices may not have a caBundle")
		}
		if s.Spec.InsecureSkipTLSVerify {
			f.Invalid(spec.Child("insecureSkipTLSVerify"), true, "local APIServices may not have insecureSkipTLSVerify")
		}
		return f.List()
	}
	validateService(&f, spec.Child("service"), s.Spec.Service)
	if s.Spec.InsecureSkipTLSVerify && len(s.Spec.CABundle) > 0 {
		f.Invalid(spec.Child("insecureSkipTLSVerify"), true, "may not be true if caBundle is present")
	}
	return f.List()
}

func validateService(f *check.Errors, p *check.Path, to *apiregistrationv1.ServiceReference) {
	if to.Namespace == "" {
		f.Required(p.Child("namespace"), "")
	}
	if to.Name == "" {
		f.Required(p.Child("name"), "")
	}
	port := ptr.Deref(to.Port, 0)
	if wrong := validation.IsValidPortNum(int(port)); wrong != nil {
		f.Invalid(p.Child("port"), port, "port is not valid: "+strings.Join(wrong, ", "))
	}
}

func validateUpdate(s, _ *apiregistrationv1.APIService) field.ErrorList { return validate(s) }

func validateStatus(s, _ *apiregistrationv1.APIService) field.ErrorList {
	var f check.Errors
	for i, c := range s.Status.Conditions {
		check.Known(&f, check.At("status", "conditions").Index(i).Child("status"), c.Status,
			apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown)
	}
	return f.List()
}
