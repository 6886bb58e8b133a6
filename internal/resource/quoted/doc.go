// Package quoted formats values as kube-apiserver quotes them in validation errors.
//
// Validation there sees internal types without JSON tags: a structure is quoted with the names of its Go fields,
// each of them, and null for unset ones. A few internal types lack fields of the versioned types, or have them in another
// order; [orders] and [elsewhere] list them, as they are in Kubernetes 1.37. Parts of apimachinery's types, label selectors
// and metadata, are quoted with their JSON names.
//
//	field.Invalid(p, policyv1.PodDisruptionBudgetSpec{...}, "...")
//	-> Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{...}},"MaxUnavailable":1,...}
//
// kube-apiserver 1.37 still validates internal types, so its clients see these names, and a difference that a client can
// notice is a defect.
package quoted
