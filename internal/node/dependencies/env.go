package dependencies

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Env returns the environment of a container with the values from config maps, secrets, fields of the pod and
// resources, in the order of the spec. A missing limit counts as the node's allocatable amount. The error is the
// configuration error of the container.
func Env(pod *corev1.Pod, c *corev1.Container, find Find, allocatable corev1.ResourceList) (env []corev1.EnvVar, err error) {
	set := func(name, value string) {
		env = slices.DeleteFunc(env, func(e corev1.EnvVar) bool { return e.Name == name })
		env = append(env, corev1.EnvVar{Name: name, Value: value})
	}
	for i := range c.EnvFrom {
		from := &c.EnvFrom[i]
		var all values
		switch {
		case from.ConfigMapRef != nil:
			all, err = valuesOf(find, Key{ConfigMap, pod.Namespace, from.ConfigMapRef.Name}, from.ConfigMapRef.Optional)
		case from.SecretRef != nil:
			all, err = valuesOf(find, Key{Secret, pod.Namespace, from.SecretRef.Name}, from.SecretRef.Optional)
		}
		if err != nil {
			return nil, err
		}
		for _, key := range all.keys() {
			value, _ := all.value(key)
			set(from.Prefix+key, value)
		}
	}
	for i := range c.Env {
		e := &c.Env[i]
		from := e.ValueFrom
		var key Key
		var name string
		var optional *bool
		switch {
		case e.Value != "" || from == nil:
			set(e.Name, Expand(e.Value, env))
			continue
		case from.ConfigMapKeyRef != nil:
			r := from.ConfigMapKeyRef
			key, name, optional = Key{ConfigMap, pod.Namespace, r.Name}, r.Key, r.Optional
		case from.SecretKeyRef != nil:
			r := from.SecretKeyRef
			key, name, optional = Key{Secret, pod.Namespace, r.Name}, r.Key, r.Optional
		default:
			value, ok := "", false
			if from.FieldRef != nil {
				value, ok = fieldValue(pod, from.FieldRef.FieldPath)
			} else if from.ResourceFieldRef != nil {
				if value, err = resourceValue(pod, c, from.ResourceFieldRef, allocatable); err != nil {
					return nil, err
				}
				ok = true
			}
			if ok {
				set(e.Name, value)
			}
			continue
		}
		all, err := valuesOf(find, key, optional)
		if err != nil {
			return nil, err
		}
		if value, ok := all.value(name); ok {
			set(e.Name, value)
		} else if !isTrue(optional) {
			kind := map[Kind]string{ConfigMap: "ConfigMap", Secret: "Secret"}[key.Kind]
			return nil, fmt.Errorf("couldn't find key %v in %s %v/%v", name, kind, key.Namespace, key.Name)
		}
	}
	return env, nil
}

// values are the entries of a config map or a secret.
type values struct {
	plain          map[string]string
	secret, binary map[string][]byte
}

// valuesOf returns the entries of an object. A missing optional object is empty.
func valuesOf(find Find, key Key, optional *bool) (v values, err error) {
	obj, err := find(key)
	if missing := (NotFound{}); errors.As(err, &missing) && isTrue(optional) {
		return v, nil
	}
	switch o := obj.(type) {
	case *corev1.ConfigMap:
		v.plain, v.binary = o.Data, o.BinaryData
	case *corev1.Secret:
		v.secret = o.Data
	}
	return v, err
}

// value returns an entry for an environment; binary ones do not qualify.
func (v values) value(key string) (string, bool) {
	if s, ok := v.plain[key]; ok {
		return s, true
	}
	b, ok := v.secret[key]
	return string(b), ok
}

func (v values) keys() []string {
	if v.secret != nil {
		return slices.Sorted(maps.Keys(v.secret))
	}
	return slices.Sorted(maps.Keys(v.plain))
}

func (v values) has(key string) bool {
	_, ok := v.value(key)
	if !ok {
		_, ok = v.binary[key]
	}
	return ok
}
