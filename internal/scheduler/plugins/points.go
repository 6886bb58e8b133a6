package plugins

// Points are the extension points of each plugin of kube-scheduler 1.37, by their names in a configuration.
var Points = map[string][]string{
	"SchedulingGates":                 {"preEnqueue"},
	"PrioritySort":                    {"queueSort"},
	"NodeUnschedulable":               {"preFilter", "filter"},
	"NodeName":                        {"preFilter", "filter"},
	"TaintToleration":                 {"preFilter", "filter", "preScore", "score"},
	"NodeAffinity":                    {"preFilter", "filter", "preScore", "score"},
	"NodePorts":                       {"preFilter", "filter"},
	"NodeResourcesFit":                {"preFilter", "filter", "preScore", "score", "placementScore"},
	"VolumeRestrictions":              {"preFilter", "filter"},
	"NodeVolumeLimits":                {"preFilter", "filter"},
	"VolumeBinding":                   {"preFilter", "filter", "reserve", "preBind", "preScore", "score"},
	"VolumeZone":                      {"preFilter", "filter"},
	"PodTopologySpread":               {"preFilter", "filter", "preScore", "score"},
	"InterPodAffinity":                {"preFilter", "filter", "preScore", "score"},
	"DynamicResources":                {"preEnqueue", "preFilter", "filter", "postFilter", "podGroupPostFilter", "score", "reserve", "preBind"},
	"DefaultPreemption":               {"preEnqueue", "postFilter", "podGroupPostFilter"},
	"NodeResourcesBalancedAllocation": {"preScore", "score"},
	"ImageLocality":                   {"score"},
	"DefaultBinder":                   {"bind"},
	"NodeDeclaredFeatures":            {"preFilter", "filter"},
	"DeferredPodScheduling":           {"preFilter", "filter", "permit"},
	"GangScheduling":                  {"preEnqueue", "permit"},
	"TopologyPlacementGenerator":      {"placementGenerate"},
	"PodGroupPodsCount":               {"placementScore"},
}

// Idle are the plugins of kube-scheduler that a configuration may name but that have no effect here.
var Idle = []string{"DeferredPodScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"}

// Removed are plugins that kube-scheduler once had; a configuration must not enable them.
var Removed = []string{"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"}
