package controlplane

import "strings"

// upstreamNames are the names of kube-controller-manager's controllers that are others here. A name of a part stands for
// a controller that does the work of several there.
var upstreamNames = map[string]struct {
	here string
	part bool
}{
	"bootstrap-signer-controller":                                    {here: "bootstrapsigner"},
	"certificatesigningrequest-approving-controller":                 {"certificates", true},
	"certificatesigningrequest-cleaner-controller":                   {"certificates", true},
	"certificatesigningrequest-signing-controller":                   {"certificates", true},
	"clusterrole-aggregation-controller":                             {here: "clusterroleaggregation"},
	"cronjob-controller":                                             {here: "cronjob"},
	"daemonset-controller":                                           {here: "daemonset"},
	"deployment-controller":                                          {here: "deployment"},
	"device-taint-eviction-controller":                               {here: "devicetainteviction"},
	"disruption-controller":                                          {here: "disruption"},
	"endpoints-controller":                                           {here: "endpoints"},
	"endpointslice-controller":                                       {here: "endpointslice"},
	"endpointslice-mirroring-controller":                             {here: "endpointslicemirroring"},
	"ephemeral-volume-controller":                                    {here: "ephemeralvolume"},
	"garbage-collector-controller":                                   {here: "garbagecollector"},
	"horizontal-pod-autoscaler-controller":                           {here: "horizontalpodautoscaler"},
	"job-controller":                                                 {here: "job"},
	"kube-apiserver-serving-clustertrustbundle-publisher-controller": {here: "clustertrustbundlepublisher"},
	"legacy-serviceaccount-token-cleaner-controller":                 {here: "legacytokencleaner"},
	"namespace-controller":                                           {here: "namespace"},
	"node-ipam-controller":                                           {here: "nodeipam"},
	"node-lifecycle-controller":                                      {here: "nodelifecycle"},
	"persistentvolume-attach-detach-controller":                      {here: "attachdetach"},
	"persistentvolume-binder-controller":                             {here: "persistentvolume"},
	"persistentvolume-expander-controller":                           {here: "persistentvolumeexpander"},
	"persistentvolume-protection-controller":                         {here: "pvprotection"},
	"persistentvolumeclaim-protection-controller":                    {here: "pvcprotection"},
	"pod-garbage-collector-controller":                               {here: "podgc"},
	"podcertificaterequest-cleaner-controller":                       {here: "podcertificaterequestcleaner"},
	"podgroup-protection-controller":                                 {here: "podgroupprotection"},
	"replicaset-controller":                                          {here: "replicaset"},
	"replicationcontroller-controller":                               {here: "replicationcontroller"},
	"resourceclaim-controller":                                       {here: "resourceclaim"},
	"resourcepoolstatusrequest-controller":                           {here: "resourcepoolstatusrequest"},
	"resourcequota-controller":                                       {here: "resourcequota"},
	"root-ca-certificate-publisher-controller":                       {here: "rootca"},
	"selinux-warning-controller":                                     {here: "selinuxwarning"},
	"service-cidr-controller":                                        {here: "servicecidr"},
	"serviceaccount-controller":                                      {here: "serviceaccount"},
	"serviceaccount-token-controller":                                {here: "serviceaccounttoken"},
	"statefulset-controller":                                         {here: "statefulset"},
	"storage-version-migrator-controller":                            {here: "storageversionmigrator"},
	"storageversion-garbage-collector-controller":                    {here: "storageversiongarbagecollector"},
	"taint-eviction-controller":                                      {here: "tainteviction"},
	"token-cleaner-controller":                                       {here: "tokencleaner"},
	"ttl-after-finished-controller":                                  {here: "ttlafterfinished"},
	"ttl-controller":                                                 {here: "ttl"},
	"validatingadmissionpolicy-status-controller":                    {here: "validatingadmissionpolicystatus"},
	"volumeattributesclass-protection-controller":                    {here: "vacprotection"},
}

// here returns an item of a list of controllers by the controller's name here.
func here(item string) string {
	name, but := strings.CutPrefix(item, "-")
	if u, ok := upstreamNames[name]; ok {
		name = u.here
	}
	if but {
		return "-" + name
	}
	return name
}
