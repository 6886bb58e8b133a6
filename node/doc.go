// Package node simulates kubelets: as many nodes as wanted in one process, each of which
// registers itself, keeps its lease and its status fresh, watches the pods bound to it and
// brings them to Running and Ready, or to their end, without running anything.
//
//	nodes := node.New(env, node.Options{Count: 100})
//	err := nodes.Run(ctx)
//
// # Registration and heartbeats
//
// It creates its Node, or takes over the one of its name that exists and keeps its labels, taints and cordon. A Node
// that a real kubelet has registered is left to that kubelet: the node is not simulated then. It renews the Lease of
// its name in kube-node-lease every ten seconds, and reports its conditions every five minutes. When its Node has been
// deleted it ends with its last pod, and begins again when a Node of its name is created with the annotation
// fairlead.dev/simulated: "true" or kwok.x-k8s.io/node: fake. With Options.Adopt any Node with one of these is simulated.
//
// # Lifecycle of a pod
//
// The state of a pod is in the Pod object only, so a restarted process continues where the last one
// was, and starts no container twice. A pod starts Options.StartAfter after it was bound: its
// init containers are done, its containers run and are ready, it has an address of the node's
// range (or the node's own with hostNetwork). A pod with restartPolicy Always runs until it is
// deleted. A pod with restartPolicy Never or OnFailure and no commands runs for Options.RunFor, then its
// containers exit with code 0 and the pod has Succeeded. Containers with commands that are not understood run until the pod is
// deleted (see CommandsUnderstood). When a pod is deleted its containers end (at once, unless an annotation delays
// it), the last status is written, and the pod is removed. docs/nodes.md has a state diagram.
//
// Annotations of the pod change that:
//
//	fairlead.dev/start-after: 3s       ContainerCreating for that long
//	fairlead.dev/run-for: 5s           how long the containers run; "forever" for no end
//	fairlead.dev/exit-code: "1"        how they end; not 0: the pod fails, or, if its
//	                                   restartPolicy demands it, restarts with back-off
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
// A pod with an image that has the word fail in its name (fail, crash-and-fail) fails
// as with exit-code 1, or with the image's tag as the code (fail:3). An image of which a part
// of the name, or the tag, is nonexistent, non-existent, does-not-exist or 404 cannot be pulled
// (nginx:does-not-exist): its container waits with ErrImagePull, then ImagePullBackOff, until the
// pod names another.
//
// Stages in Options.Definitions express more than annotations can: see the package internal/node/stage, and
// docs/nodes.md for how the two combine. A Node with fairlead.dev/outage: "true" is in an outage: no
// lease, no status and no answer until the annotation is removed.
//
// Probes pass at the first attempt at which a kubelet could know it. Annotations declare other outcomes for the containers
// that have the probe, with its delay, period and thresholds:
//
//	fairlead.dev/startup-probe: pass-after=20s     pass, fail, pass-after, fail-after,
//	fairlead.dev/readiness-probe: fail-after=1m    since the start of the container;
//	fairlead.dev/liveness-probe: warn              warn: an HTTP probe passes with a warning
//
// Each attempt that fails or warns is an event, and all are counted at /metrics/probes.
//
// As a kubelet does, a node fails a pod that does not fit beside the admitted ones, whose host ports are in
// use, or whose affinity or tolerations do not match; it defers a resize for the same reasons. If only resources are
// missing for a critical pod, the node preempts others.
//
// A pod waits for the config maps, secrets and trust bundles of its volumes and its containers' environments, for its
// claims and for CSI drivers, as the package internal/node/dependencies defines it; a restart reads the
// environment again. The contents of volumes are not simulated, nor are limits on CPU. The package
// internal/node/kubelet answers logs, exec, attach and port-forward.
//
// # Pressure, shutdown and hardware
//
// Annotations of a Node configure its kubelet (KubeletConfigAnnotation), declare its hardware (MachineAnnotation) and the usage
// beside its pods (SystemUsageAnnotation), and shut it down (ShutdownAnnotation). A node on which usage is declared looks at it
// every ten seconds, sets its conditions and ends pods as the package internal/node/eviction decides; the limit of a container's
// memory ends it. The package internal/node/numa allocates CPUs, memory and devices. docs/nodes.md has the details.
//
// # Concurrency
//
//  1. Each node is one goroutine, which reads the watch of its pods. It never writes after
//     it has registered, so a slow write delays no event.
//  2. PodWorkers goroutines, which all nodes share, write pods, through one queue that
//     never gives a pod to two of them; its one timer also serves the delays of pods.
//     Leases and status reports go the same way, through a queue of their own, with more
//     goroutines while many nodes wait.
//  3. The worker that holds a pod asks its lifecycle (internal/node/lifecycle) for the next
//     step and carries it out; no other goroutine writes the pod. A status is written on top
//     of the version from which it was made. If that version is outdated, the write is
//     refused, and repeated from the event with the newer one. The kubelet API is never
//     behind a change that others have seen.
//  4. One watch of all Nodes passes each to its kubelet.
//  5. One goroutine for each node watches a config map, secret or claim that pods of that
//     node use, by its name, from the first of those pods to the last (a claim: until they have
//     started). Without such pods there is no watch.
//  6. An informer follows each of Options.Kinds; Run begins with their present objects.
package node
