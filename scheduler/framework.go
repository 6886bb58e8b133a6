package scheduler

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/config"
	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/plugins"
)

// The plugin API. Plugins of a program implement Filter and Score, and if they need it
// NodeNameFilter or Reserver.
type (
	// A Filter reports whether a pod can run on a node.
	Filter = framework.Filter
	// A FilterFunc checks one node for the pod that Filter.PreFilter has seen.
	FilterFunc = framework.FilterFunc
	// A NodeNameFilter is a Filter that names the only nodes that come into question.
	NodeNameFilter = framework.NodeNameFilter
	// A Reserver is a Filter that reserves something when a pod gets its node.
	Reserver = framework.Reserver
	// A Reservation is the work that a Reserver has left to do for a pod.
	Reservation = framework.Reservation
	// A PreEnqueuer is a Filter that knows of some pods that they cannot be placed yet.
	PreEnqueuer = framework.PreEnqueuer
	// A PostFilter is a Filter that may help a pod that it has rejected.
	PostFilter = framework.PostFilter
	// A Status is the result of a Filter: success, or the reasons for the rejection.
	Status = framework.Status
	// A Score rates the feasible nodes of a pod.
	Score = framework.Score
	// A NodeScorer scores nodes for the pod that Score.PreScore has seen.
	NodeScorer = framework.NodeScorer
	// A ScoreFunc is a NodeScorer whose scores are 0 to 100 already.
	ScoreFunc = framework.ScoreFunc
	// A NormalizedScore is a NodeScorer scaled so that the highest score becomes 100.
	NormalizedScore = framework.NormalizedScore
	// A ReversedScore is a NodeScorer scaled so that the highest score becomes 0.
	ReversedScore = framework.ReversedScore
	// A WeightedScore is a Score and the factor by which it counts.
	WeightedScore = framework.WeightedScore
	// A ClusterEvent is a change in the cluster that may make an unschedulable pod fit.
	ClusterEvent = framework.ClusterEvent
	// An EventKind is a set of kinds of cluster events.
	EventKind = framework.EventKind
	// A FitError explains why no node is feasible for a pod.
	FitError = framework.FitError
	// An Extender is a program that filters and scores nodes, preempts and binds pods over HTTP.
	Extender = extenders.Extender
	// A Profile configures how the pods of one schedulerName are placed.
	Profile = framework.Profile
)

// The kinds of cluster events.
const (
	NodeAdded        = framework.NodeAdded
	NodeChanged      = framework.NodeChanged
	NodeRemoved      = framework.NodeRemoved
	PodAdded         = framework.PodAdded
	PodRemoved       = framework.PodRemoved
	VolumesChanged   = framework.VolumesChanged
	NamespaceChanged = framework.NamespaceChanged

	ResourceClaimChanged = framework.ResourceClaimChanged
	DevicesFreed         = framework.DevicesFreed
	ResourceSliceChanged = framework.ResourceSliceChanged
	DeviceClassChanged   = framework.DeviceClassChanged
)

// The model of the cluster that plugins read.
type (
	// A Cluster holds the nodes and the pods on them.
	Cluster = cache.Cluster
	// A NodeInfo is a node with the pods on it and the sums of their requests.
	NodeInfo = cache.NodeInfo
	// A PodInfo is a pod with its scheduling rules parsed.
	PodInfo = cache.PodInfo
	// Resources is an amount of each resource.
	Resources = cache.Resources
	// Objects looks up the other objects that plugins need. A test of a plugin implements it.
	Objects = cache.Objects
	// A ClaimBinding is the volume chosen for a claim.
	ClaimBinding = cache.ClaimBinding
)

// NewCluster returns a cluster without nodes, for tests of plugins.
func NewCluster(objects Objects) *Cluster { return cache.NewCluster(objects) }

// NewPodInfo parses a pod. It always succeeds; a pod whose rules are malformed fits no node.
func NewPodInfo(pod *corev1.Pod) *PodInfo { return cache.NewPodInfo(pod) }

// Unschedulable is the Status of a node that does not fit while the pods on it stay.
func Unschedulable(reason string) Status { return framework.Unschedulable(reason) }

// Unresolvable is the Status of a node that would not fit even without the pods on it, which
// kube-scheduler calls UnschedulableAndUnresolvable.
func Unresolvable(reason string) Status { return framework.Unresolvable(reason) }

// Failed is the Status of a check that met an error: the attempt to place the pod ends.
func Failed(err error) Status { return framework.Failed(err) }

// IsBuiltIn reports whether kube-scheduler 1.37, and so a configuration, has a plugin of that name.
func IsBuiltIn(name string) bool { return plugins.Points[name] != nil }

// DefaultProfile returns the filters, scores and weights of kube-scheduler's default
// profile. The caller owns the slices.
func DefaultProfile() Profile { return config.DefaultProfile() }
