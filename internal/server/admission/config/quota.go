package config

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcequota "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota"
	resourcequotav1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1"
	resourcequotav1alpha1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1alpha1"
	resourcequotav1beta1 "k8s.io/apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/v1beta1"
)

// LimitedResource is a resource that may only be consumed if a quota covers it.
type LimitedResource = resourcequota.LimitedResource

var quotaCodecs = codecsOf(true, resourcequota.AddToScheme, resourcequotav1.AddToScheme, resourcequotav1beta1.AddToScheme, resourcequotav1alpha1.AddToScheme)

func (c *Config) readLimitedResources(data []byte) error {
	if data == nil {
		return nil
	}
	var q resourcequota.Configuration
	if err := runtime.DecodeInto(quotaCodecs.UniversalDecoder(), data, &q); err != nil {
		return err
	}
	var errs field.ErrorList
	for i, r := range q.LimitedResources {
		if r.Resource == "" {
			errs = append(errs, field.Required(field.NewPath("limitedResources").Index(i).Child("resource"), ""))
		}
	}
	c.LimitedResources = q.LimitedResources
	return errs.ToAggregate()
}
