package framework

// SharedEtcd returns no store: each server has its own.
func SharedEtcd() any { return nil }

// DefaultTestServerFlags returns the flags of kube-apiserver for tests.
func DefaultTestServerFlags() []string {
	return []string{"--disable-admission-plugins=ServiceAccount"}
}
