package storageversion

// ServerLabel is the label of the Leases of API servers in kube-system, and Server is its value, as in kube-apiserver. A report in a
// StorageVersion has the name of such a Lease.
const (
	ServerLabel = "apiserver.kubernetes.io/identity"
	Server      = "kube-apiserver"
)
