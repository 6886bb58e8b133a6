package apiextensions

import (
	"context"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

type definition = *apiextensionsv1.CustomResourceDefinition

func strategy() resource.Strategy {
	r := resource.SplitCounted(func(d definition) (*apiextensionsv1.CustomResourceDefinitionSpec, *apiextensionsv1.CustomResourceDefinitionStatus) {
		return &d.Spec, &d.Status
	})
	create, update := r.PrepareForCreate, r.PrepareForUpdate
	r.Default = setDefaults
	r.PrepareForCreate = func(d definition) {
		create(d)
		dropEmptyWebhook(d)
		noteStorage(d)
	}
	r.PrepareForUpdate = func(d, old definition) {
		update(d, old)
		dropEmptyWebhook(d)
		d.Status.StoredVersions = slices.Clone(d.Status.StoredVersions)
		noteStorage(d)
	}
	r.PrepareForDelete = condemn
	r.Validate = func(d definition) field.ErrorList {
		in, err := internal(d)
		if err != nil {
			return unreadable(err)
		}
		return append(validation.ValidateCustomResourceDefinition(context.Background(), in), patterns(d)...)
	}
	rules := validateUpdate(validation.ValidateCustomResourceDefinitionUpdate)
	r.ValidateUpdate = func(d, old definition) field.ErrorList {
		errs := rules(d, old)
		if len(patterns(old)) == 0 { // else it is stored already
			errs = append(errs, patterns(d)...)
		}
		return errs
	}
	r.ValidateStatusUpdate = validateUpdate(validation.ValidateUpdateCustomResourceDefinitionStatus)
	r.Warnings = func(d definition) []string { return warnings(d, nil) }
	r.UpdateWarnings = warnings
	r.RequireResourceVersion = true
	return r.Strategy()
}

// dropEmptyWebhook removes a webhook of conversion without any setting, which kube-apiserver does not store.
func dropEmptyWebhook(d definition) {
	if c := d.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig == nil && len(c.Webhook.ConversionReviewVersions) == 0 {
		c.Webhook = nil
	}
}

func validateUpdate(f func(ctx context.Context, obj, old *apiextensions.CustomResourceDefinition) field.ErrorList) func(d, old definition) field.ErrorList {
	return func(d, old definition) field.ErrorList {
		in, err := internal(d)
		if err != nil {
			return unreadable(err)
		}
		was, err := internal(old)
		if err != nil {
			return unreadable(err)
		}
		return f(context.Background(), in, was)
	}
}

// internal is the form that upstream's rules are written for.
func internal(d definition) (*apiextensions.CustomResourceDefinition, error) {
	out := &apiextensions.CustomResourceDefinition{}
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d, out, nil)
}

func unreadable(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(check.At("spec").Field(), err)}
}

func setDefaults(d definition) {
	apiextensionsv1.SetDefaults_CustomResourceDefinition(d)
	c := d.Spec.Conversion
	if c.Webhook != nil && c.Webhook.ClientConfig != nil && c.Webhook.ClientConfig.Service != nil {
		apiextensionsv1.SetDefaults_ServiceReference(c.Webhook.ClientConfig.Service)
	}
}

// noteStorage adds the storage version to status.storedVersions.
func noteStorage(d definition) {
	for _, v := range d.Spec.Versions {
		if !v.Storage {
			continue
		}
		if !slices.Contains(d.Status.StoredVersions, v.Name) {
			d.Status.StoredVersions = append(d.Status.StoredVersions, v.Name)
		}
		return // a second one is a fault
	}
}

// condemn begins the end of a definition: its objects have to go first.
func condemn(d definition) {
	if !apihelpers.CRDHasFinalizer(d, apiextensionsv1.CustomResourceCleanupFinalizer) {
		d.Finalizers = append(slices.Clone(d.Finalizers), apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	apihelpers.SetCRDCondition(d, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue,
		Reason:  "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	})
}
