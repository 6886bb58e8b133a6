package config

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func (a *argsReader) readDevices(path *field.Path, raw []byte) field.ErrorList {
	var args devicesArgs
	if errs := parse(path, raw, &args, func() metav1.TypeMeta { return args.TypeMeta }, "DynamicResourcesArgs"); errs != nil {
		return errs
	}
	var errs field.ErrorList
	if d := args.FilterTimeout; d != nil {
		if d.Duration < 0 {
			errs = append(errs, field.Invalid(path.Child("filterTimeout"), d, "must be zero or positive"))
		}
		a.Devices.FilterTimeout = d.Duration
	}
	if d := args.BindingTimeout; d != nil {
		if d.Duration < time.Second {
			errs = append(errs, field.Invalid(path.Child("bindingTimeout"), d, "must be at least 1 second"))
		}
		a.Devices.BindingTimeout = d.Duration
	}
	return errs
}
