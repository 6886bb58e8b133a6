package dynamicresources

import "fairlead.dev/internal/resource"

// Version v1beta1 has the fields of a request's exactly in the request itself, and most fields of a device in its basic.

// exactFields are the fields of a request that v1 has in exactly.
var exactFields = []string{"deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity", "derivedAttributes"}

func claimRequests(object map[string]any) []any { return list(object, "spec", "devices", "requests") }

func templateRequests(object map[string]any) []any {
	return list(object, "spec", "spec", "devices", "requests")
}

// exactly moves the fields of requests into exactly.
func exactly(requests func(map[string]any) []any) resource.Move {
	return func(object map[string]any) {
		for _, r := range requests(object) {
			request, ok := r.(map[string]any)
			if !ok {
				continue
			}
			delete(request, "exactly")
			exact := take(request, exactFields)
			if exact["deviceClassName"] == "" {
				delete(exact, "deviceClassName")
			}
			if len(exact) > 0 || request["firstAvailable"] == nil { // which has defaults
				request["exactly"] = exact
			}
		}
	}
}

// flatten is the reverse of exactly.
func flatten(requests func(map[string]any) []any) resource.Move {
	return func(object map[string]any) {
		for _, r := range requests(object) {
			if request, ok := r.(map[string]any); ok {
				spread(request, "exactly")
			}
		}
	}
}

// withoutBasic moves the fields of basic into the devices.
func withoutBasic(object map[string]any) {
	for _, d := range list(object, "spec", "devices") {
		if device, ok := d.(map[string]any); ok {
			spread(device, "basic")
		}
	}
}

// withBasic is the reverse of withoutBasic.
func withBasic(object map[string]any) {
	for _, d := range list(object, "spec", "devices") {
		device, ok := d.(map[string]any)
		if !ok {
			continue
		}
		basic := map[string]any{}
		for field, value := range device {
			if field != "name" {
				basic[field] = value
				delete(device, field)
			}
		}
		device["basic"] = basic
	}
}

// list returns the list at a path, or nil.
func list(object map[string]any, path ...string) []any {
	for _, field := range path[:len(path)-1] {
		object, _ = object[field].(map[string]any)
	}
	found, _ := object[path[len(path)-1]].([]any)
	return found
}

// take removes fields from an object and returns them.
func take(object map[string]any, fields []string) map[string]any {
	taken := map[string]any{}
	for _, field := range fields {
		if value, ok := object[field]; ok {
			taken[field] = value
			delete(object, field)
		}
	}
	return taken
}

// spread moves the members of an object's member into the object itself.
func spread(object map[string]any, member string) {
	inner, _ := object[member].(map[string]any)
	delete(object, member)
	for field, value := range inner {
		object[field] = value
	}
}
