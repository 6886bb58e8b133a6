package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

func (v *validator) env(p *check.Path, vars []corev1.EnvVar) {
	for i := range vars {
		e, at := &vars[i], p.Index(i)
		if e.Name == "" {
			v.Required(at.Child("name"), "")
		} else {
			v.Each(at.Child("name"), e.Name, validation.IsRelaxedEnvVarName(e.Name))
		}
		if e.ValueFrom != nil {
			v.valueFrom(at.Child("valueFrom"), e)
		}
	}
}

var envFields = []string{
	"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
	"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
}

func (v *validator) valueFrom(p *check.Path, e *corev1.EnvVar) {
	from, n := e.ValueFrom, 0
	if r := from.FieldRef; r != nil {
		n++
		fieldRef(v.Errors, p.Child("fieldRef"), r, envFields)
	}
	if r := from.ResourceFieldRef; r != nil {
		n++
		resourceFieldRef(v.Errors, p.Child("resourceFieldRef"), r, false)
	}
	if r := from.ConfigMapKeyRef; r != nil {
		n++
		v.keyRef(p.Child("configMapKeyRef"), r.Name, r.Key)
	}
	if r := from.SecretKeyRef; r != nil {
		n++
		v.keyRef(p.Child("secretKeyRef"), r.Name, r.Key)
	}
	if r := from.FileKeyRef; r != nil {
		n++
		v.fileKeyRef(p.Child("fileKeyRef"), r)
	}
	switch {
	case n == 0:
		v.Invalid(p, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case e.Value != "":
		v.Invalid(p, "", "may not be specified when `value` is not empty")
	case n > 1:
		v.Invalid(p, "", "may not have more than one field specified at a time")
	}
}

func (v *validator) keyRef(p *check.Path, name, key string) {
	v.Subdomain(p.Child("name"), name)
	if key == "" {
		v.Required(p.Child("key"), "")
	} else {
		v.Each(p.Child("key"), key, validation.IsConfigMapKey(key))
	}
}

func (v *validator) fileKeyRef(p *check.Path, r *corev1.FileKeySelector) {
	if r.Key == "" {
		v.Required(p.Child("key"), "")
	} else {
		v.Each(p.Child("key"), r.Key, validation.IsRelaxedEnvVarName(r.Key))
	}
	if r.Path == "" {
		v.Required(p.Child("path"), "")
	} else {
		v.NoBacksteps(p.Child("path"), r.Path)
	}
	at := p.Child("volumeName")
	if r.VolumeName == "" {
		v.Required(at, "")
		return
	}
	v.Label(at, r.VolumeName)
}

// fileKeyVolumes requires the volumes of fileKeyRefs to exist and to be emptyDirs.
func (v *validator) fileKeyVolumes(p *check.Path) {
	dirs := map[string]bool{}
	for i := range v.spec.Volumes {
		dirs[v.spec.Volumes[i].Name] = v.spec.Volumes[i].EmptyDir != nil
	}
	for n := range v.count() {
		c, list, i := v.nth(n)
		p := p.Child(list).Index(i)
		for i, e := range c.Env {
			if e.ValueFrom == nil || e.ValueFrom.FileKeyRef == nil {
				continue
			}
			name := e.ValueFrom.FileKeyRef.VolumeName
			at := p.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			if isDir, ok := dirs[name]; !ok {
				v.NotFound(at, name)
			} else if !isDir {
				v.Invalid(at, name, "referenced volume must be of type emptyDir")
			}
		}
	}
}

func (v *validator) envFrom(p *check.Path, from []corev1.EnvFromSource) {
	for i := range from {
		e, at, n := &from[i], p.Index(i), 0
		if e.Prefix != "" {
			v.Each(at.Child("prefix"), e.Prefix, validation.IsRelaxedEnvVarName(e.Prefix))
		}
		ref := func(p *check.Path, name string) {
			n++
			if name == "" {
				v.Required(p.Child("name"), "")
			} else {
				v.Subdomain(p.Child("name"), name)
			}
		}
		if e.ConfigMapRef != nil {
			ref(at.Child("configMapRef"), e.ConfigMapRef.Name)
		}
		if e.SecretRef != nil {
			ref(at.Child("secretRef"), e.SecretRef.Name)
		}
		if n == 0 {
			v.Invalid(p, "", "must specify one of: `configMapRef` or `secretRef`")
		} else if n > 1 {
			v.Invalid(p, "", "may not have more than one field specified at a time")
		}
	}
}

// knownFields are the pod's fields with a name in the downward API; not all of them are supported everywhere.
var knownFields = []string{
	"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
	"spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName",
	"status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
}

// fieldRef requires a reference to one of the given fields, or to a single label or annotation.
func fieldRef(f *check.Errors, p *check.Path, r *corev1.ObjectFieldSelector, given []string) {
	if r.APIVersion == "" {
		f.Required(p.Child("apiVersion"), "")
		return
	}
	if r.FieldPath == "" {
		f.Required(p.Child("fieldPath"), "")
		return
	}
	at := p.Child("fieldPath")
	if r.APIVersion != "v1" {
		f.Invalid(at, r.FieldPath, "error converting fieldPath: unsupported pod version: "+r.APIVersion)
		return
	}
	name, key, subscripted := subscript(r.FieldPath)
	switch {
	case subscripted && name == "metadata.annotations":
		f.Qualified(p, strings.ToLower(key))
	case subscripted && name == "metadata.labels":
		f.Qualified(p, key)
	case subscripted:
		f.Invalid(at, r.FieldPath, "error converting fieldPath: field label does not support subscript: "+r.FieldPath)
	case name == "spec.host":
		// an old name for spec.nodeName
	case !slices.Contains(knownFields, name):
		f.Invalid(at, r.FieldPath, "error converting fieldPath: field label not supported: "+r.FieldPath)
	case !slices.Contains(given, name):
		f.Add(field.NotSupported(at.Field(), name, given))
	}
}

// subscript splits "metadata.labels['a']".
func subscript(path string) (name, key string, ok bool) {
	if rest, found := strings.CutSuffix(path, "']"); found {
		if name, key, found = strings.Cut(rest, "['"); found && name != "" {
			return name, key, true
		}
	}
	return path, "", false
}

var resourceFields = []string{
	"limits.cpu", "limits.ephemeral-storage", "limits.memory",
	"requests.cpu", "requests.ephemeral-storage", "requests.memory",
}

func resourceFieldRef(f *check.Errors, p *check.Path, r *corev1.ResourceFieldSelector, inVolume bool) {
	huge := strings.HasPrefix(r.Resource, "requests.hugepages-") || strings.HasPrefix(r.Resource, "limits.hugepages-")
	switch {
	case inVolume && r.ContainerName == "":
		f.Required(p.Child("containerName"), "")
	case r.Resource == "":
		f.Required(p.Child("resource"), "")
	case !huge && !slices.Contains(resourceFields, r.Resource):
		f.Add(field.NotSupported(p.Child("resource").Field(), r.Resource, resourceFields))
	}
	if r.Divisor.IsZero() {
		return
	}
	divisor := r.Divisor.String()
	wrong := func(what string) {
		f.Invalid(p.Child("divisor"), r.Resource, fmt.Sprintf("only divisor's values %s resource", what))
	}
	const bytes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
	isBytes := slices.Contains(strings.Split(bytes, ", "), divisor)
	switch _, name, _ := strings.Cut(r.Resource, "."); {
	case name == "cpu" && divisor != "1m" && divisor != "1":
		wrong("1m and 1 are supported with the cpu")
	case name == "memory" && !isBytes:
		wrong(bytes + " are supported with the memory")
	case name == "ephemeral-storage" && !isBytes:
		wrong(bytes + " are supported with the local ephemeral storage")
	case huge && !isBytes:
		wrong(bytes + " are supported with the hugepages")
	}
}
