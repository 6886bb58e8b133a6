package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/placement"
	st "fairlead.dev/internal/scheduler/schedulertest"
)

const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// describe lists the plugins of a profile: filters, then scores with their weights.
func describe(p framework.Profile) string {
	var names []string
	for _, f := range p.Filters[2:] { // the first two are ours
		names = append(names, f.Name())
	}
	names = append(names, "|")
	for _, s := range p.Scores {
		names = append(names, fmt.Sprintf("%s=%d", s.Name(), s.Weight))
	}
	return strings.Join(names, " ")
}

const defaultFilters = "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures"
const defaultScores = "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1"

func TestConfig(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", defaultFilters + " | " + defaultScores},
		{"a score more, one less", `
profiles:
- plugins:
    score:
      enabled: [{name: ImageLocality, weight: 7}]
      disabled: [{name: TaintToleration}]`,
			defaultFilters + " | ImageLocality=7 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1"},
		{"only two", `
profiles:
- plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled: [{name: NodeResourcesFit}, {name: NodeName}, {name: PrioritySort}, {name: DefaultBinder}, {name: SchedulingGates}]`,
			"NodeResourcesFit NodeName | NodeResourcesFit=1"},
		{"a weight everywhere, no filter by preFilter", `
profiles:
- plugins:
    multiPoint:
      enabled: [{name: NodeAffinity, weight: 5}]
    preFilter:
      disabled: [{name: InterPodAffinity}]
    score:
      disabled: [{name: "*"}]
      enabled: [{name: NodeAffinity}]`,
			strings.Replace(defaultFilters, " InterPodAffinity", "", 1) + " | NodeAffinity=5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, err := Load([]byte(header+tc.text), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(o.Profiles[0]); got != tc.want {
				t.Errorf("plugins:\n got %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestConfigOfProfiles(t *testing.T) {
	o, err := Load([]byte(header+`
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 30
leaderElection: {leaderElect: true}
clientConnection: {kubeconfig: /etc/kubeconfig}
profiles:
- schedulerName: default-scheduler
- schedulerName: packer
  percentageOfNodesToScore: 100
  plugins:
    postFilter:
      disabled: [{name: DefaultPreemption}]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      ignoredResourceGroups: [example.com]
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 3}, {name: memory}]
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 7}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]
  - name: VolumeBinding
    args: {bindTimeoutSeconds: 60, shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}
  - name: DefaultPreemption
    args: {minCandidateNodesPercentage: 50}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [x]}]}]
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.InitialBackoff != 2*time.Second || o.MaxBackoff != 30*time.Second || len(o.Profiles) != 2 {
		t.Fatalf("options: %+v", o)
	}
	usual, packer := o.Profiles[0], o.Profiles[1]
	if usual.PercentageOfNodesToScore != 30 || packer.PercentageOfNodesToScore != 100 || usual.NoPreemption || !packer.NoPreemption || packer.MinCandidateNodesPercentage != 50 {
		t.Errorf("shares %d and %d, no preemption %v and %v", usual.PercentageOfNodesToScore, packer.PercentageOfNodesToScore, usual.NoPreemption, packer.NoPreemption)
	}
	// The pod goes where most is in use, in the pool, whether or not its device is there, and
	// evenly over the zones of the pool.
	pool := st.Labeled("pool", "x")
	web := st.WithLabels("app", "web")
	kin := &st.Objects{ServiceList: st.ServiceSelecting("app", "web")}
	c := st.NewCluster(kin, st.Nodes(1), st.Pod("big", st.On("n1"), st.Requesting("cpu", "3")))
	for _, n := range []string{"a1", "a2"} {
		c.SetNode(st.Node(n, st.InZone("a"), pool))
	}
	c.SetNode(st.Node("b1", st.InZone("b"), pool))
	c.AddPod(cache.NewPodInfo(st.Pod("q", st.On("a1"), st.Requesting("cpu", "2"))), "a1")
	place := func(p framework.Profile, name string) string {
		pl := placement.Placer{Profile: p}
		info := cache.NewPodInfo(st.Pod(name, web, st.Requesting("cpu", "1", "example.com/gpu", "1")))
		n, err := pl.Place(c, info)
		if err != nil {
			return err.Error()
		}
		c.AddPod(info, n.Name)
		return n.Name
	}
	for i, want := range []string{"a1", "b1", "a1"} {
		if got := place(packer, fmt.Sprint("p", i)); got != want {
			t.Errorf("pod %d goes to %s, want %s", i, got, want)
		}
	}
	if got, want := place(usual, "u"), "0/4 nodes are available: 1 Insufficient cpu, 4 Insufficient example.com/gpu."; got != want {
		t.Errorf("the other profile: %s", got)
	}
}

// TestOnlyScore leaves one score of a profile by the points of scores: ImageLocality has no preScore, so that it is not disabled there.
func TestOnlyScore(t *testing.T) {
	for name, want := range map[string]int{"ImageLocality": 1, "NodeAffinity": 0} {
		o, err := Load([]byte(header+`profiles: [{plugins: {preScore: {disabled: [{name: '*'}]}, score: {disabled: [{name: '*'}], enabled: [{name: `+name+`, weight: 1}]}}}]`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Profiles[0].Scores; len(got) != want {
			t.Errorf("%s: %d scores, want %d", name, len(got), want)
		}
	}
}

func TestBadConfig(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"another kind", "apiVersion: v1\nkind: Pod\n", `no kind "Pod" is registered for version "v1"`},
		{"a field that is none", header + "profile: []", `unknown field "profile"`},
		{"an unknown plugin", header + "profiles: [{plugins: {filter: {enabled: [{name: Foo}]}}}]", `profiles[0].plugins: filter plugin "Foo" does not exist`},
		{"no filter", header + "profiles: [{plugins: {filter: {enabled: [{name: ImageLocality}]}}}]", `plugin "ImageLocality" does not extend filter plugin`},
		{"twice", header + "profiles: [{plugins: {score: {enabled: [{name: NodeAffinity}, {name: NodeAffinity}]}}}]", `plugin "NodeAffinity" already registered`},
		{"no binder", header + "profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]", `at least one bind plugin is needed`},
		{"two without names", header + "profiles: [{}, {schedulerName: a}]", "profiles[0].schedulerName: Required value"},
		{"two of one name", header + "profiles: [{schedulerName: a}, {schedulerName: a}]", "profiles[1].schedulerName: Duplicate value"},
		{"share of nodes", header + "percentageOfNodesToScore: 101", "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
		{"backoff", header + "podInitialBackoffSeconds: 0", "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
		{"backoff that shrinks", header + "podMaxBackoffSeconds: 0", "must be greater than or equal to PodInitialBackoffSeconds"},
		{"an election's times", header + "leaderElection: {leaseDuration: 5s}", "leaderElection.leaseDuration: Invalid value"},
		{"an election's lock", header + "leaderElection: {resourceLock: endpoints}", `leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"`},
		{"a field of no election", header + "leaderElection: {lease: a}", `unknown field "lease"`},
		{"an extender's weight", header + "extenders: [{urlPrefix: http://x, prioritizeVerb: p}]", "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"},
		{"two binders", header + "extenders: [{bindVerb: b}, {bindVerb: b}]", "only one extender can implement bind"},
		{"an extender's resource", header + "extenders: [{managedResources: [{name: cpu}]}]", `extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name`},
		{"a resource of two extenders", header + "extenders: [{managedResources: [{name: a.b/c}]}, {managedResources: [{name: a.b/c}]}]", "duplicate extender managed resource name"},
		{"an extender's CA", header + "extenders: [{enableHTTPS: true, tlsConfig: {caFile: /nowhere}}]", "extenders[0].tlsConfig: Invalid value"},
		{"a field of no extender", header + "extenders: [{url: http://x}]", `unknown field "url"`},
		{"arguments of none", args("Foo", "{}"), `pluginConfig[0].name: Invalid value: "Foo"`},
		{"arguments of another", args("InterPodAffinity", "{kind: NodeAffinityArgs}"), "args were not of type InterPodAffinityArgs"},
		{"arguments that are none", args("InterPodAffinity", "{weight: 1}"), `unknown field "weight"`},
		{"weight of affinity", args("InterPodAffinity", "{hardPodAffinityWeight: 101}"), "hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"},
		{"strategy", args("NodeResourcesFit", "{scoringStrategy: {type: Fullest}}"), `scoringStrategy.type: Unsupported value: "Fullest"`},
		{"weight of a resource", args("NodeResourcesFit", "{scoringStrategy: {type: LeastAllocated, resources: [{name: cpu, weight: 101}]}}"), "resource weight of cpu not in valid range (0, 100]"},
		{"no shape", args("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}"), "must be specified when type is RequestedToCapacityRatio"},
		{"falling shape", args("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 50, score: 1}, {utilization: 0, score: 11}]}}}"), "values must be sorted in increasing order"},
		{"balance with weights", args("NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}]}"), "must be 1"},
		{"defaults that are the system's", args("PodTopologySpread", "{defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}"), "when .defaultConstraints are not empty"},
		{"default with a selector", args("PodTopologySpread", "{defaultingType: List, defaultConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: Never, labelSelector: {}}]}"), "constraint must not define a selector"},
		{"shape of storage", args("VolumeBinding", "{shape: [{utilization: 101, score: 1}]}"), "shape[0].utilization: Invalid value: 101: not in valid range [0, 100]"},
		{"time to search devices", args("DynamicResources", "{filterTimeout: -1s}"), "filterTimeout: Invalid value: \"-1s\": must be zero or positive"},
		{"time to bind devices", args("DynamicResources", "{bindingTimeout: 100ms}"), "must be at least 1 second"},
		{"time to bind", args("VolumeBinding", "{bindTimeoutSeconds: -1}"), "should not be a negative value"},
		{"no candidates", args("DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}"), "cannot be zero at the same time"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load([]byte(tc.text), nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error: %v\nwant %s", err, tc.want)
			}
		})
	}
}

func args(plugin, text string) string {
	return header + "profiles: [{pluginConfig: [{name: " + plugin + ", args: " + text + "}]}]"
}
