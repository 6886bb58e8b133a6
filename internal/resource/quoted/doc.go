// Package quoted formats values as kube-apiserver quotes them in validation errors.
//
// Validation there sees internal types without JSON tags: a structure is quoted with the names of its Go fields,
// each of them, and null for unset ones. A few internal types have their fields in another order than the versioned
// types, or in other places; [orders] lists them. Parts of apimachinery's types, label selectors and metadata, are
// quoted with their JSON names.
//
//	field.Invalid(p, policyv1.PodDisruptionBudgetSpec{...}, "...")
//	-> Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{...}},"MaxUnavailable":1,...}
//
// kube-apiserver 1.37 still validates internal types, so its clients see these names, and a difference that a client can
// notice is a defect. The recorded answers that fix the format are of kube-apiserver 1.36: newer fields are quoted if they
// are set.
package quoted
