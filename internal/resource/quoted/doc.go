// Package quoted writes values the way kube-apiserver quotes them in the messages
// of its faults.
//
// Rules there look at internal types, which have no names for JSON: what is quoted
// whole has the names of Go's fields, each of them, and null for what is not set.
// A few types have their fields in another order than the types that clients know,
// or in other places; [orders] lists them. Parts that are of apimachinery's types,
// label selectors and metadata, have the names that clients know.
//
//	field.Invalid(p, policyv1.PodDisruptionBudgetSpec{...}, "...")
//	-> Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{...}},"MaxUnavailable":1,...}
//
// The form is that of kube-apiserver 1.36. Fields that are newer are quoted where
// they are set.
package quoted
