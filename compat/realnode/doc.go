// Package realnode makes a cluster of real nodes on one Linux machine, and removes it again:
// a control plane (`fairlead up`) and nodes with upstream's kubelet and kube-proxy, containerd,
// runc and CNI plugins, and CoreDNS in pods. It needs root and some Debian packages, but no
// image registry and no Docker: it builds the programs from their Go modules and the images
// from those programs and a small Debian.
//
//	go run ./realnode/cmd/realnode up        # two nodes; KUBECONFIG is printed
//	go run ./realnode/cmd/realnode exec n1 ctr -n k8s.io tasks list
//	go run ./realnode/cmd/realnode down
//
// # Where programs run
//
// A Machine is a set of namespaces (mounts, network, processes, IPC, host name) that one
// process holds, its init. "server" has the control plane, an image registry and the bridge
// that joins the machines; "n1", "n2" and so on are the nodes. "s1" and so on are spare: they
// have a container runtime and have not joined. A machine's root is a folder of the cluster's
// folder, into which the host's /usr is mounted read-only, so what it writes stays there.
//
// # The host is left alone
//
// Mounts, links, addresses, routes and sysctls are made inside the machines' namespaces and end
// with them. Outside are only the cluster's folder, its processes, and one cgroup, which holds
// all of these processes. Down kills the processes in the cgroup, and so works after any crash. The
// sysctls that a kubelet sets and that have no namespace are covered by files of the machine.
package realnode
