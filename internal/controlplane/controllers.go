package controlplane

import (
	"fairlead.dev/controller"
	"fairlead.dev/internal/controllers/attachdetach"
	"fairlead.dev/internal/controllers/bootstrapsigner"
	"fairlead.dev/internal/controllers/cabundle"
	"fairlead.dev/internal/controllers/certificates"
	"fairlead.dev/internal/controllers/clusterroleaggregation"
	"fairlead.dev/internal/controllers/clustertrustbundlepublisher"
	"fairlead.dev/internal/controllers/cronjob"
	"fairlead.dev/internal/controllers/daemonset"
	"fairlead.dev/internal/controllers/deployment"
	"fairlead.dev/internal/controllers/devicetainteviction"
	"fairlead.dev/internal/controllers/disruption"
	"fairlead.dev/internal/controllers/endpoints"
	"fairlead.dev/internal/controllers/endpointslice"
	"fairlead.dev/internal/controllers/endpointslicemirroring"
	"fairlead.dev/internal/controllers/ephemeralvolume"
	"fairlead.dev/internal/controllers/garbagecollector"
	"fairlead.dev/internal/controllers/horizontalpodautoscaler"
	"fairlead.dev/internal/controllers/job"
	"fairlead.dev/internal/controllers/legacytokencleaner"
	"fairlead.dev/internal/controllers/namespace"
	"fairlead.dev/internal/controllers/nodeipam"
	"fairlead.dev/internal/controllers/nodelifecycle"
	"fairlead.dev/internal/controllers/persistentvolume"
	"fairlead.dev/internal/controllers/persistentvolumeexpander"
	"fairlead.dev/internal/controllers/podcertificaterequestcleaner"
	"fairlead.dev/internal/controllers/podgc"
	"fairlead.dev/internal/controllers/podgroupprotection"
	"fairlead.dev/internal/controllers/pvcprotection"
	"fairlead.dev/internal/controllers/pvprotection"
	"fairlead.dev/internal/controllers/replicaset"
	"fairlead.dev/internal/controllers/replicationcontroller"
	"fairlead.dev/internal/controllers/resourceclaim"
	"fairlead.dev/internal/controllers/resourcepoolstatusrequest"
	"fairlead.dev/internal/controllers/resourcequota"
	"fairlead.dev/internal/controllers/rootca"
	"fairlead.dev/internal/controllers/selinuxwarning"
	"fairlead.dev/internal/controllers/serviceaccount"
	"fairlead.dev/internal/controllers/serviceaccounttoken"
	"fairlead.dev/internal/controllers/servicecidr"
	"fairlead.dev/internal/controllers/serviceloadbalancer"
	"fairlead.dev/internal/controllers/statefulset"
	"fairlead.dev/internal/controllers/storageversiongarbagecollector"
	"fairlead.dev/internal/controllers/storageversionmigrator"
	"fairlead.dev/internal/controllers/tainteviction"
	"fairlead.dev/internal/controllers/tokencleaner"
	"fairlead.dev/internal/controllers/ttl"
	"fairlead.dev/internal/controllers/ttlafterfinished"
	"fairlead.dev/internal/controllers/vacprotection"
	"fairlead.dev/internal/controllers/validatingadmissionpolicystatus"
	"fairlead.dev/internal/resource/gates"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// entry is a controller of the table, which is sorted: its name for --controllers, which is that of its
// folder, and its service account in kube-system, by kube-controller-manager's name, whose
// role it has; "" if it works as kube-controller-manager itself.
type entry struct {
	name, account string
	new           func(env controller.Env, s settings) controller.Runner
}

// settings are the certificates, keys and options of single controllers, and the feature gates of all.
type settings struct {
	caBundle cabundle.Bundle
	signing  certificates.Options
	// signToken signs the token of a Secret; nil: no tokens are made.
	signToken func(account *corev1.ServiceAccount, secret string) (string, error)
	pace      pace
	api       gates.API
	ranges    Ranges
	// evictions outlives the controllers.
	evictions *devicetainteviction.Memory
	pools     *resourcepoolstatusrequest.Metrics
	labels    *selinuxwarning.Conflicts
}

// hasTaintRules reports whether there are DeviceTaintRules.
func (s settings) hasTaintRules() bool {
	return s.api.Enabled("DRADeviceTaintRules") && s.api.Has(resourcev1.SchemeGroupVersion, new(resourcev1.DeviceTaintRule))
}

// Ranges are the ranges from which controllers give addresses. A controller without a range does not run.
type Ranges struct {
	Nodes         nodeipam.Options
	LoadBalancers serviceloadbalancer.Options
}

// configured reports whether a controller has the configuration that it needs.
func (r Ranges) configured(controller string) bool {
	switch controller {
	case "nodeipam":
		return len(r.Nodes.Ranges) > 0
	case "serviceloadbalancer":
		return len(r.LoadBalancers.Pool) > 0
	}
	return true
}

// plain adapts a controller that needs only its Env.
func plain(n func(controller.Env) controller.Runner) func(controller.Env, settings) controller.Runner {
	return func(env controller.Env, _ settings) controller.Runner { return n(env) }
}

var builtins = []entry{
	{"attachdetach", "attachdetach-controller", plain(attachdetach.New)},
	{"bootstrapsigner", "bootstrap-signer", plain(bootstrapsigner.New)},
	{"certificates", "certificate-controller", func(env controller.Env, s settings) controller.Runner {
		return certificates.New(env, s.signing)
	}},
	{"clusterroleaggregation", "clusterrole-aggregation-controller", plain(clusterroleaggregation.New)},
	{"clustertrustbundlepublisher", "kube-apiserver-serving-clustertrustbundle-publisher", func(env controller.Env, s settings) controller.Runner {
		return clustertrustbundlepublisher.New(env, clustertrustbundlepublisher.Options{CA: s.caBundle})
	}},
	{"cronjob", "cronjob-controller", plain(cronjob.New)},
	{"daemonset", "daemon-set-controller", plain(daemonset.New)},
	{"deployment", "deployment-controller", plain(deployment.New)},
	{"devicetainteviction", "device-taint-eviction-controller", func(env controller.Env, s settings) controller.Runner {
		return devicetainteviction.New(env, devicetainteviction.Options{NoRules: !s.hasTaintRules(), GroupClaims: hasGroupClaims(s.api), Memory: s.evictions})
	}},
	{"disruption", "disruption-controller", plain(disruption.New)},
	{"endpoints", "endpoint-controller", plain(endpoints.New)},
	{"endpointslice", "endpointslice-controller", plain(endpointslice.New)},
	{"endpointslicemirroring", "endpointslicemirroring-controller", plain(endpointslicemirroring.New)},
	{"ephemeralvolume", "ephemeral-volume-controller", plain(ephemeralvolume.New)},
	{"garbagecollector", "generic-garbage-collector", func(env controller.Env, s settings) controller.Runner {
		return garbagecollector.New(env, garbagecollector.Options{Rediscover: s.pace.rediscovery})
	}},
	{"horizontalpodautoscaler", "horizontal-pod-autoscaler", func(env controller.Env, s settings) controller.Runner {
		return horizontalpodautoscaler.New(env, horizontalpodautoscaler.Options{
			NoScaleToZero: !s.api.Enabled("HPAScaleToZero"), NoGeneration: !s.api.Enabled("HPAGeneration"),
		})
	}},
	{"job", "job-controller", func(env controller.Env, s settings) controller.Runner {
		return job.New(env, job.Options{Workloads: hasJobWorkloads(s.api)})
	}},
	{"legacytokencleaner", "legacy-service-account-token-cleaner", func(env controller.Env, _ settings) controller.Runner {
		return legacytokencleaner.New(env, legacytokencleaner.Options{})
	}},
	{"namespace", "namespace-controller", plain(namespace.New)},
	{"nodeipam", "node-controller", func(env controller.Env, s settings) controller.Runner {
		return nodeipam.New(env, s.ranges.Nodes)
	}},
	{"nodelifecycle", "node-controller", func(env controller.Env, s settings) controller.Runner {
		return nodelifecycle.New(env, nodelifecycle.Options{HonorLeases: s.pace.rareHeartbeats, Version: KubernetesVersion})
	}},
	{"persistentvolume", "persistent-volume-binder", plain(persistentvolume.New)},
	{"persistentvolumeexpander", "expand-controller", plain(persistentvolumeexpander.New)},
	{"podcertificaterequestcleaner", "podcertificaterequestcleaner", plain(podcertificaterequestcleaner.New)},
	{"podgc", "pod-garbage-collector", plain(podgc.New)},
	{"podgroupprotection", "podgroup-protection-controller", plain(podgroupprotection.New)},
	{"pvcprotection", "pvc-protection-controller", func(env controller.Env, s settings) controller.Runner {
		return pvcprotection.New(env, pvcprotection.Options{NoUnused: !s.api.Enabled("PersistentVolumeClaimUnusedSinceTime")})
	}},
	{"pvprotection", "pv-protection-controller", plain(pvprotection.New)},
	{"replicaset", "replicaset-controller", plain(replicaset.New)},
	{"replicationcontroller", "replication-controller", plain(replicationcontroller.New)},
	{"resourceclaim", "resource-claim-controller", func(env controller.Env, s settings) controller.Runner {
		return resourceclaim.New(env, resourceclaim.Options{Groups: hasGroups(s.api), GroupClaims: hasGroupClaims(s.api)})
	}},
	{"resourcepoolstatusrequest", "resourcepoolstatusrequest-controller", func(env controller.Env, s settings) controller.Runner {
		return resourcepoolstatusrequest.New(env, resourcepoolstatusrequest.Options{NoRules: !s.hasTaintRules(), Metrics: s.pools})
	}},
	{"resourcequota", "resourcequota-controller", plain(resourcequota.New)},
	{"rootca", "root-ca-cert-publisher", func(env controller.Env, s settings) controller.Runner {
		return rootca.New(env, rootca.Options{CA: s.caBundle})
	}},
	{"selinuxwarning", "selinux-warning-controller", func(env controller.Env, s settings) controller.Runner {
		return selinuxwarning.New(env, selinuxwarning.Options{Conflicts: s.labels})
	}},
	{"serviceaccount", "service-account-controller", plain(serviceaccount.New)},
	{"serviceaccounttoken", "", func(env controller.Env, s settings) controller.Runner {
		return serviceaccounttoken.New(env, serviceaccounttoken.Options{CA: s.caBundle, Sign: s.signToken})
	}},
	{"servicecidr", "service-cidrs-controller", plain(servicecidr.New)},
	{"serviceloadbalancer", "service-controller", func(env controller.Env, s settings) controller.Runner {
		return serviceloadbalancer.New(env, s.ranges.LoadBalancers)
	}},
	{"statefulset", "statefulset-controller", func(env controller.Env, s settings) controller.Runner {
		return statefulset.New(env, statefulset.Options{NoMaxUnavailable: !s.api.Enabled("MaxUnavailableStatefulSet")})
	}},
	{"storageversiongarbagecollector", "storage-version-garbage-collector", plain(storageversiongarbagecollector.New)},
	{"storageversionmigrator", "storage-version-migrator-controller", plain(storageversionmigrator.New)},
	{"tainteviction", "node-controller", plain(tainteviction.New)},
	{"tokencleaner", "token-cleaner", plain(tokencleaner.New)},
	{"ttl", "ttl-controller", plain(ttl.New)},
	{"ttlafterfinished", "ttl-after-finished-controller", plain(ttlafterfinished.New)},
	{"vacprotection", "volumeattributesclass-protection-controller", plain(vacprotection.New)},
	{"validatingadmissionpolicystatus", "validatingadmissionpolicy-status-controller", plain(validatingadmissionpolicystatus.New)},
}
