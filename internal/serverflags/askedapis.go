package serverflags

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/resource/gates"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// onRequest reports whether a key of --runtime-config names a version, or a resource in one, that is served on request only.
func onRequest(key string) bool {
	for _, row := range builtin.All() {
		for _, v := range row.Versions {
			if gvr := row.GVR(v.Name); v.OnRequest && (key == gvr.GroupVersion().String() || key == keyOf(gvr)) {
				return true
			}
		}
	}
	return false
}

// keyOf returns the key of a resource in --runtime-config.
func keyOf(gvr schema.GroupVersionResource) string {
	return strings.Join([]string{gvr.Group, gvr.Version, gvr.Resource}, "/")
}

// askedAPIs returns the resources that --runtime-config enables although their versions are not enabled by default. A
// resource in the configuration takes precedence over its version. To enable by name what the API does not have is an error,
// and so is a version of a resource without the one that is stored; a class leaves those out.
func askedAPIs(config map[string]string, api gates.API) (asked []schema.GroupVersionResource, err error) {
	on := map[string]bool{}
	for key, text := range config {
		if on[key], err = strconv.ParseBool(cmp.Or(text, "true")); err != nil {
			return nil, fmt.Errorf("--runtime-config: invalid value of %s=%s", key, text)
		}
	}
	had := map[string]bool{} // by keys that are on
	for _, row := range builtin.All() {
		for _, v := range row.Versions {
			gvr := row.GVR(v.Name)
			gv := gvr.GroupVersion()
			is, named := on[keyOf(gvr)]
			if !v.OnRequest || !named && !enabled(gv, on, false) || named && !is {
				continue
			}
			has := api.Has(gv, v.New()) && api.Has(schema.GroupVersion{Group: row.Group, Version: row.StorageVersion}, row.Versions[0].New())
			had[gv.String()] = had[gv.String()] || has
			had[keyOf(gvr)] = had[keyOf(gvr)] || has
			if has {
				asked = append(asked, gvr)
			}
		}
	}
	for _, row := range builtin.All() {
		stored := row.Version(row.StorageVersion)
		if stored == nil || !stored.OnRequest || slices.Contains(asked, row.GVR(stored.Name)) {
			continue
		}
		for _, gvr := range asked {
			if gvr.GroupResource() == row.GroupResource() && (on[keyOf(gvr)] || on[gvr.GroupVersion().String()]) {
				return nil, fmt.Errorf("--runtime-config: %s needs %s, in which the objects are stored", keyOf(gvr), keyOf(row.GVR(stored.Name)))
			}
		}
		asked = slices.DeleteFunc(asked, func(gvr schema.GroupVersionResource) bool { return gvr.GroupResource() == row.GroupResource() })
	}
	for key, has := range had {
		if on[key] && !has {
			return nil, fmt.Errorf("--runtime-config: Fairlead does not serve %s", key)
		}
	}
	return asked, nil
}
