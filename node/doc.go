// Package node simulates kubelets: as many nodes as wanted in one process, each of which
// registers itself, keeps its lease and its status fresh, watches the pods bound to it and
// brings them to Running and Ready, or to their end, without running anything.
//
//	nodes := node.New(env, node.Options{Count: 100})
//	err := nodes.Run(ctx)
//
// # What a node does
//
// It creates its Node (or takes over the one of its name that exists, keeping labels,
// taints and cordon as they are), renews the Lease of its name in kube-node-lease every ten
// seconds, and reports its conditions every five minutes. When its Node has been deleted
// it retires, as a kubelet does, until the next start.
//
// # What becomes of a pod
//
// Everything is read off the Pod itself, so a restarted process goes on where the last one
// was, without starting anything twice. A pod starts Options.StartAfter after it was bound: its
// init containers are done, its containers run and are ready, it has an address of the node's
// range (or the node's own with hostNetwork). A pod with restartPolicy Always runs until it is
// deleted. A pod with restartPolicy Never or OnFailure that is nothing but images runs for Options.RunFor, then its
// containers exit with code 0 and the pod has Succeeded; containers with commands that are not understood run until it is
// deleted (see CommandsUnderstood). When a pod is deleted its
// containers end (at once, unless told otherwise), the last status is written, and the pod
// is removed.
//
// Annotations of the pod play something else:
//
//	fairlead.dev/start-after: 3s       ContainerCreating for that long
//	fairlead.dev/run-for: 5s           how long the containers run; "forever" for no end
//	fairlead.dev/exit-code: "1"        how they end; not 0: the pod fails, or, if its
//	                                   restartPolicy says so, starts again with back-off
//	fairlead.dev/not-ready: "true"     runs, but is not ready
//	fairlead.dev/terminate-after: 2s   how long it takes to end when deleted, within its
//	                                   grace period
//
// Without annotations a container whose command the package internal/node/shell wholly
// understands runs as long as that takes and ends as it does: sleep 300, false,
// sh -c "sleep $DELAY; exit 3", sh -c "while true; do echo x; sleep 5; done". So do init containers, which otherwise are done at once, and
// ephemeral containers, which otherwise run as long as their pod.
//
// Annotations may be changed while the pod runs. A pod with run-for and restartPolicy Always
// crashes and restarts, over and over. An annotation that cannot be read is ignored.
//
// A pod whose image asks for it, by the word fail in its name (fail, crash-and-fail), fails
// as with exit-code 1, or with the code that is the image's tag (fail:3). An image of which a part
// of the name, or the tag, is nonexistent, non-existent, does-not-exist or 404 cannot be pulled
// (nginx:does-not-exist): its container waits with ErrImagePull, then ImagePullBackOff, until the
// pod names another.
//
// Stages in Options.Definitions play what annotations cannot: see the package stage and
// docs/nodes.md for how the two go together. A Node with fairlead.dev/outage: "true" goes dark: no
// lease, no status, no answer, until the annotation goes.
//
// Probes pass when a kubelet could first know it, unless the pod says how they turn out; then they take their time, delays,
// periods and thresholds, and do what they do, for the containers that have them:
//
//	fairlead.dev/startup-probe: pass-after=20s     pass, fail, pass-after, fail-after,
//	fairlead.dev/readiness-probe: fail-after=1m    since the start of the container
//	fairlead.dev/liveness-probe: fail
//
// A node fails a pod, as a kubelet does, for which it has no room beside the others that it has taken, whose
// host ports are not free, or whose affinity or tolerations do not suit it; so it puts off a resize. For a critical pod
// that lacks nothing but room it ends others.
//
// A pod waits for what its volumes are filled with and its containers' environments are made of,
// config maps, secrets and trust bundles, for its claims and for CSI drivers, as the package needs says; a restart looks at the
// environment again. What is in volumes and what limits allow is not simulated. Logs, exec, attach and
// port-forward are answered by the package kubelet.
//
// # Concurrency
//
//  1. Each node is one goroutine, which reads the watch of its pods. It never writes after
//     it has registered, so a slow write delays no event.
//  2. Pods are written by PodWorkers goroutines that all nodes share, through one queue that
//     never hands a pod to two of them; its one timer also waits for what pods do later.
//     Leases and heartbeats go the same way, through a queue of their own.
//  3. A status is written on top of the version it was made from. When that has been
//     overtaken the write is refused and made again from the event that brings the newer.
//     What the kubelet API tells is never behind a status that others have seen.
//  4. One watch of all Nodes tells each what its Node looks like.
//  5. A config map, secret or claim that pods of a node use is watched by one goroutine for that
//     node, by its name, from the first of those pods to the last (a claim: until they have
//     started). A pod that uses none costs none.
//  6. Options.Kinds are followed by an informer each; Run begins with what they define.
package node
