package quoted

import (
	"reflect"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// orders lists the types whose fields are quoted in another order, with the first fields up to where the order is
// the same again.
var orders = map[reflect.Type][]string{
	reflect.TypeFor[autoscalingv2.ContainerResourceMetricSource](): words(`Name Container`),
}

// elsewhere lists fields that the internal types lack.
var elsewhere = map[reflect.Type][]string{
	reflect.TypeFor[corev1.NodeSpec](): words("PodCIDR"),
	reflect.TypeFor[corev1.Secret]():   words("StringData"),
}

// plain lists pointer fields that are values in the internal types: unset ones are quoted as zero.
var plain = map[reflect.Type][]string{
	reflect.TypeFor[appsv1.DeploymentSpec]():                           words("Replicas"),
	reflect.TypeFor[appsv1.ReplicaSetSpec]():                           words("Replicas"),
	reflect.TypeFor[appsv1.StatefulSetSpec]():                          words("Replicas"),
	reflect.TypeFor[appsv1.RollingUpdateDaemonSet]():                   words("MaxUnavailable MaxSurge"),
	reflect.TypeFor[appsv1.RollingUpdateDeployment]():                  words("MaxUnavailable MaxSurge"),
	reflect.TypeFor[appsv1.RollingUpdateStatefulSetStrategy]():         words("Partition"),
	reflect.TypeFor[flowcontrolv1.LimitedPriorityLevelConfiguration](): words("NominalConcurrencyShares"),
	reflect.TypeFor[admissionregistrationv1.ServiceReference]():        words("Port"),
}

func words(s string) []string { return strings.Fields(s) }
