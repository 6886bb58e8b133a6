package dynamicresources

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

// allocated identifies a device allocated to a claim.
type allocated struct{ Driver, Pool, Device, ShareID string }

// devicesOf returns the devices of an allocation, which may be nil.
func devicesOf(a *resourcev1.AllocationResult) map[allocated]bool {
	has := map[allocated]bool{}
	if a != nil {
		for _, r := range a.Devices.Results {
			has[allocated{r.Driver, r.Pool, r.Device, string(ptr.Deref(r.ShareID, ""))}] = true
		}
	}
	return has
}

// deviceOf returns the device that a driver's report is about.
func deviceOf(d *resourcev1.AllocatedDeviceStatus) allocated {
	return allocated{d.Driver, d.Pool, d.Device, ptr.Deref(d.ShareID, "")}
}

// dropDeallocated drops the drivers' reports about devices that an update takes from the claim, since clients that deallocate a claim
// may not know of these reports.
func dropDeallocated(s, old *resourcev1.ResourceClaimStatus) {
	has, had := devicesOf(s.Allocation), devicesOf(old.Allocation)
	s.Devices = slices.DeleteFunc(s.Devices, func(d resourcev1.AllocatedDeviceStatus) bool {
		of := deviceOf(&d)
		return had[of] && !has[of]
	})
	resource.NilIfEmpty(&s.Devices)
}

func claimStatus(f *check.Errors, p *check.Path, c, old *resourcev1.ResourceClaim) {
	s := &c.Status
	validateSet(f, p.Child("reservedFor"), s.ReservedFor, resourcev1.ResourceClaimReservedForMaxSize,
		func(r *resourcev1.ResourceClaimConsumerReference) types.UID { return r.UID },
		func(p *check.Path, r *resourcev1.ResourceClaimConsumerReference) {
			requireText(f, p.Child("resource"), r.Resource)
			requireText(f, p.Child("name"), r.Name)
			requireText(f, p.Child("uid"), string(r.UID))
		})
	has := devicesOf(s.Allocation)
	validateSet(f, p.Child("devices"), s.Devices, -1, deviceOf, func(p *check.Path, d *resourcev1.AllocatedDeviceStatus) {
		deviceStatus(f, p, d)
		if !has[deviceOf(d)] {
			f.Invalid(p, deviceOf(d), "must be an allocated device in the claim")
		}
	})
	if at := p.Child("reservedFor"); len(s.ReservedFor) > 0 && s.Allocation == nil {
		f.Forbidden(at, "may not be specified when `allocated` is not set")
	} else if c.DeletionTimestamp != nil && slices.ContainsFunc(s.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
		return !slices.Contains(old.Status.ReservedFor, r)
	}) {
		f.Forbidden(at, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
	}
	if was := old.Status.Allocation; was != nil && s.Allocation != nil {
		if !apiequality.Semantic.DeepEqual(s.Allocation, was) {
			f.Invalid(p.Child("allocation"), nil, "field cannot be modified once set")
		}
	} else if s.Allocation != nil {
		allocation(f, p.Child("allocation"), s.Allocation, requestsOf(&c.Spec.Devices))
	}
}

func requireText(f *check.Errors, p *check.Path, s string) {
	if s == "" {
		f.Required(p, "")
	}
}

func allocation(f *check.Errors, p *check.Path, a *resourcev1.AllocationResult, names requests) {
	at := p.Child("devices")
	validateList(f, at.Child("results"), a.Devices.Results, resourcev1.AllocationResultsMaxSize, func(p *check.Path, r *resourcev1.DeviceRequestAllocationResult) {
		names.reference(f, p.Child("request"), r.Request)
		driver(f, p.Child("driver"), r.Driver)
		poolName(f, p.Child("pool"), r.Pool)
		f.Label(p.Child("device"), r.Device)
		bindingConditions(f, p, r.BindingConditions, r.BindingFailureConditions)
		for i, t := range r.Tolerations {
			t.Value = "" // only the request's is validated
			toleration(f, p.Child("tolerations").Index(i), &t)
		}
		if r.ShareID != nil {
			shareID(f, p.Child("shareID"), string(*r.ShareID))
		}
	})
	validateList(f, at.Child("config"), a.Devices.Config, 2*resourcev1.DeviceConfigMaxSize, func(p *check.Path, c *resourcev1.DeviceAllocationConfiguration) {
		check.OneOf(f, p.Child("source"), c.Source, resourcev1.AllocationConfigSourceClaim, resourcev1.AllocationConfigSourceClass)
		names.references(f, p.Child("requests"), c.Requests)
		configuration(f, p, &c.DeviceConfiguration)
	})
	if a.NodeSelector != nil {
		podspec.NodeSelector(f, p.Child("nodeSelector"), a.NodeSelector)
	}
}

func deviceStatus(f *check.Errors, p *check.Path, d *resourcev1.AllocatedDeviceStatus) {
	podspec.CSIDriverName(f, p.Child("driver"), d.Driver)
	poolName(f, p.Child("pool"), d.Pool)
	f.Label(p.Child("device"), d.Device)
	if d.ShareID != nil {
		shareID(f, p.Child("shareID"), *d.ShareID)
	}
	if len(d.Conditions) > resourcev1.AllocatedDeviceStatusMaxConditions {
		f.Add(field.TooMany(p.Child("conditions").Field(), len(d.Conditions), resourcev1.AllocatedDeviceStatusMaxConditions))
	}
	f.Add(metavalidation.ValidateConditions(d.Conditions, p.Child("conditions").Field())...)
	if d.Data != nil && len(d.Data.Raw) > 0 {
		jsonObject(f, p.Child("data"), *d.Data, resourcev1.AllocatedDeviceStatusDataMaxLength)
	}
	n := d.NetworkData
	if n == nil {
		return
	}
	p = p.Child("networkData")
	if len(n.InterfaceName) > resourcev1.NetworkDeviceDataInterfaceNameMaxLength {
		f.Add(field.TooLong(p.Child("interfaceName").Field(), "", resourcev1.NetworkDeviceDataInterfaceNameMaxLength))
	}
	if len(n.HardwareAddress) > resourcev1.NetworkDeviceDataHardwareAddressMaxLength {
		f.Add(field.TooLong(p.Child("hardwareAddress").Field(), "", resourcev1.NetworkDeviceDataHardwareAddressMaxLength))
	}
	validateSet(f, p.Child("ips"), n.IPs, resourcev1.NetworkDeviceDataMaxIPs, identity, func(p *check.Path, ip *string) {
		f.Add(validation.IsValidInterfaceAddress(p.Field(), *ip)...)
	})
}
