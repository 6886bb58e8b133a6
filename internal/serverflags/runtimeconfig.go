package serverflags

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/resource/gates"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// apiClasses are the keys of --runtime-config that stand for all versions of one stability.
var apiClasses = map[string]*regexp.Regexp{
	"api/ga":    regexp.MustCompile(`^v[0-9]+$`),
	"api/beta":  regexp.MustCompile(`^v[0-9]+beta[0-9]+$`),
	"api/alpha": regexp.MustCompile(`^v[0-9]+alpha[0-9]+$`),
	"api/all":   regexp.MustCompile(`^v[0-9]+`),
}

// disabledAPIs returns the versions that --runtime-config disables. A version in the configuration takes precedence over its
// class, and a class over api/all.
func disabledAPIs(config map[string]string, api gates.API) (disabled []schema.GroupVersion, err error) {
	served := map[schema.GroupVersion]bool{} // whether it can be disabled alone
	for _, row := range builtin.Of(api) {
		for _, v := range row.Versions {
			gv := schema.GroupVersion{Group: row.Group, Version: v.Name}
			alone, known := served[gv]
			served[gv] = (!known || alone) && (len(row.Versions) == 1 || v.Name != row.StorageVersion)
		}
	}
	on := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		text := config[key]
		_, class := apiClasses[key]
		if text == "" && !class {
			text = "true"
		}
		if on[key], err = strconv.ParseBool(text); err != nil {
			return nil, fmt.Errorf("--runtime-config: invalid value of %s=%s", key, text)
		}
		if class {
			continue
		}
		if onRequest(key) {
			continue
		}
		gv, err := schema.ParseGroupVersion(strings.TrimPrefix(key, "api/"))
		if err != nil || strings.Count(key, "/") > 1 {
			return nil, fmt.Errorf("--runtime-config: %q is not a group and version", key)
		}
		if _, ok := served[gv]; !ok && on[key] {
			return nil, fmt.Errorf("--runtime-config: Fairlead does not serve %s", gv)
		}
	}
	for _, gv := range slices.SortedFunc(maps.Keys(served), func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) }) {
		if enabled(gv, on, true) || onRequest(gv.String()) {
			continue
		}
		if needed(gv.Group) {
			return nil, fmt.Errorf("--runtime-config: %s cannot be disabled: the server itself uses it", gv)
		}
		if !served[gv] {
			return nil, fmt.Errorf("--runtime-config: %s cannot be disabled while other versions of its resources are served: objects are stored in it", gv)
		}
		disabled = append(disabled, gv)
	}
	return disabled, nil
}

// laterAPIs returns the versions that --runtime-config enables by name and of which the API lacks kinds that came later.
// Without forward a version of which it lacks all kinds is an error.
func laterAPIs(config map[string]string, api gates.API, forward bool) (later []schema.GroupVersion, err error) {
	has := map[schema.GroupVersion]bool{}
	for _, row := range builtin.Of(api) {
		for _, v := range row.Versions {
			has[schema.GroupVersion{Group: row.Group, Version: v.Name}] = true
		}
	}
	for _, row := range builtin.Resources() {
		for _, v := range row.Versions {
			gv := schema.GroupVersion{Group: row.Group, Version: v.Name}
			text, named := config[gv.String()]
			on, err := strconv.ParseBool(cmp.Or(text, "true"))
			if !named || err != nil || !on || slices.Contains(later, gv) {
				continue
			}
			if !has[gv] && !forward {
				return nil, fmt.Errorf("cannot enable version %s in runtime-config because all the resources have been introduced after the current version %s. Consider setting --runtime-config-emulation-forward-compatible=true", gv, api.Version.EmulationVersion())
			}
			if forward {
				later = append(later, gv)
			}
		}
	}
	return later, nil
}

// enabled reports whether the configuration enables a version; standard is whether it is enabled without one.
func enabled(gv schema.GroupVersion, on map[string]bool, standard bool) bool {
	if v, ok := on[gv.String()]; ok {
		return v
	}
	for _, class := range []string{"api/ga", "api/beta", "api/alpha", "api/all"} {
		if v, ok := on[class]; ok && apiClasses[class].MatchString(gv.Version) {
			return v
		}
	}
	return standard
}

// needed reports whether the server reads objects of the group by itself.
func needed(group string) bool {
	switch group {
	case "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "rbac.authorization.k8s.io", "networking.k8s.io":
		return true
	}
	return false
}

// oneOf lists names for a message.
func oneOf(names []string) string {
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
