package podspec

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/internal/resource/check"
)

// iscsiNames are the forms of an iSCSI node's name, by their prefix. They are as lax as kube-apiserver's: objects
// that it has accepted must stay valid.
var iscsiNames = map[string]*regexp.Regexp{
	"iqn": regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": regexp.MustCompile(`^eui.[[:alnum:]]{16}$`),
	"naa": regexp.MustCompile(`^naa.[[:alnum:]]{32}$`),
}

// ISCSI reports the errors of a pod's iSCSI disk.
func ISCSI(f *check.Errors, p *check.Path, s *corev1.ISCSIVolumeSource) {
	const unknown = "must be valid format starting with iqn, eui, or naa"
	iscsiTarget(f, p, s.TargetPortal, s.IQN, unknown, s.Lun)
	if (s.DiscoveryCHAPAuth || s.SessionCHAPAuth) && s.SecretRef == nil {
		f.Required(p.Child("secretRef"), "")
	}
	if s.InitiatorName != nil {
		iscsiName(f, p.Child("initiatorname"), *s.InitiatorName, unknown)
	}
}

// PersistentISCSI reports the errors of the iSCSI disk of the persistent volume of that name.
func PersistentISCSI(f *check.Errors, p *check.Path, s *corev1.ISCSIPersistentVolumeSource, volume string) {
	const unknown = "must be valid format"
	iscsiTarget(f, p, s.TargetPortal, s.IQN, unknown, s.Lun)
	if s.InitiatorName != nil && len(volume)+1+len(s.TargetPortal) > 64 {
		f.Invalid(p.Child("targetportal"), s.TargetPortal,
			"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
	}
	if s.SecretRef != nil {
		if s.SecretRef.Name == "" {
			f.Required(p.Child("secretRef", "name"), "")
		}
	} else if s.DiscoveryCHAPAuth || s.SessionCHAPAuth {
		f.Required(p.Child("secretRef"), "")
	}
	if s.InitiatorName != nil {
		iscsiName(f, p.Child("initiatorname"), *s.InitiatorName, unknown)
	}
}

func iscsiTarget(f *check.Errors, p *check.Path, portal, iqn, unknown string, lun int32) {
	if portal == "" {
		f.Required(p.Child("targetPortal"), "")
	}
	if iqn == "" {
		f.Required(p.Child("iqn"), "")
	} else {
		iscsiName(f, p.Child("iqn"), iqn, unknown)
	}
	if lun < 0 || lun > 255 {
		f.Invalid(p.Child("lun"), lun, validation.InclusiveRangeError(0, 255))
	}
}

func iscsiName(f *check.Errors, p *check.Path, name, unknown string) {
	form := iscsiNames[name[:min(3, len(name))]]
	if form == nil {
		f.Invalid(p, name, unknown)
	} else if !form.MatchString(name) {
		f.Invalid(p, name, "must be valid format")
	}
}
